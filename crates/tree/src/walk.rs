//! Walks over a tree, without recursion.

use crate::class::{Class, Region};
use crate::list::{ChildIter, Children};
use crate::node::NodeRef;
use crate::row::{NO_ROW, Row};
use crate::view::TreeRef;

/// Depth first, parents before children, siblings in canonical order.
#[derive(Clone, Debug)]
pub struct Preorder<'a> {
    start: Option<NodeRef<'a>>,
    tree: TreeRef<'a>,
    stack: Vec<Siblings<'a>>,
}

/// Children still to be visited.
#[derive(Clone, Debug)]
pub(crate) enum Siblings<'a> {
    /// The regions from this one on.
    Regions(usize),
    /// Rows.
    Rows(ChildIter<'a>),
}

impl<'a> Siblings<'a> {
    pub(crate) fn of(tree: TreeRef<'a>, number: u32, row: &'a Row) -> Self {
        match row.class() {
            Class::Root => Siblings::Regions(0),
            _ => Siblings::Rows(tree.children_of(number, row).iter()),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self, tree: TreeRef<'a>) -> Option<u32> {
        match self {
            Siblings::Rows(rows) => rows.next(),
            Siblings::Regions(next) => {
                let region = Region::ALL.get(*next)?;
                *next += 1;
                Some(tree.fixed.regions[region.index()])
            }
        }
    }
}

impl<'a> Preorder<'a> {
    pub(crate) fn new(start: NodeRef<'a>) -> Self {
        Preorder { start: Some(start), tree: start.tree, stack: Vec::new() }
    }
}

impl<'a> Iterator for Preorder<'a> {
    /// The node, and how deep it stands below the start.
    type Item = (usize, NodeRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(start) = self.start.take() {
            self.stack.push(Siblings::of(self.tree, start.number, start.row));
            return Some((0, start));
        }
        loop {
            let siblings = self.stack.last_mut()?;
            let Some(number) = siblings.next(self.tree) else {
                self.stack.pop();
                continue;
            };
            let depth = self.stack.len();
            let row = self.tree.row(number);
            // Blocks rarely have children, and an empty level costs more than this look.
            let has_children = match &row.children {
                Children::Few { len: 0, .. } => row.class() == Class::Region,
                _ => true,
            };
            if has_children {
                self.stack.push(Siblings::of(self.tree, number, row));
            }
            return Some((depth, NodeRef { tree: self.tree, number, row }));
        }
    }
}

/// The ancestors of a node, nearest first.
#[derive(Clone, Debug)]
pub struct Ancestors<'a> {
    tree: TreeRef<'a>,
    parent: u32,
}

impl<'a> Ancestors<'a> {
    pub(crate) fn new(tree: TreeRef<'a>, row: &Row) -> Self {
        Ancestors { tree, parent: row.parent }
    }
}

impl<'a> Iterator for Ancestors<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<NodeRef<'a>> {
        if self.parent == NO_ROW {
            return None;
        }
        let number = self.tree.find_row(self.parent).expect("a parent is in the tree of its child");
        let node = self.tree.node_at(number);
        self.parent = node.row.parent;
        Some(node)
    }
}
