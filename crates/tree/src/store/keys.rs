//! Which nodes ever had a key.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Paged;

/// For each key, the nodes that got it in one segment of the log, newest first.
///
/// Like the log it only grows: whether a node still has the key in some tree is for the reader to check.
#[derive(Debug, Default)]
pub(super) struct Keys {
    postings: Paged<OnceLock<Posting>>,
    /// By the symbol of the key: its newest posting, plus one.
    newest: Paged<AtomicU32>,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    node: u32,
    /// The posting before it of the same key, plus one.
    before: u32,
}

impl Keys {
    /// Notes that a node has a key. `number` counts the postings of this segment; only its owner calls this.
    pub(super) fn add(&self, number: u32, key: u32, node: u32) {
        let newest = self.newest.slot(key);
        let before = newest.load(Ordering::Relaxed);
        let stored = self.postings.slot(number).set(Posting { node, before });
        assert!(stored.is_ok(), "posting {number} was made twice");
        newest.store(number + 1, Ordering::Release);
    }

    /// Calls for every node that ever got a key, newest first; possibly more than once.
    pub(super) fn each(&self, key: u32, visit: &mut impl FnMut(u32)) {
        let mut next = self.newest.get(key).map_or(0, |newest| newest.load(Ordering::Acquire));
        while let Some(posting) =
            next.checked_sub(1).and_then(|number| self.postings.get(number)).and_then(OnceLock::get)
        {
            visit(posting.node);
            next = posting.before;
        }
    }
}
