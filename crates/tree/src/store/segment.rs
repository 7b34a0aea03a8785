//! One branch's part of the row log.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Paged;
use super::brief::{Brief, Slot};
use super::keys::{Keys, ManyPostings};
use crate::class::Class;
use crate::row::{NodeKey, Row, RowNumber};

/// The rows that one branch appended, numbered from `start`, and the newest row of each of its
/// nodes.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The number of the first row of this segment.
    pub(crate) start: RowNumber,
    rows: Paged<OnceLock<Row>>,
    /// By row: the fields that scans compare.
    briefs: Paged<Slot>,
    /// By node number: the newest row of this segment plus one; zero if there is none.
    newest: Paged<AtomicU32>,
    keys: Keys,
    /// Number of entries in `keys`; changed only by the owner.
    key_count: AtomicU32,
}

/// The number of a page's first row, its rows, and the dense column beside them.
type Page<'a> = (RowNumber, &'a [OnceLock<Row>], &'a [Slot]);

impl Segment {
    pub(crate) fn new(start: RowNumber) -> Self {
        Segment::with_capacity(start, 0)
    }

    /// Returns a segment with capacity for `rows` rows, each of a different node.
    pub(crate) fn with_capacity(start: RowNumber, rows: usize) -> Self {
        Segment {
            start,
            rows: Paged::with_capacity(rows),
            briefs: Paged::with_capacity(rows),
            newest: Paged::with_capacity(rows),
            keys: Keys::default(),
            key_count: AtomicU32::new(0),
        }
    }

    /// Returns the row with this number, which must be in this segment and already appended.
    #[inline]
    pub(crate) fn row(&self, number: RowNumber) -> &Row {
        self.rows
            .get(number.since(self.start))
            .and_then(OnceLock::get)
            .expect("row numbers are only handed out after the row was appended")
    }

    /// Returns the page that contains a row: the number of its first row, its rows and their
    /// briefs.
    pub(crate) fn page(&self, number: RowNumber) -> Option<Page<'_>> {
        let (start, slots) = self.rows.page(number.since(self.start))?;
        let (_, briefs) = self.briefs.page(number.since(self.start))?;
        Some((self.start.plus(start), slots, briefs))
    }

    /// Appends a row under its number. Only the branch that owns the segment calls this.
    pub(crate) fn append(&self, number: RowNumber, row: Row) {
        self.briefs.slot(number.since(self.start)).set(Brief::of(&row));
        let stored = self.rows.slot(number.since(self.start)).set(row);
        assert!(stored.is_ok(), "row {} was appended twice", number.0);
    }

    /// Records the span of each row from `first` to `last` that is followed by its whole subtree in
    /// document order. Called once by the branch that appended the rows, before any reader can see
    /// them.
    pub(crate) fn note_spans(&self, first: RowNumber, last: RowNumber) {
        // Rows of the subtree have higher numbers, so their spans are already known.
        for number in first.up_to(last).rev() {
            let row = self.row(number);
            let mut end = number.plus(1);
            let follows = !row.is_dead()
                && !matches!(row.class(), Class::Root | Class::Region)
                && row.children.iter().all(|child| {
                    let is_next = child == end && child < last;
                    let span = if is_next { self.brief(child).span() } else { 0 };
                    end = end.plus(span);
                    span > 0
                });
            if follows {
                self.briefs.slot(number.since(self.start)).set_span(end.since(number));
            }
        }
    }

    fn brief(&self, number: RowNumber) -> Brief {
        self.briefs.slot(number.since(self.start)).get()
    }

    /// Records that a row of a node has a key.
    pub(crate) fn add_key(&self, key: u32, node: NodeKey, row: RowNumber) {
        let number = self.key_count.fetch_add(1, Ordering::Relaxed);
        self.keys.add(number, key, node, row);
    }

    /// Returns the only node that ever had a key in this segment, with the row that has it; `None`
    /// if the key has several postings.
    #[inline]
    pub(super) fn sole_keyed(
        &self,
        key: u32,
    ) -> Result<Option<(NodeKey, RowNumber)>, ManyPostings> {
        self.keys.sole(key)
    }

    /// Visits every node that ever had a key in this segment, newest first; possibly more than
    /// once.
    pub(crate) fn each_keyed(&self, key: u32, visit: &mut impl FnMut(NodeKey)) {
        self.keys.each(key, visit);
    }

    /// Makes a row the newest of its node. The row must already be appended.
    pub(crate) fn publish(&self, node: NodeKey, number: RowNumber) {
        self.newest.slot(node.0).store(number.0 + 1, Ordering::Release);
    }

    /// Returns the newest row of a node in this segment.
    #[inline]
    pub(crate) fn newest(&self, node: NodeKey) -> Option<RowNumber> {
        self.newest.get(node.0)?.load(Ordering::Acquire).checked_sub(1).map(RowNumber)
    }
}
