//! Builds a whole tree at once: a new context, or an import.

use std::sync::{Arc, OnceLock};

use super::{Draft, NodeData};
use crate::class::Region;
use crate::cycle::Cycle;
use crate::list::{Children, Entries, Summary};
use crate::row::{NodeKey, Row, RowNumber};
use crate::store::Space;
use crate::tree::Tree;
use crate::view::Base;

/// The error for two nodes with the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateId(pub Box<str>);

/// Collects nodes, parents before children, and sorts them at the end.
///
/// Inserting nodes one by one would search a position and update all ancestors for each; a builder
/// sorts them once.
#[derive(Debug)]
pub struct Builder {
    space: Arc<Space>,
    rows: Vec<Row>,
    /// By row: the row of its parent.
    parents: Vec<RowNumber>,
}

impl Builder {
    /// Creates a builder with the root and the three regions.
    ///
    /// # Errors
    ///
    /// If two of them have the same id.
    pub fn new(root: NodeData, regions: [NodeData; 3]) -> Result<Builder, DuplicateId> {
        Builder::with_capacity(root, regions, 4)
    }

    /// Like [`Builder::new`], but with capacity for `nodes` nodes, including root and regions, so
    /// that the tree allocates no more than it needs.
    ///
    /// # Errors
    ///
    /// If two of them have the same id.
    pub fn with_capacity<T: AsRef<str>>(
        root: NodeData<T>,
        regions: [NodeData<T>; 3],
        nodes: usize,
    ) -> Result<Builder, DuplicateId> {
        let mut builder = Builder::empty(nodes);
        let root = builder.push(RowNumber::NONE, root)?;
        for region in regions {
            builder.push(root, region)?;
        }
        Ok(builder)
    }

    /// Returns the handle of a region, for pushing nodes under it.
    #[must_use]
    pub fn region(&self, region: Region) -> RowNumber {
        RowNumber::of_region(region)
    }

    /// Adds a node under one that was added before; returns its handle.
    ///
    /// # Errors
    ///
    /// If the id is already used.
    pub fn push<T: AsRef<str>>(
        &mut self,
        parent: RowNumber,
        data: NodeData<T>,
    ) -> Result<RowNumber, DuplicateId> {
        let row = data.into_row(&self.space);
        self.push_row(parent, row)
    }

    /// Returns an empty builder; root and regions must be pushed first.
    pub(super) fn empty(nodes: usize) -> Builder {
        Builder {
            space: Arc::new(Space::with_capacity(nodes)),
            rows: Vec::with_capacity(nodes),
            parents: Vec::with_capacity(nodes),
        }
    }

    pub(super) fn space(&self) -> &Space {
        &self.space
    }

    pub(super) fn push_row(
        &mut self,
        parent: RowNumber,
        mut row: Row,
    ) -> Result<RowNumber, DuplicateId> {
        let number = RowNumber::from_index(self.rows.len());
        // Ids are numbered in order of arrival, so a number that is already known means a duplicate
        // id.
        if row.node != NodeKey(number.0) {
            return Err(DuplicateId(self.space.ids.name(row.node.0).into()));
        }
        row.parent = self.rows.get(parent.index()).map_or(NodeKey::NONE, |row| row.node);
        self.rows.push(row);
        self.parents.push(parent);
        Ok(number)
    }

    /// Returns the number of nodes, including root and regions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no nodes besides the root and the regions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 4
    }

    /// Sorts all nodes and returns the tree as of commit `next_cycle − 1`.
    #[must_use]
    pub fn finish(mut self, next_cycle: Cycle) -> Tree {
        let mut regions = [Children::EMPTY, Children::EMPTY, Children::EMPTY];
        let children = self.sorted_children();
        for number in (0..self.rows.len()).rev() {
            let entries = Rows { rows: &self.rows, space: &self.space };
            let list = Children::from_rows(children.of(number), &entries);
            let below = list.summary(&entries);
            // Children have higher numbers than their parents, so their summaries are complete
            // here.
            match number {
                0 => {}
                1..=3 => regions[number - 1] = list,
                _ => {
                    self.rows[number].children = list;
                    self.rows[number].summarize(below);
                }
            }
        }
        drop(children);
        if let Some(space) = Arc::get_mut(&mut self.space) {
            space.reserve(self.rows.len());
        }
        let own = self.space.own();
        let mut end = RowNumber::ROOT;
        for mut row in self.rows {
            let node = row.node;
            self.space.note_key(&mut row, end);
            own.append(end, row);
            own.publish(node, end);
            end = end.plus(1);
        }
        own.note_spans(RowNumber::ROOT, end);
        Tree::new(Base {
            space: self.space,
            regions,
            rows: end,
            next_cycle,
            count: end.0,
            digest: OnceLock::new(),
        })
    }

    /// Like [`Builder::finish`], but returns an uncommitted tree whose next commit is `next_cycle`.
    #[must_use]
    pub fn finish_draft(self, next_cycle: Cycle) -> Draft {
        self.finish(next_cycle).continue_branch()
    }

    /// Returns the children of every row, in canonical order.
    fn sorted_children(&self) -> Siblings {
        // Count first, so that all children fit into one list.
        let mut starts = vec![0_u32; self.rows.len() + 1];
        let below = || self.parents.iter().enumerate().skip(4);
        for (_, parent) in below() {
            starts[parent.index() + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut rows = vec![RowNumber::ROOT; self.rows.len()];
        let mut next = starts.clone();
        for (number, parent) in below() {
            let place = &mut next[parent.index()];
            rows[*place as usize] = RowNumber(number as u32);
            *place += 1;
        }
        let tree = Rows { rows: &self.rows, space: &self.space };
        for bounds in starts.windows(2) {
            let siblings = &mut rows[bounds[0] as usize..bounds[1] as usize];
            if !siblings.is_sorted_by(|left, right| tree.order(*left, *right).is_lt()) {
                siblings.sort_by(|left, right| tree.order(*left, *right));
            }
        }
        Siblings { starts, rows }
    }
}

/// The children of all rows, concatenated.
struct Siblings {
    /// By row: the start of its children, which end at the start of the next row's.
    starts: Vec<u32>,
    rows: Vec<RowNumber>,
}

impl Siblings {
    fn of(&self, number: usize) -> &[RowNumber] {
        &self.rows[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// The rows of a tree under construction.
struct Rows<'a> {
    rows: &'a [Row],
    space: &'a Space,
}

impl Rows<'_> {
    fn order(&self, left: RowNumber, right: RowNumber) -> std::cmp::Ordering {
        crate::view::order(self.space, &self.rows[left.index()], &self.rows[right.index()])
    }
}

impl Entries for Rows<'_> {
    fn summary(&self, row: RowNumber) -> Summary {
        self.rows[row.index()].summary
    }

    fn boundary(&self, row: RowNumber) -> u32 {
        crate::view::boundary_of(self.space, &self.rows[row.index()])
    }
}
