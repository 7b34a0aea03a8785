//! Removes many nodes at once.

use std::sync::OnceLock;

use super::Draft;
use crate::due::{Place, Step};
use crate::list::{Children, Edit};
use crate::row::{NodeKey, RowNumber};

impl Draft {
    /// Removes nodes and their subtrees, given by their current places in document order. Needs no
    /// search, and updates each ancestor once.
    pub fn remove_all<'p>(&mut self, places: impl IntoIterator<Item = &'p Place>) {
        let mut tops: Vec<&Place> = Vec::new();
        for place in places {
            // Nodes below a removed node are removed with it.
            if !tops.last().is_some_and(|top| place.is_within(top)) {
                tops.push(place);
            }
        }
        for places in tops.chunk_by(|left, right| left.region == right.region) {
            let slot = places[0].region.index();
            let paths: Vec<&[Step]> = places.iter().map(|place| &place.steps[..]).collect();
            let mut list = std::mem::replace(&mut self.base.regions[slot], Children::EMPTY);
            self.remove_from(&mut list, &paths);
            self.base.regions[slot] = list;
        }
    }

    /// Removes the nodes at these paths from a list and from the lists below it. Recursion is
    /// bounded by the depth limit of trees.
    fn remove_from(&mut self, list: &mut Children, paths: &[&[Step]]) {
        let mut gone: Vec<(NodeKey, RowNumber)> = Vec::new();
        let mut edits = Vec::with_capacity(paths.len());
        for paths in paths.chunk_by(|left, right| left[0] == right[0]) {
            let Step { position, row } = paths[0][0];
            let after = if paths[0].len() == 1 {
                let subtree = self.view().node_at(row).subtree();
                gone.extend(subtree.map(|(_, node)| (node.row.node, node.number)));
                None
            } else {
                let below: Vec<&[Step]> = paths.iter().map(|path| &path[1..]).collect();
                Some(self.thin_out(row, &below))
            };
            edits.push(Edit { position, before: Some(row), after });
        }
        list.edit_all(&edits, &self.view());
        // Frees rows that were never committed, so this must be last.
        for (node, number) in &gone {
            self.bury(*node, *number);
        }
        self.base.count -= gone.len() as u32;
    }

    /// Removes the nodes at these paths from below a node; returns the node's row, which may be
    /// new.
    fn thin_out(&mut self, number: RowNumber, paths: &[&[Step]]) -> RowNumber {
        let index = self.touch_row(number);
        let mut list = std::mem::replace(&mut self.row_mut(index).children, Children::EMPTY);
        self.remove_from(&mut list, paths);
        let below = list.summary(&self.view());
        let row = self.row_mut(index);
        row.children = list;
        row.summarize(below);
        row.digest = OnceLock::new();
        self.number_of(index)
    }
}
