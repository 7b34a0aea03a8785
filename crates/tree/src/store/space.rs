//! The row log of a branch: segments of its ancestors, then its own.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::brief::{Brief, Slot};
use super::{Names, Segment};
use crate::row::{NodeKey, Row, RowNumber, flag};

/// All rows and names visible to a branch of a context.
///
/// A fork shares the segments of its parent and appends to a new one; the parent continues to
/// append to its own. Only the number decides which rows of a shared segment belong to a branch:
/// those below the start of the branch's next segment.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Ids of nodes.
    pub(crate) ids: Arc<Names>,
    /// Node types, roles, kinds.
    pub(crate) symbols: Arc<Names>,
    segments: Vec<Arc<Segment>>,
}

/// A section of the log, cached during a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    start: RowNumber,
    end: RowNumber,
    slots: &'a [OnceLock<Row>],
    briefs: &'a [Slot],
}

impl<'a> Page<'a> {
    pub(crate) const EMPTY: Page<'static> =
        Page { start: RowNumber::ROOT, end: RowNumber::ROOT, slots: &[], briefs: &[] };

    /// Returns a row, or `None` if it is not in this page.
    #[inline]
    pub(crate) fn row(&self, number: RowNumber) -> Option<&'a Row> {
        if number >= self.end {
            return None;
        }
        self.slots.get(number.checked_since(self.start)? as usize)?.get()
    }

    /// Returns whether a row is in this page.
    #[inline]
    pub(crate) fn has(&self, number: RowNumber) -> bool {
        number < self.end && (number.0.wrapping_sub(self.start.0) as usize) < self.slots.len()
    }

    /// Returns the brief of a row, or `None` if it is not in this page.
    #[inline]
    pub(crate) fn brief(&self, number: RowNumber) -> Option<Brief> {
        self.briefs.get(number.checked_since(self.start)? as usize).map(Slot::get)
    }

    /// Returns the briefs of the rows that are in this page; `None` if the first is not.
    pub(crate) fn briefs(&self, rows: Range<RowNumber>) -> Option<&'a [Slot]> {
        let first = rows.start.checked_since(self.start)? as usize;
        let last = rows.end.min(self.end).since(self.start) as usize;
        self.briefs.get(first..last.min(self.briefs.len())).filter(|slots| !slots.is_empty())
    }
}

impl Space {
    /// Returns a space with capacity for `ids` ids.
    pub(crate) fn with_capacity(ids: usize) -> Self {
        Space {
            ids: Arc::new(Names::with_capacity(ids)),
            symbols: Arc::default(),
            segments: vec![Arc::new(Segment::new(RowNumber::ROOT))],
        }
    }

    /// Allocates the first rows as one section. Nothing may have been appended yet.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.segments = vec![Arc::new(Segment::with_capacity(RowNumber::ROOT, rows))];
    }

    /// Returns a space that sees this one's rows below `rows` and appends to its own segment.
    pub(crate) fn fork(&self, rows: RowNumber) -> Self {
        let mut fork = self.clone();
        fork.segments.retain(|segment| segment.start < rows || segment.start == RowNumber::ROOT);
        fork.segments.push(Arc::new(Segment::new(rows)));
        fork
    }

    /// Returns the segment that this branch appends to.
    pub(crate) fn own(&self) -> &Segment {
        self.segments.last().expect("a space has at least one segment")
    }

    /// Returns the row with this number.
    #[inline]
    pub(crate) fn row(&self, number: RowNumber) -> &Row {
        let own = self.own();
        if number >= own.start {
            return own.row(number);
        }
        let after = self.segments.partition_point(|segment| segment.start <= number);
        self.segments[after - 1].row(number)
    }

    /// Returns the page that contains a row. Only numbers below the start of the next segment
    /// belong to this space.
    pub(crate) fn page(&self, number: RowNumber) -> Option<Page<'_>> {
        let after = self.segments.partition_point(|segment| segment.start <= number);
        let (start, slots, briefs) = self.segments[after - 1].page(number)?;
        let end = self.segments.get(after).map_or(RowNumber::NONE, |next| next.start);
        Some(Page { start, end, slots, briefs })
    }

    /// Returns the row of a node in the state that has `rows` rows, with its number; `None` if the
    /// node is not in that state.
    pub(crate) fn find(&self, node: NodeKey, rows: RowNumber) -> Option<(RowNumber, &Row)> {
        let number = self.find_version(node, rows)?;
        let row = self.row(number);
        (!row.is_dead()).then_some((number, row))
    }

    /// Like [`Space::find`], but returns tombstones too.
    ///
    /// Starts at the newest version in each segment and follows skip pointers back to the first row
    /// below the bound; see `Draft::follow` for their shape.
    pub(crate) fn find_version(&self, node: NodeKey, rows: RowNumber) -> Option<RowNumber> {
        let mut bound = rows;
        for segment in self.segments.iter().rev() {
            if let Some(newest) = segment.newest(node) {
                // Rows at or above the bound were appended later, or by another branch: they are
                // read from the segment itself, not through this space's numbering.
                let row = |number: RowNumber| {
                    if number >= segment.start { segment.row(number) } else { self.row(number) }
                };
                let mut number = newest;
                while number != RowNumber::NONE && number >= bound {
                    let &Row { previous, jump, .. } = row(number);
                    // A jump skips versions. If it would land below the bound it may skip the
                    // version sought, so take a single step instead.
                    number = if jump != RowNumber::NONE && jump >= bound { jump } else { previous };
                }
                if number != RowNumber::NONE {
                    return Some(number);
                }
            }
            bound = bound.min(segment.start);
        }
        None
    }

    /// Records the key of a row that this branch is about to append under a number.
    pub(crate) fn note_key(&self, row: &mut Row, number: RowNumber) {
        if row.has(flag::KEYED)
            && let Some(key) =
                row.body.as_ref().and_then(|body| body.attributes.get("key")?.as_str())
        {
            row.key = self.symbols.intern(key);
            self.own().add_key(row.key, row.node, number);
        }
    }

    /// Returns the version of the only node with a key in the state that has `rows` rows, if the
    /// indexes alone show that there is one.
    ///
    /// Rows are spread over much more memory than indexes, so reading one takes longer than all of
    /// this. If the newest version of the node is the one that got the key, then it still has it.
    #[inline]
    pub(crate) fn sole_keyed(&self, key: u32, rows: RowNumber) -> Option<RowNumber> {
        let [segment] = self.segments.as_slice() else { return None };
        let (node, row) = segment.sole_keyed(key).ok()??;
        (row < rows && segment.newest(node) == Some(row)).then_some(row)
    }

    /// Visits every node that ever had a key, in any segment; possibly more than once.
    pub(crate) fn each_keyed(&self, key: u32, visit: &mut impl FnMut(NodeKey)) {
        self.segments.iter().rev().for_each(|segment| segment.each_keyed(key, visit));
    }

    /// Returns the number of rows that two branches have in common, given the number of rows of a
    /// state of each.
    pub(crate) fn common_rows(
        &self,
        rows: RowNumber,
        other: &Space,
        other_rows: RowNumber,
    ) -> RowNumber {
        let mut common = RowNumber::ROOT;
        for index in 0..self.segments.len().min(other.segments.len()) {
            if !Arc::ptr_eq(&self.segments[index], &other.segments[index]) {
                break;
            }
            let end = |space: &Space, rows: RowNumber| {
                space.segments.get(index + 1).map_or(rows, |next| next.start.min(rows))
            };
            let (here, there) = (end(self, rows), end(other, other_rows));
            common = here.min(there);
            if here != there {
                break;
            }
        }
        common
    }

    /// Returns whether the two spaces share their names, so that numbers can be compared.
    pub(crate) fn same_names(&self, other: &Space) -> bool {
        Arc::ptr_eq(&self.ids, &other.ids)
    }
}
