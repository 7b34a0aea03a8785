//! Finds nodes by their marks, using summaries to skip subtrees that cannot contain one.

use crate::list::{Children, Items, Run, Summary};
use crate::node::NodeRef;
use crate::row::{NEVER, RowNumber};
use crate::view::TreeRef;

impl<'a> TreeRef<'a> {
    /// Returns the nodes that carry `data_refs`, in document order.
    #[must_use]
    pub fn referring(self) -> Vec<NodeRef<'a>> {
        self.with_mark(Summary::REFERS, |node| node.attribute("data_refs").is_some())
    }

    /// Returns the removable containers that have no children, in document order.
    #[must_use]
    pub fn empty_removable(self) -> Vec<NodeRef<'a>> {
        self.with_mark(Summary::EMPTY_REMOVABLE, |node| {
            node.is_removable()
                && node.class() == crate::Class::Container
                && node.child_count() == 0
        })
    }

    fn with_mark(self, mark: u32, is_meant: impl Fn(NodeRef<'a>) -> bool) -> Vec<NodeRef<'a>> {
        let mut found = Vec::new();
        self.marked(&|summary| summary.marks & mark != 0, &mut |row| {
            let node = self.node_at(row);
            if is_meant(node) {
                found.push(node);
            }
        });
        found
    }

    /// Visits every node that has a ttl, skipping all subtrees without one.
    pub(crate) fn mortal_nodes(self, visit: &mut impl FnMut(RowNumber)) {
        self.due_nodes(NEVER - 1, visit);
    }

    /// Visits every node that expires at or before a commit, in document order, skipping subtrees
    /// without one.
    pub(crate) fn due_nodes(self, commit: u32, visit: &mut impl FnMut(RowNumber)) {
        self.marked(&|summary| summary.expires <= commit, &mut |number| {
            if self.row(number).expires <= commit {
                visit(number);
            }
        });
    }

    /// Walks the subtrees whose summary is wanted, in document order, and visits every node whose
    /// own summary is.
    pub(crate) fn marked(
        self,
        wanted: &impl Fn(Summary) -> bool,
        visit: &mut impl FnMut(RowNumber),
    ) {
        for children in &self.base.regions {
            self.marked_in_list(children, wanted, visit);
        }
    }

    fn marked_in_list(
        self,
        children: &'a Children,
        wanted: &impl Fn(Summary) -> bool,
        visit: &mut impl FnMut(RowNumber),
    ) {
        match children {
            Children::Few { .. } => {
                children.iter().for_each(|row| self.marked_in_row(row, wanted, visit));
            }
            Children::Some(run) => {
                if wanted(run.summary) {
                    self.marked_in_run(run, wanted, visit);
                }
            }
            Children::Many(list) => {
                let levels = list.levels.iter().rev().filter(|run| wanted(run.summary));
                levels.for_each(|run| self.marked_in_run(run, wanted, visit));
            }
        }
    }

    fn marked_in_run(
        self,
        run: &'a Run,
        wanted: &impl Fn(Summary) -> bool,
        visit: &mut impl FnMut(RowNumber),
    ) {
        match &run.items {
            // The run's marks with the entry's own expiry are an upper bound for the row, which
            // need not be fetched.
            Items::Rows(rows) => rows
                .iter()
                .filter(|entry| wanted(Summary { expires: entry.expires, ..run.summary }))
                .for_each(|entry| self.marked_in_row(entry.row, wanted, visit)),
            Items::Runs(runs) => runs
                .iter()
                .filter(|child| wanted(child.summary))
                .for_each(|child| self.marked_in_run(&child.run, wanted, visit)),
        }
    }

    /// The recursion is bounded by the depth limit of trees.
    fn marked_in_row(
        self,
        number: RowNumber,
        wanted: &impl Fn(Summary) -> bool,
        visit: &mut impl FnMut(RowNumber),
    ) {
        let row = self.row(number);
        if wanted(row.summary) {
            visit(number);
            self.marked_in_list(&row.children, wanted, visit);
        }
    }
}
