//! Ids in the order of their first use, so that the newest can be released again.

use std::collections::HashSet;

/// A set of ids that can be cut back to an earlier length.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    order: Vec<Box<str>>,
    /// Never iterated, so its order cannot affect output.
    ids: HashSet<Box<str>>,
}

impl IdSet {
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Adds an id. Returns false if it is there already.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        let is_new = !self.ids.contains(id);
        if is_new {
            self.ids.insert(id.into());
            self.order.push(id.into());
        }
        is_new
    }

    /// Releases all but the first `length` ids.
    pub(crate) fn truncate(&mut self, length: usize) {
        for id in self.order.drain(length.min(self.order.len())..) {
            self.ids.remove(&id);
        }
    }
}
