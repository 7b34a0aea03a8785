//! Ordered, persistent child lists whose shape depends only on their entries.
//!
//! A list of more than 32 rows is divided into runs, and runs into runs of runs. The entries
//! themselves decide where a run ends: an entry whose id hash ends in two zero bits (one in 4) ends
//! a run, five zero bits (one in 8 of those) also end a run of runs, and so on. The same entries
//! therefore always give the same shape, whatever the order of edits; an edit changes only the runs
//! around it and shares the rest; and each run can cache its digest. (A balanced tree would do the
//! latter two, but its shape, and with it the digest, would depend on the order of edits.)

mod beside;
mod common;
mod edit;
mod iter;
mod node;
mod runs;
mod search;

pub(crate) use beside::Beside;
pub(crate) use edit::Edit;
pub(crate) use iter::{ChildIter, ReverseIter};
pub(crate) use node::{Child, Entry, Items, Run};
pub(crate) use runs::{Runs, RunsIter};

use std::sync::Arc;

use crate::row::RowNumber;

/// What a list needs to know about its entries.
pub(crate) trait Entries {
    /// Returns the summary of the row and everything below it.
    fn summary(&self, row: RowNumber) -> Summary;
    /// Returns how many levels of runs the row ends.
    fn boundary(&self, row: RowNumber) -> u32;
}

/// Returns how many levels of runs an entry ends, given the hash of its id: two trailing zero bits
/// end one level, and three more bits each further level.
pub(crate) fn boundary(hash: u64) -> u32 {
    (hash.trailing_zeros() + 1) / 3
}

/// What is known about a subtree without visiting it.
///
/// Summaries are kept for rows, runs and lists, so that a search for nodes that expire, refer to
/// others or have some type skips every subtree that cannot contain one. They must never miss a
/// node that is there: such a node would not expire or not be found. Marking too much only costs
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The earliest commit at which a node in it expires.
    pub(crate) expires: u32,
    /// What occurs in it, as bits.
    pub(crate) marks: u32,
}

impl Summary {
    pub(crate) const EMPTY: Summary = Summary { expires: u32::MAX, marks: 0 };
    /// A node with `data_refs`.
    pub(crate) const REFERS: u32 = 1;
    /// A removable container without children.
    pub(crate) const EMPTY_REMOVABLE: u32 = 1 << 1;
    /// A node with a key.
    pub(crate) const KEY: u32 = 1 << 2;
    /// A turn.
    pub(crate) const TURN: u32 = 1 << 3;
    /// A node with a turn somewhere below it.
    pub(crate) const ABOVE_TURN: u32 = 1 << 4;
    /// Marks that are exact: they are cleared when the last such node is removed. All others may
    /// remain, because they only tell where a search is worthwhile; keeping them exact would mean
    /// to fetch every row of a run at each removal.
    pub(crate) const EXACT: u32 = Self::REFERS | Self::EMPTY_REMOVABLE;

    /// Returns the mark of a role, a kind or a type. Several symbols may share one.
    pub(crate) fn of_symbol(symbol: u32) -> u32 {
        1 << (5 + symbol % 27)
    }

    /// Returns whether the subtree may contain a node with all of these marks that expires by this
    /// commit.
    #[inline]
    pub(crate) fn may_have(self, marks: u32, expires_by: u32) -> bool {
        self.marks & marks == marks && self.expires <= expires_by
    }

    pub(crate) fn and(self, other: Summary) -> Summary {
        Summary { expires: self.expires.min(other.expires), marks: self.marks | other.marks }
    }
}

/// Number of rows stored without an allocation.
const FEW: usize = 3;

/// Maximum number of rows in a list without runs. The children of a typical turn: they are read and
/// changed together, so they are kept in one allocation.
const UNCUT: usize = 32;

/// The children of one node, as rows in canonical order.
#[derive(Clone, Debug)]
pub(crate) enum Children {
    /// Up to three.
    Few {
        /// The number of valid entries in `rows`.
        len: u8,
        rows: [RowNumber; FEW],
    },
    /// Up to 32.
    Some(Arc<Run>),
    /// More.
    Many(Arc<List>),
}

/// More than 32 rows, divided into runs.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// The unfinished run of each level. Level 0 holds rows, level `n` finished runs of level `n −
    /// 1`; all entries of a higher level precede those of a lower one.
    pub(crate) levels: Vec<Arc<Run>>,
}

impl Children {
    pub(crate) const EMPTY: Children = Children::Few { len: 0, rows: [RowNumber::ROOT; FEW] };

    pub(crate) fn len(&self) -> usize {
        match self {
            Children::Few { len, .. } => usize::from(*len),
            Children::Some(run) => run.count as usize,
            Children::Many(list) => list.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the summary of the list.
    pub(crate) fn summary(&self, entries: &impl Entries) -> Summary {
        match self {
            Children::Few { len, rows } => rows[..usize::from(*len)]
                .iter()
                .fold(Summary::EMPTY, |all, row| all.and(entries.summary(*row))),
            Children::Some(run) => run.summary,
            Children::Many(list) => {
                list.levels.iter().fold(Summary::EMPTY, |all, run| all.and(run.summary))
            }
        }
    }

    /// Returns the row at a position.
    pub(crate) fn get(&self, index: usize) -> Option<RowNumber> {
        match self {
            Children::Few { len, rows } => rows[..usize::from(*len)].get(index).copied(),
            Children::Some(run) => run.get(index),
            Children::Many(list) => list.get(index),
        }
    }

    pub(crate) fn last(&self) -> Option<RowNumber> {
        match self {
            Children::Few { len, rows } => rows[..usize::from(*len)].last().copied(),
            Children::Some(run) => run.last(),
            Children::Many(list) => list.levels.iter().find_map(|run| run.last()),
        }
    }

    pub(crate) fn iter(&self) -> ChildIter<'_> {
        ChildIter::new(self)
    }

    pub(crate) fn rev(&self) -> ReverseIter<'_> {
        ReverseIter::new(self)
    }
}

#[cfg(test)]
mod tests;
