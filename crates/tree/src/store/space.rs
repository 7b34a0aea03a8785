//! The row log of a branch: segments of its ancestors, then its own.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::brief::{Brief, Slot};
use super::{Names, Segment};
use crate::row::{NO_ROW, NodeKey, Row, flag};

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
    start: u32,
    end: u32,
    slots: &'a [OnceLock<Row>],
    briefs: &'a [Slot],
}

impl<'a> Page<'a> {
    pub(crate) const EMPTY: Page<'static> = Page { start: 0, end: 0, slots: &[], briefs: &[] };

    /// Returns a row, or `None` if it is not in this page.
    #[inline]
    pub(crate) fn row(&self, number: u32) -> Option<&'a Row> {
        if number >= self.end {
            return None;
        }
        self.slots.get(number.checked_sub(self.start)? as usize)?.get()
    }

    /// Returns whether a row is in this page.
    #[inline]
    pub(crate) fn has(&self, number: u32) -> bool {
        number < self.end && (number.wrapping_sub(self.start) as usize) < self.slots.len()
    }

    /// Returns the brief of a row, or `None` if it is not in this page.
    #[inline]
    pub(crate) fn brief(&self, number: u32) -> Option<Brief> {
        self.briefs.get(number.checked_sub(self.start)? as usize).map(Slot::get)
    }

    /// Returns the briefs of the rows that are in this page; `None` if the first is not.
    pub(crate) fn briefs(&self, rows: Range<u32>) -> Option<&'a [Slot]> {
        let first = rows.start.checked_sub(self.start)? as usize;
        let last = (rows.end.min(self.end) - self.start) as usize;
        self.briefs.get(first..last.min(self.briefs.len())).filter(|slots| !slots.is_empty())
    }
}

impl Space {
    /// Returns a space with capacity for `ids` ids.
    pub(crate) fn with_capacity(ids: usize) -> Self {
        Space {
            ids: Arc::new(Names::with_capacity(ids)),
            symbols: Arc::default(),
            segments: vec![Arc::new(Segment::new(0))],
        }
    }

    /// Allocates the first rows as one section. Nothing may have been appended yet.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.segments = vec![Arc::new(Segment::with_capacity(0, rows))];
    }

    /// Returns a space that sees this one's rows below `rows` and appends to its own segment.
    pub(crate) fn fork(&self, rows: u32) -> Self {
        let mut fork = self.clone();
        fork.segments.retain(|segment| segment.start < rows || segment.start == 0);
        fork.segments.push(Arc::new(Segment::new(rows)));
        fork
    }

    /// Returns the segment that this branch appends to.
    pub(crate) fn own(&self) -> &Segment {
        self.segments.last().expect("a space has at least one segment")
    }

    /// Returns the row with this number.
    #[inline]
    pub(crate) fn row(&self, number: u32) -> &Row {
        let own = self.own();
        if number >= own.start {
            return own.row(number);
        }
        let after = self.segments.partition_point(|segment| segment.start <= number);
        self.segments[after - 1].row(number)
    }

    /// Returns the page that contains a row. Only numbers below the start of the next segment
    /// belong to this space.
    pub(crate) fn page(&self, number: u32) -> Option<Page<'_>> {
        let after = self.segments.partition_point(|segment| segment.start <= number);
        let (start, slots, briefs) = self.segments[after - 1].page(number)?;
        let end = self.segments.get(after).map_or(u32::MAX, |next| next.start);
        Some(Page { start, end, slots, briefs })
    }

    /// Returns the row of a node in the state that has `rows` rows, with its number; `None` if the
    /// node is not in that state.
    pub(crate) fn find(&self, node: NodeKey, rows: u32) -> Option<(u32, &Row)> {
        let number = self.find_version(node, rows)?;
        let row = self.row(number);
        (!row.is_dead()).then_some((number, row))
    }

    /// Like [`Space::find`], but returns tombstones too.
    ///
    /// Starts at the newest version in each segment and follows skip pointers back to the first row
    /// below the bound; see `Draft::follow` for their shape.
    pub(crate) fn find_version(&self, node: NodeKey, rows: u32) -> Option<u32> {
        let mut bound = rows;
        for segment in self.segments.iter().rev() {
            if let Some(newest) = segment.newest(node) {
                // Rows at or above the bound were appended later, or by another branch: they are
                // read from the segment itself, not through this space's numbering.
                let row = |number| {
                    if number >= segment.start { segment.row(number) } else { self.row(number) }
                };
                let mut number = newest;
                while number != NO_ROW && number >= bound {
                    let &Row { previous, jump, .. } = row(number);
                    // A jump skips versions. If it would land below the bound it may skip the
                    // version sought, so take a single step instead.
                    number = if jump != NO_ROW && jump >= bound { jump } else { previous };
                }
                if number != NO_ROW {
                    return Some(number);
                }
            }
            bound = bound.min(segment.start);
        }
        None
    }

    /// Records the key of a row that this branch is about to append.
    pub(crate) fn note_key(&self, row: &mut Row) {
        if row.has(flag::KEYED)
            && let Some(key) =
                row.body.as_ref().and_then(|body| body.attributes.get("key")?.as_str())
        {
            row.key = self.symbols.intern(key);
            self.own().add_key(row.key, row.node);
        }
    }

    /// Visits every node that ever had a key, in any segment; possibly more than once.
    pub(crate) fn each_keyed(&self, key: u32, visit: &mut impl FnMut(NodeKey)) {
        self.segments.iter().rev().for_each(|segment| segment.each_keyed(key, visit));
    }

    /// Returns the number of rows that two branches have in common, given the number of rows of a
    /// state of each.
    pub(crate) fn common_rows(&self, rows: u32, other: &Space, other_rows: u32) -> u32 {
        let mut common = 0;
        for index in 0..self.segments.len().min(other.segments.len()) {
            if !Arc::ptr_eq(&self.segments[index], &other.segments[index]) {
                break;
            }
            let end = |space: &Space, rows: u32| {
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
