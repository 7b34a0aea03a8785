//! Copies rows into the overlay to change them, and updates their ancestors.

use std::sync::OnceLock;

use super::{Draft, OverlayIndex};
use crate::class::Class;
use crate::list::Children;
use crate::row::{NodeKey, Row, RowNumber};
use crate::view::TreeRef;

impl Draft {
    /// Returns the overlay index of the node's row, copying the row into the overlay if needed.
    ///
    /// The parent's list is updated by the [`Draft::refresh`] that ends every change.
    pub(super) fn touch(&mut self, node: NodeKey) -> OverlayIndex {
        let number = self.view().find_row(node).expect("only nodes of the tree are touched");
        self.touch_row(number)
    }

    /// Like [`Draft::touch`], but takes the node's row.
    pub(super) fn touch_row(&mut self, number: RowNumber) -> OverlayIndex {
        if let Some(index) = self.overlay_index(number) {
            return index;
        }
        let mut row = self.base.space.row(number).clone();
        self.follow(&mut row, number);
        self.push(row)
    }

    /// Links a row to its previous version.
    ///
    /// Besides `previous`, each version has a skip pointer, `jump`, to the version whose number has
    /// the lowest set bit cleared (12 → 8, 13 → 12, 14 → 12). Finding the version that a snapshot
    /// sees thus takes O(log² n) steps instead of n; see `Space::find_version`. With `previous`
    /// alone, reading an old snapshot would slow down with every later change of a node.
    pub(super) fn follow(&self, row: &mut Row, before: RowNumber) {
        row.previous = before;
        // The target is always on the jump chain of the previous version: `version - 1` equals the
        // target with all lower bits set, and each jump clears one of these.
        row.version = self.base.space.row(before).version + 1;
        let target = row.version & (row.version - 1);
        let mut jump = before;
        while self.base.space.row(jump).version > target {
            jump = self.base.space.row(jump).jump;
        }
        row.jump = jump;
        row.digest = OnceLock::new();
    }

    /// Adds a row to the overlay and its index.
    pub(super) fn push(&mut self, row: Row) -> OverlayIndex {
        let node = row.node;
        if self.overlay.rows.is_empty() {
            self.overlay.rows.push(Row::void());
            self.overlay.turn = Some(OverlayIndex(0));
        }
        let is_new_turn = row.class() == Class::Turn && row.previous == RowNumber::NONE;
        let reserved = if is_new_turn { self.overlay.turn.take() } else { None };
        let index = match reserved.or_else(|| self.overlay.free.pop()) {
            Some(index) => {
                *self.row_mut(index) = row;
                index
            }
            None => {
                let index = OverlayIndex(self.overlay.len());
                self.overlay.rows.push(row);
                index
            }
        };
        self.set_index(node, Some(self.number_of(index)));
        index
    }

    /// Passes the children of a node to `change`. The caller must call [`Draft::refresh`] on the
    /// node afterwards.
    pub(super) fn with_children<T>(
        &mut self,
        parent: NodeKey,
        change: impl FnOnce(&mut Children, TreeRef<'_>) -> T,
    ) -> T {
        let number = self.view().find_row(parent).expect("the parent is in the tree");
        // The list is detached while it changes; the closure reads rows through the view only.
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

    /// Recomputes the summary of a changed node and of all its ancestors.
    pub(super) fn refresh(&mut self, node: NodeKey) {
        let mut node = node;
        loop {
            let number = self.view().find_row(node).expect("a changed node is in the tree");
            // The rows of the root and the regions never change.
            let Some(index) = self.overlay_index(number) else { return };
            let below = {
                let view = self.view();
                view.row(number).children.summary(&view)
            };
            let row = self.row_mut(index);
            row.summarize(below);
            row.digest = OnceLock::new();
            let parent = row.parent;
            if parent == NodeKey::NONE {
                return;
            }
            self.with_children(parent, |children, view| {
                let position = view
                    .search(children, view.row(number))
                    .expect("a node is in its parent's list");
                children.replace(position, number, &view);
            });
            node = parent;
        }
    }
}
