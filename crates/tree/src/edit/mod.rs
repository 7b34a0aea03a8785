//! The working state: a mutable view over the last snapshot whose cost is proportional to its
//! changes.

mod batch;
mod build;
mod compact;
mod data;
mod freeze;
mod ops;
mod overlay;
mod rejoin;
mod touch;
mod undo;
mod working;

pub use build::{Builder, DuplicateId};
pub use data::NodeData;
pub(crate) use overlay::{Overlay, OverlayIndex};
pub use working::WorkingTree;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::class::Region;
use crate::cycle::Cycle;
use crate::row::{NodeKey, RowNumber};
use crate::view::{Base, REGIONS, TreeRef};
use undo::Undo;

/// A mutable tree.
///
/// The methods keep the structure consistent (order, parents, summaries) and nothing more: the
/// engine decides whether a change is *allowed* before it makes it.
#[derive(Debug)]
pub struct Draft {
    /// The last snapshot with its current lists; rows of the overlay are numbered from `base.rows`
    /// on.
    base: Base,
    overlay: Overlay,
    /// The open checkpoints, innermost last.
    undo: Vec<Undo>,
    /// The list (by its node) and position of the last removal: a guess at the position of the next
    /// one.
    hint: Option<(NodeKey, usize)>,
    /// Nodes changed since the last call of [`Draft::take_changed`], if the draft is watched.
    changed: Option<BTreeSet<NodeKey>>,
}

impl Draft {
    pub(crate) fn new(base: Base) -> Self {
        Draft { base, overlay: Overlay::default(), undo: Vec::new(), hint: None, changed: None }
    }

    /// Returns a view for reading the working tree.
    #[must_use]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef { base: &self.base, overlay: Some(&self.overlay) }
    }

    /// Returns a copy on a new branch; the cost is proportional to the changes since the last
    /// snapshot.
    #[must_use]
    pub fn fork(&self) -> Draft {
        let space = Arc::new(self.base.space.fork(self.base.rows));
        let base = Base { space, ..self.base.clone() };
        Draft { base, overlay: self.overlay.clone(), undo: Vec::new(), hint: None, changed: None }
    }

    /// Returns whether nothing changed since the last snapshot.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Starts recording changed nodes for [`Draft::take_changed`], including those changed since
    /// the last snapshot.
    pub fn watch(&mut self) {
        let changed = self.changed.get_or_insert_default();
        changed.extend(self.overlay.index.keys());
    }

    /// Returns the nodes that were added, changed, moved or removed since the last call, or since
    /// the last snapshot if that is later; possibly includes unchanged ones. Empty unless the draft
    /// is watched.
    pub fn take_changed(&mut self) -> Vec<NodeKey> {
        let changed = self.changed.as_mut().map(std::mem::take).unwrap_or_default();
        changed.into_iter().collect()
    }

    /// Adds a node to those that [`Draft::take_changed`] returns next.
    pub fn mark_changed(&mut self, node: NodeKey) {
        self.note_changed(node);
    }

    /// Raises the number of the next commit. Only for histories that skip numbers.
    pub fn skip_to(&mut self, cycle: Cycle) {
        self.base.next_cycle = self.base.next_cycle.max(cycle);
    }

    fn note_changed(&mut self, node: NodeKey) {
        if let Some(changed) = &mut self.changed {
            changed.insert(node);
        }
    }

    /// Returns the row number of a row in the overlay.
    fn number_of(&self, index: OverlayIndex) -> RowNumber {
        self.base.rows.plus(index.0)
    }

    /// Returns the index in the overlay of a row; `None` if the row is in the log.
    fn overlay_index(&self, number: RowNumber) -> Option<OverlayIndex> {
        number.checked_since(self.base.rows).map(OverlayIndex)
    }

    fn region_of_row(&self, number: RowNumber) -> Option<Region> {
        let index = REGIONS.iter().position(|fixed| *fixed == number)?;
        Some(Region::ALL[index])
    }
}
