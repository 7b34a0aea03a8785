//! Making a row changeable, and telling its ancestors.

use std::sync::OnceLock;

use super::Draft;
use crate::class::Class;
use crate::list::Children;
use crate::row::{NO_ROW, Row};
use crate::view::TreeRef;

impl Draft {
    /// Returns the index in the overlay of the node's row, bringing a version of it there if needed.
    ///
    /// The parent's list is told by the [`Draft::refresh`] that ends every change.
    pub(super) fn touch(&mut self, node: u32) -> u32 {
        let number = self.view().find_row(node).expect("only nodes of the tree are touched");
        self.touch_row(number)
    }

    /// As [`Draft::touch`], given the node's row.
    pub(super) fn touch_row(&mut self, number: u32) -> u32 {
        if number >= self.base.rows {
            return number - self.base.rows;
        }
        let mut row = self.base.space.row(number).clone();
        self.follow(&mut row, number);
        self.push(row)
    }

    /// Links a row to the version before it.
    pub(super) fn follow(&self, row: &mut Row, before: u32) {
        row.previous = before;
        row.version = self.base.space.row(before).version + 1;
        let target = row.version & (row.version - 1);
        let mut jump = before;
        while self.base.space.row(jump).version > target {
            jump = self.base.space.row(jump).jump;
        }
        row.jump = jump;
        row.digest = OnceLock::new();
    }

    /// Adds a row to the overlay and to its index.
    pub(super) fn push(&mut self, row: Row) -> u32 {
        let node = row.node;
        if self.overlay.rows.is_empty() {
            self.overlay.rows.push(Row::void());
            self.overlay.turn = Some(0);
        }
        let is_new_turn = row.class() == Class::Turn && row.previous == NO_ROW;
        let reserved = if is_new_turn { self.overlay.turn.take() } else { None };
        let index = match reserved.or_else(|| self.overlay.free.pop()) {
            Some(index) => {
                *self.row_mut(index) = row;
                index
            }
            None => {
                self.overlay.rows.push(row);
                u32::try_from(self.overlay.rows.len() - 1).expect("row numbers are 32 bits")
            }
        };
        self.set_index(node, Some(self.base.rows + index));
        index
    }

    /// Lends the children of a node to be changed. The node must be told afterwards with [`Draft::refresh`].
    pub(super) fn with_children<T>(
        &mut self,
        parent: u32,
        change: impl FnOnce(&mut Children, TreeRef<'_>) -> T,
    ) -> T {
        let number = self.view().find_row(parent).expect("the parent is in the tree");
        // The list is taken out while it changes: it is looked at through the view's rows only.
        if let Some(region) = self.region_of_row(number) {
            let slot = region.index();
            let mut list = std::mem::replace(&mut self.base.regions[slot], Children::EMPTY);
            let result = change(&mut list, self.view());
            self.base.regions[slot] = list;
            return result;
        }
        let index = self.touch(parent);
        let mut list = std::mem::replace(&mut self.row_mut(index).children, Children::EMPTY);
        let result = change(&mut list, self.view());
        self.row_mut(index).children = list;
        result
    }

    /// Works out the summary of a changed node and brings the news to all above it.
    pub(super) fn refresh(&mut self, node: u32) {
        let mut node = node;
        loop {
            let number = self.view().find_row(node).expect("a changed node is in the tree");
            if number < self.base.rows {
                // The root or a region: their rows never change.
                return;
            }
            let below = {
                let view = self.view();
                view.row(number).children.summary(&view)
            };
            let row = self.row_mut(number - self.base.rows);
            row.summarize(below);
            row.digest = OnceLock::new();
            let parent = row.parent;
            if parent == NO_ROW {
                return;
            }
            self.with_children(parent, |children, view| {
                let position = view
                    .search(children, view.row(number))
                    .expect("a node stands in its parent's list");
                children.replace(position, number, &view);
            });
            node = parent;
        }
    }
}
