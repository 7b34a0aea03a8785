//! Pins and priorities of sealed nodes: kept beside the headers, which never change.

use crate::scalar::Scalar;

/// A pin or a priority that was given to a node after it was sealed. Pruning follows it; exports,
/// digests, diffs and selectors show the node's own headers (ER-181).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PolicyEntry {
    /// Replaces `pinned`, if given.
    pub pinned: Option<bool>,
    /// Replaces `priority`, if given.
    pub priority: Option<Scalar>,
}

impl PolicyEntry {
    /// Returns whether the entry replaces nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pinned.is_none() && self.priority.is_none()
    }
}
