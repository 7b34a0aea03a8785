//! The working state as a value.

use contextree_canon::thread::thread;
use contextree_canon::{export, reference_bytes};
use contextree_tree::{Cycle, TreeRef, WorkingTree};

use crate::context::Context;

/// The working state of a context at one moment, uncommitted changes included. Immutable; cloning it clones a pointer.
///
/// The counterpart of [`Snapshot`](crate::Snapshot) for what is not committed yet: it can be sent to other threads and
/// read while the context changes.
#[derive(Clone, Debug)]
pub struct Working {
    tree: WorkingTree,
}

impl Working {
    pub(crate) fn new(tree: WorkingTree) -> Self {
        Working { tree }
    }

    /// Returns the tree, to be read.
    #[must_use]
    pub fn view(&self) -> TreeRef<'_> {
        self.tree.view()
    }

    /// Returns the number of the coming commit.
    #[must_use]
    pub fn next_cycle(&self) -> Cycle {
        self.view().next_cycle()
    }

    /// Returns the state as a document, with the number of the coming commit as its cycle.
    #[must_use]
    pub fn export(&self) -> Vec<u8> {
        export(self.view(), self.next_cycle())
    }

    /// Returns the provider-neutral thread.
    #[must_use]
    pub fn thread(&self) -> Vec<u8> {
        thread(self.view())
    }

    /// Returns the bytes of the specification's reference serializer.
    #[must_use]
    pub fn reference_bytes(&self) -> Vec<u8> {
        reference_bytes(self.view().root())
    }
}

impl Context {
    /// Returns the working state as a value that outlives further changes. Costs what was changed since the last commit.
    #[must_use]
    pub fn share_working(&self) -> Working {
        Working::new(self.draft.share())
    }
}
