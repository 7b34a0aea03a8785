//! An index of all nodes that ever had a key.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Paged;
use crate::row::{NodeKey, RowNumber};

/// For each key, the nodes that got it in one segment of the log, newest first.
///
/// Append-only like the log: the reader must check whether a node still has the key in its tree.
#[derive(Debug, Default)]
pub(super) struct Keys {
    postings: Paged<OnceLock<Posting>>,
    /// By symbol of the key: an [`Entry`]. Most keys have a single posting, which is found here
    /// directly, with its row.
    newest: Paged<AtomicU64>,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    node: NodeKey,
    /// The index of the previous posting of the same key, plus one.
    before: u32,
}

/// What is known about a key: its newest node, and either the row that has the key or the postings
/// before it.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// The key has one posting.
    Sole { node: NodeKey, row: RowNumber },
    /// The key has several, or a row whose number is too large for an entry.
    Several(Posting),
}

/// The value of an unwritten slot.
const NONE: u64 = 0;

/// Set in the low half of an entry with several postings.
const SEVERAL: u32 = 1 << 31;

impl Keys {
    /// Records that a row of a node has a key. `number` counts the postings of this segment; only
    /// its owner calls this.
    pub(super) fn add(&self, number: u32, key: u32, node: NodeKey, row: RowNumber) {
        let newest = self.newest.slot(key);
        let entry = match Entry::unpack(newest.load(Ordering::Relaxed)) {
            None if row.0 < SEVERAL => Entry::Sole { node, row },
            None => Entry::Several(Posting { node, before: 0 }),
            Some(known) => {
                let stored = self.postings.slot(number).set(known.posting());
                assert!(stored.is_ok(), "posting {number} was written twice");
                Entry::Several(Posting { node, before: number + 1 })
            }
        };
        newest.store(entry.pack(), Ordering::Release);
    }

    fn newest(&self, key: u32) -> Option<Entry> {
        self.newest.get(key).and_then(|newest| Entry::unpack(newest.load(Ordering::Acquire)))
    }

    /// Returns the posting of a key with its row, if it has one only; `Err` if there may be others.
    #[inline]
    pub(super) fn sole(&self, key: u32) -> Result<Option<(NodeKey, RowNumber)>, ManyPostings> {
        match self.newest(key) {
            None => Ok(None),
            Some(Entry::Sole { node, row }) => Ok(Some((node, row))),
            Some(Entry::Several(_)) => Err(ManyPostings),
        }
    }

    /// Visits every node that ever had a key, newest first; possibly more than once.
    pub(super) fn each(&self, key: u32, visit: &mut impl FnMut(NodeKey)) {
        let mut next = self.newest(key).map(Entry::posting);
        while let Some(posting) = next {
            visit(posting.node);
            let before = posting.before.checked_sub(1);
            next = before.and_then(|number| self.postings.get(number)?.get()).copied();
        }
    }
}

/// A key has more than one posting.
#[derive(Clone, Copy, Debug)]
pub(super) struct ManyPostings;

impl Entry {
    fn posting(self) -> Posting {
        match self {
            Entry::Sole { node, .. } => Posting { node, before: 0 },
            Entry::Several(posting) => posting,
        }
    }

    /// Never [`NONE`]: the node is stored plus one.
    fn pack(self) -> u64 {
        let (node, low) = match self {
            Entry::Sole { node, row } => (node, row.0),
            Entry::Several(Posting { node, before }) => {
                assert!(before < SEVERAL, "a segment has too many postings of keys");
                (node, SEVERAL | before)
            }
        };
        (u64::from(node.0) + 1) << 32 | u64::from(low)
    }

    fn unpack(packed: u64) -> Option<Self> {
        if packed == NONE {
            return None;
        }
        let (node, low) = (NodeKey((packed >> 32) as u32 - 1), packed as u32);
        Some(match low & SEVERAL {
            0 => Entry::Sole { node, row: RowNumber(low) },
            _ => Entry::Several(Posting { node, before: low & !SEVERAL }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_one_posting_has_its_row() {
        let keys = Keys::default();
        keys.add(0, 7, NodeKey(3), RowNumber(11));
        assert_eq!(keys.sole(7).unwrap(), Some((NodeKey(3), RowNumber(11))));
        assert_eq!(keys.sole(6).unwrap(), None);
        keys.add(1, 7, NodeKey(4), RowNumber(12));
        assert!(keys.sole(7).is_err());
        // A row that does not fit.
        keys.add(2, 8, NodeKey(5), RowNumber(SEVERAL));
        assert!(keys.sole(8).is_err());
        let visited = |key| {
            let mut nodes = Vec::new();
            keys.each(key, &mut |node| nodes.push(node.0));
            nodes
        };
        assert_eq!(visited(7), [4, 3]);
        assert_eq!(visited(8), [5]);
        assert_eq!(visited(9), [] as [u32; 0]);
    }
}
