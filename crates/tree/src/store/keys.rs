//! An index of all nodes that ever had a key.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Paged;
use crate::row::NodeKey;

/// For each key, the nodes that got it in one segment of the log, newest first.
///
/// Append-only like the log: the reader must check whether a node still has the key in its tree.
#[derive(Debug, Default)]
pub(super) struct Keys {
    postings: Paged<OnceLock<Posting>>,
    /// By symbol of the key: the newest node, and in the low half the index of the previous posting
    /// plus one. Most keys have a single node, which is found here directly.
    newest: Paged<AtomicU64>,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    node: NodeKey,
    /// The index of the previous posting of the same key, plus one.
    before: u32,
}

/// The value of an unwritten slot.
const NONE: u64 = 0;

impl Keys {
    /// Records that a node has a key. `number` counts the postings of this segment; only its owner
    /// calls this.
    pub(super) fn add(&self, number: u32, key: u32, node: NodeKey) {
        let newest = self.newest.slot(key);
        let before = match newest.load(Ordering::Relaxed) {
            NONE => 0,
            known => {
                let stored = self.postings.slot(number).set(Posting::unpack(known));
                assert!(stored.is_ok(), "posting {number} was written twice");
                number + 1
            }
        };
        newest.store(Posting { node, before }.pack(), Ordering::Release);
    }

    /// Visits every node that ever had a key, newest first; possibly more than once.
    pub(super) fn each(&self, key: u32, visit: &mut impl FnMut(NodeKey)) {
        let newest = self.newest.get(key).map_or(NONE, |newest| newest.load(Ordering::Acquire));
        let mut next = (newest != NONE).then(|| Posting::unpack(newest));
        while let Some(posting) = next {
            visit(posting.node);
            let before = posting.before.checked_sub(1);
            next = before.and_then(|number| self.postings.get(number)?.get()).copied();
        }
    }
}

impl Posting {
    /// Never [`NONE`]: the node is stored plus one.
    fn pack(self) -> u64 {
        (u64::from(self.node.0) + 1) << 32 | u64::from(self.before)
    }

    fn unpack(packed: u64) -> Self {
        Posting { node: NodeKey((packed >> 32) as u32 - 1), before: packed as u32 }
    }
}
