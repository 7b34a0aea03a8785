//! Rolls back all changes since a checkpoint.

use std::collections::BTreeMap;

use super::{Draft, OverlayIndex};
use crate::list::Children;
use crate::row::{NodeKey, Row, RowNumber};

/// The state needed to roll changes back.
#[derive(Debug)]
pub(super) struct Undo {
    rows: usize,
    /// Rows older than the checkpoint that were changed since.
    changed: BTreeMap<OverlayIndex, Row>,
    /// Earlier entries of the index, newest last.
    index: Vec<(NodeKey, Option<Option<RowNumber>>)>,
    free: Vec<OverlayIndex>,
    turn: Option<OverlayIndex>,
    regions: [Children; 3],
    count: u32,
}

impl Draft {
    /// Starts recording, so that [`Draft::roll_back`] can undo what follows.
    ///
    /// Checkpoints nest: a store's step holds one, and each batch or commit within it opens another.
    /// [`Draft::freeze`] ends all of them, because what is in the log stays there.
    pub fn checkpoint(&mut self) {
        self.undo.push(Undo {
            rows: self.overlay.rows.len(),
            changed: BTreeMap::new(),
            index: Vec::new(),
            free: self.overlay.free.clone(),
            turn: self.overlay.turn,
            regions: self.base.regions.clone(),
            count: self.base.count,
        });
    }

    /// Returns how many checkpoints are open. [`Draft::freeze`] and a fork have none.
    #[must_use]
    pub fn checkpoints(&self) -> usize {
        self.undo.len()
    }

    /// Keeps what was done since the innermost checkpoint; an outer one can still take it back.
    pub fn keep(&mut self) {
        let Some(inner) = self.undo.pop() else { return };
        let Some(outer) = self.undo.last_mut() else { return };
        // The outer checkpoint is older, so what it has noted already wins.
        for (index, row) in inner.changed {
            if (index.0 as usize) < outer.rows {
                outer.changed.entry(index).or_insert(row);
            }
        }
        outer.index.extend(inner.index);
    }

    /// Takes back what was done since the innermost checkpoint.
    pub fn roll_back(&mut self) {
        let Some(undo) = self.undo.pop() else { return };
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
        if let Some(undo) = self.undo.last_mut()
            && (index.0 as usize) < undo.rows
        {
            undo.changed.entry(index).or_insert_with(|| row.clone());
        }
        row
    }

    pub(super) fn set_index(&mut self, node: NodeKey, entry: Option<RowNumber>) {
        let before = self.overlay.index.insert(node, entry);
        if let Some(undo) = self.undo.last_mut() {
            undo.index.push((node, before));
        }
    }

    pub(super) fn forget_index(&mut self, node: NodeKey) {
        let before = self.overlay.index.remove(&node);
        if let Some(undo) = self.undo.last_mut() {
            undo.index.push((node, before));
        }
    }
}
