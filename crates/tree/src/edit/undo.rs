//! Rolls back all changes since a checkpoint.

use std::collections::BTreeMap;

use super::{Draft, OverlayIndex};
use crate::list::Children;
use crate::row::{NodeKey, Row};

/// The state needed to roll changes back.
#[derive(Debug)]
pub(super) struct Undo {
    rows: usize,
    /// Rows older than the checkpoint that were changed since.
    changed: BTreeMap<OverlayIndex, Row>,
    /// Earlier entries of the index, newest last.
    index: Vec<(NodeKey, Option<Option<u32>>)>,
    free: Vec<OverlayIndex>,
    turn: Option<OverlayIndex>,
    regions: [Children; 3],
    count: u32,
}

impl Draft {
    /// Starts recording, so that [`Draft::roll_back`] can undo what follows.
    ///
    /// Checkpoints do not nest: the engine has at most one open, for a batch or for a commit.
    pub fn checkpoint(&mut self) {
        self.undo = Some(Box::new(Undo {
            rows: self.overlay.rows.len(),
            changed: BTreeMap::new(),
            index: Vec::new(),
            free: self.overlay.free.clone(),
            turn: self.overlay.turn,
            regions: self.base.regions.clone(),
            count: self.base.count,
        }));
    }

    /// Discards the checkpoint and keeps the changes since.
    pub fn keep(&mut self) {
        self.undo = None;
    }

    /// Undoes all changes since the checkpoint.
    pub fn roll_back(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        for (node, entry) in undo.index.into_iter().rev() {
            match entry {
                Some(entry) => drop(self.overlay.index.insert(node, entry)),
                None => drop(self.overlay.index.remove(&node)),
            }
        }
        self.overlay.rows.truncate(undo.rows);
        for (index, row) in undo.changed {
            self.overlay.rows[index.0 as usize] = row;
        }
        self.overlay.free = undo.free;
        self.overlay.turn = undo.turn;
        self.base.regions = undo.regions;
        self.base.count = undo.count;
    }

    /// Returns a row of the overlay for changing it.
    pub(super) fn row_mut(&mut self, index: OverlayIndex) -> &mut Row {
        let row = &mut self.overlay.rows[index.0 as usize];
        if let Some(undo) = &mut self.undo
            && (index.0 as usize) < undo.rows
        {
            undo.changed.entry(index).or_insert_with(|| row.clone());
        }
        row
    }

    pub(super) fn set_index(&mut self, node: NodeKey, entry: Option<u32>) {
        let before = self.overlay.index.insert(node, entry);
        if let Some(undo) = &mut self.undo {
            undo.index.push((node, before));
        }
    }

    pub(super) fn forget_index(&mut self, node: NodeKey) {
        let before = self.overlay.index.remove(&node);
        if let Some(undo) = &mut self.undo {
            undo.index.push((node, before));
        }
    }
}
