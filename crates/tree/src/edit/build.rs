//! Builds a whole tree at once: a new context, or an import.

use std::sync::{Arc, OnceLock};

use super::{Draft, NodeData};
use crate::class::Region;
use crate::list::{Children, Entries, Summary};
use crate::row::{NO_ROW, NodeKey, Row};
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
    parents: Vec<u32>,
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
        let root = builder.push(NO_ROW, root)?;
        for region in regions {
            builder.push(root, region)?;
        }
        Ok(builder)
    }

    /// Returns the handle of a region, for pushing nodes under it.
    #[must_use]
    pub fn region(&self, region: Region) -> u32 {
        1 + region as u32
    }

    /// Adds a node under one that was added before; returns its handle.
    ///
    /// # Errors
    ///
    /// If the id is already used.
    pub fn push<T: AsRef<str>>(
        &mut self,
        parent: u32,
        data: NodeData<T>,
    ) -> Result<u32, DuplicateId> {
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

    pub(super) fn push_row(&mut self, parent: u32, mut row: Row) -> Result<u32, DuplicateId> {
        let number = u32::try_from(self.rows.len()).expect("row numbers are 32 bits");
        // Ids are numbered in order of arrival, so a number that is already known means a duplicate
        // id.
        if row.node != NodeKey(number) {
            return Err(DuplicateId(self.space.ids.name(row.node.0).into()));
        }
        row.parent = self.rows.get(parent as usize).map_or(NodeKey::NONE, |row| row.node);
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
    pub fn finish(mut self, next_cycle: u32) -> Tree {
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
        let mut count = 0;
        for mut row in self.rows {
            let node = row.node;
            self.space.note_key(&mut row);
            own.append(count, row);
            own.publish(node, count);
            count += 1;
        }
        own.note_spans(0, count);
        Tree::new(Base {
            space: self.space,
            regions,
            rows: count,
            next_cycle,
            count,
            digest: OnceLock::new(),
        })
    }

    /// Like [`Builder::finish`], but returns an uncommitted tree whose next commit is `next_cycle`.
    #[must_use]
    pub fn finish_draft(self, next_cycle: u32) -> Draft {
        self.finish(next_cycle).continue_branch()
    }

    /// Returns the children of every row, in canonical order.
    fn sorted_children(&self) -> Siblings {
        // Count first, so that all children fit into one list.
        let mut starts = vec![0_u32; self.rows.len() + 1];
        let below = || self.parents.iter().enumerate().skip(4);
        for (_, parent) in below() {
            starts[*parent as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut rows = vec![0_u32; self.rows.len()];
        let mut next = starts.clone();
        for (number, parent) in below() {
            let place = &mut next[*parent as usize];
            rows[*place as usize] = number as u32;
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
    rows: Vec<u32>,
}

impl Siblings {
    fn of(&self, number: usize) -> &[u32] {
        &self.rows[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// The rows of a tree under construction.
struct Rows<'a> {
    rows: &'a [Row],
    space: &'a Space,
}

impl Rows<'_> {
    fn order(&self, left: u32, right: u32) -> std::cmp::Ordering {
        crate::view::order(self.space, &self.rows[left as usize], &self.rows[right as usize])
    }
}

impl Entries for Rows<'_> {
    fn summary(&self, row: u32) -> Summary {
        self.rows[row as usize].summary
    }

    fn boundary(&self, row: u32) -> u32 {
        crate::view::boundary_of(self.space, &self.rows[row as usize])
    }
}
