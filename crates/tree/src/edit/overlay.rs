//! Rows that are not in the log yet.

use std::collections::BTreeMap;

use crate::row::{NodeKey, Row, RowNumber, flag};

/// The index of a row in the overlay. Its row number, by which lists refer to it, is
/// `base.rows + index`; see `Draft::number_of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct OverlayIndex(pub(crate) u32);

/// The changes since the last snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    /// New versions of rows.
    pub(super) rows: Vec<Row>,
    /// By node: the number of its new row, or `None` if it was removed.
    pub(super) index: BTreeMap<NodeKey, Option<RowNumber>>,
    /// Rows of nodes that were created and removed again; reused.
    pub(super) free: Vec<OverlayIndex>,
    /// The first row, reserved for the turn that the commit will create: the turn is created last
    /// and read first.
    pub(super) turn: Option<OverlayIndex>,
}

impl Overlay {
    pub(crate) fn row(&self, index: OverlayIndex) -> &Row {
        &self.rows[index.0 as usize]
    }

    /// Returns `None` if the overlay does not know the node, `Some(None)` if it was removed.
    pub(crate) fn find(&self, node: NodeKey) -> Option<Option<RowNumber>> {
        self.index.get(&node).copied()
    }

    /// Returns the number of rows, including free ones.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.rows.len()).expect("row numbers are 32 bits")
    }

    /// Returns the nodes whose new rows have a key.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = NodeKey> + '_ {
        self.rows.iter().filter(|row| row.has(flag::KEYED) && !row.is_dead()).map(|row| row.node)
    }

    /// Returns the nodes that were removed.
    pub(crate) fn removed(&self) -> impl Iterator<Item = NodeKey> + '_ {
        self.index.iter().filter(|(_, entry)| entry.is_none()).map(|(node, _)| *node)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}
