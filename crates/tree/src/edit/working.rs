//! A working state that outlives the draft it was taken from.

use std::sync::Arc;

use super::{Draft, Overlay};
use crate::view::{Base, TreeRef};

/// The working tree as it was at one moment. Immutable; cloning it clones a pointer.
///
/// It can be sent to other threads and is read without a lock, also while the draft changes or is committed.
#[derive(Clone, Debug)]
pub struct WorkingTree(Arc<(Base, Overlay)>);

impl WorkingTree {
    /// Returns the tree, to be read.
    #[must_use]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef { base: &self.0.0, overlay: Some(&self.0.1) }
    }
}

impl Draft {
    /// Returns the working tree as it is now. Costs what was changed since the last snapshot.
    ///
    /// It shares the log with the draft and appends nothing. Rows that the draft appends later have numbers at or above
    /// those of this tree's own changes, where it looks into its own copy, so that it never sees them.
    #[must_use]
    pub fn share(&self) -> WorkingTree {
        WorkingTree(Arc::new((self.base.clone(), self.overlay.clone())))
    }
}
