//! Walks over a tree, without recursion.

use std::sync::Arc;
use std::{iter, slice};

use crate::class::Class;
use crate::list::{ChildIter, Children, Entry, Items, Run, RunsIter, Summary};
use crate::node::NodeRef;
use crate::row::{NodeKey, Row, RowNumber};
use crate::rows::Rows;
use crate::symbol::Hint;
use crate::view::{REGIONS, TreeRef};

/// Depth first, parents before children, siblings in canonical order.
#[derive(Clone, Debug)]
pub struct Preorder<'a> {
    start: Option<NodeRef<'a>>,
    tree: TreeRef<'a>,
    /// What is still to be visited: siblings, and runs of siblings, of all open levels.
    stack: Vec<Frame<'a>>,
    rows: Rows<'a>,
    hint: Hint,
}

/// The rest of a child list, and the depth of its nodes.
#[derive(Clone, Debug)]
struct Frame<'a> {
    depth: u32,
    rest: Rest<'a>,
}

#[derive(Clone, Debug)]
enum Rest<'a> {
    Regions(slice::Iter<'a, RowNumber>),
    Rows(slice::Iter<'a, RowNumber>),
    Entries(slice::Iter<'a, Entry>),
    /// Finished runs, and how many of them were fetched ahead.
    Runs(RunsIter<'a>, usize),
    Levels(iter::Rev<slice::Iter<'a, Arc<Run>>>),
}

impl<'a> Rest<'a> {
    fn of_list(children: &'a Children) -> Self {
        match children {
            Children::Few { len, rows } => Rest::Rows(rows[..usize::from(*len)].iter()),
            Children::Some(run) => Rest::of_run(run),
            Children::Many(list) => Rest::Levels(list.levels.iter().rev()),
        }
    }

    fn of_run(run: &'a Run) -> Self {
        match &run.items {
            Items::Rows(rows) => Rest::Entries(rows.iter()),
            Items::Runs(runs) => Rest::Runs(runs.iter(), 0),
        }
    }
}

impl<'a> Preorder<'a> {
    pub(crate) fn new(start: NodeRef<'a>) -> Self {
        Preorder::with_hint(start, Hint::default())
    }

    pub(crate) fn with_hint(start: NodeRef<'a>, hint: Hint) -> Self {
        let tree = start.tree;
        Preorder { start: Some(start), tree, stack: Vec::new(), rows: Rows::of(tree), hint }
    }

    fn wants(&self, summary: Summary) -> bool {
        summary.may_have(self.hint.marks, self.hint.expires_by)
    }

    /// Pushes the children of a node at a depth.
    fn open(&mut self, number: RowNumber, row: &'a Row, depth: u32) {
        let rest = match row.class() {
            Class::Root => Rest::Regions(REGIONS.iter()),
            // Blocks rarely have children, and an empty level costs more than this check.
            Class::Region => Rest::of_list(self.tree.children_of(number, row)),
            _ if row.children.is_empty() => return,
            _ => Rest::of_list(&row.children),
        };
        self.stack.push(Frame { depth: depth + 1, rest });
    }
}

impl<'a> Iterator for Preorder<'a> {
    /// The node and its depth below the start.
    type Item = (usize, NodeRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(start) = self.start.take() {
            self.open(start.number, start.row, 0);
            return Some((0, start));
        }
        loop {
            let frame = self.stack.last_mut()?;
            let depth = frame.depth;
            let number = match &mut frame.rest {
                Rest::Rows(rows) | Rest::Regions(rows) => rows.next().copied(),
                Rest::Entries(entries) => entries.next().map(|entry| entry.row),
                Rest::Runs(runs, fetched) => {
                    if *fetched == 0 {
                        runs.fetch(self.hint);
                        *fetched = RunsIter::AHEAD;
                    }
                    *fetched -= 1;
                    match runs.next() {
                        Some(child) => {
                            if child.summary.may_have(self.hint.marks, self.hint.expires_by) {
                                let rest = Rest::of_run(&child.run);
                                self.stack.push(Frame { depth, rest });
                            }
                            continue;
                        }
                        None => None,
                    }
                }
                Rest::Levels(levels) => match levels.next() {
                    Some(run) => {
                        if !run.summary.may_have(self.hint.marks, self.hint.expires_by) {
                            continue;
                        }
                        let rest = Rest::of_run(run);
                        self.stack.push(Frame { depth, rest });
                        continue;
                    }
                    None => None,
                },
            };
            let Some(number) = number else {
                self.stack.pop();
                continue;
            };
            let row = self.rows.row(number);
            if !self.wants(row.summary) && row.class() != Class::Region {
                continue;
            }
            self.open(number, row, depth);
            return Some((depth as usize, NodeRef { tree: self.tree, number, row }));
        }
    }
}

/// Children still to be visited.
#[derive(Clone, Debug)]
pub(crate) enum Siblings<'a> {
    /// The regions that are left.
    Regions(slice::Iter<'static, RowNumber>),
    /// Rows.
    Rows(ChildIter<'a>),
}

impl<'a> Siblings<'a> {
    pub(crate) fn of(tree: TreeRef<'a>, number: RowNumber, row: &'a Row) -> Self {
        match row.class() {
            Class::Root => Siblings::Regions(REGIONS.iter()),
            _ => Siblings::Rows(tree.children_of(number, row).iter()),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<RowNumber> {
        match self {
            Siblings::Rows(rows) => rows.next(),
            Siblings::Regions(regions) => regions.next().copied(),
        }
    }
}

/// The ancestors of a node, nearest first.
#[derive(Clone, Debug)]
pub struct Ancestors<'a> {
    tree: TreeRef<'a>,
    parent: NodeKey,
}

impl<'a> Ancestors<'a> {
    pub(crate) fn new(tree: TreeRef<'a>, row: &Row) -> Self {
        Ancestors { tree, parent: row.parent }
    }
}

impl<'a> Iterator for Ancestors<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<NodeRef<'a>> {
        if self.parent == NodeKey::NONE {
            return None;
        }
        let node = self.tree.find(self.parent).expect("a parent is in the tree of its child");
        self.parent = node.row.parent;
        Some(node)
    }
}
