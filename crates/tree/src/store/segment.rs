//! One branch's part of the row log.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Paged;
use crate::row::Row;

/// The rows that one branch appended, numbered from `start`, and the newest row of each of its nodes.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The number of the first row of this segment.
    pub(crate) start: u32,
    rows: Paged<OnceLock<Row>>,
    /// By node number: the newest row of this segment, plus one; zero if there is none.
    newest: Paged<AtomicU32>,
}

impl Segment {
    pub(crate) fn new(start: u32) -> Self {
        Segment { start, rows: Paged::default(), newest: Paged::default() }
    }

    /// Returns the row with this number, which must be of this segment and already appended.
    #[inline]
    pub(crate) fn row(&self, number: u32) -> &Row {
        self.rows
            .get(number - self.start)
            .and_then(OnceLock::get)
            .expect("row numbers are only handed out after the row was appended")
    }

    /// Returns the page that holds a row, and the number of its first row.
    pub(crate) fn page(&self, number: u32) -> Option<(u32, &[OnceLock<Row>])> {
        let (start, slots) = self.rows.page(number - self.start)?;
        Some((self.start + start, slots))
    }

    /// Appends a row under its number. Only the branch that owns the segment calls this.
    pub(crate) fn append(&self, number: u32, row: Row) {
        let stored = self.rows.slot(number - self.start).set(row);
        assert!(stored.is_ok(), "row {number} was appended twice");
    }

    /// Makes a row the newest of its node. The row must be appended already.
    pub(crate) fn publish(&self, node: u32, number: u32) {
        self.newest.slot(node).store(number + 1, Ordering::Release);
    }

    /// Returns the newest row of a node in this segment.
    #[inline]
    pub(crate) fn newest(&self, node: u32) -> Option<u32> {
        self.newest.get(node)?.load(Ordering::Acquire).checked_sub(1)
    }
}
