//! The working state: a mutable view over the last snapshot that costs what it changes.

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

pub use build::{Builder, DuplicateId};
pub use data::{NodeData, NodeKey};
pub(crate) use overlay::Overlay;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::class::Region;
use crate::view::{Base, REGIONS, TreeRef};
use undo::Undo;

/// A tree that can be changed.
///
/// The methods keep the structure sound (order, parents, summaries) and nothing else: whether a change is *allowed* is for the
/// engine to decide, before it makes it.
#[derive(Debug)]
pub struct Draft {
    /// The last snapshot with its lists as they are now; rows of the overlay are numbered from `base.rows` on.
    base: Base,
    overlay: Overlay,
    undo: Option<Box<Undo>>,
    /// Where the last node was taken out: a list, by its node, and a position in it. Only a guess where the next one stands.
    hint: Option<(u32, usize)>,
    /// Nodes that were changed since somebody last asked, if anybody wants to know.
    changed: Option<BTreeSet<u32>>,
}

impl Draft {
    pub(crate) fn new(base: Base) -> Self {
        Draft { base, overlay: Overlay::default(), undo: None, hint: None, changed: None }
    }

    /// Returns the working tree to be read.
    #[must_use]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef { base: &self.base, overlay: Some(&self.overlay) }
    }

    /// Returns a copy on a branch of its own; costs what was changed since the last snapshot.
    #[must_use]
    pub fn fork(&self) -> Draft {
        let space = Arc::new(self.base.space.fork(self.base.rows));
        let base = Base { space, ..self.base.clone() };
        Draft { base, overlay: self.overlay.clone(), undo: None, hint: None, changed: None }
    }

    /// True if nothing was changed since the last snapshot.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Begins to note which nodes are changed, for [`Draft::take_changed`]; those that were changed since the last snapshot are among
    /// them.
    pub fn watch(&mut self) {
        let changed = self.changed.get_or_insert_default();
        changed.extend(self.overlay.index.keys());
    }

    /// Returns the nodes that were added, changed, moved or removed since the last call, or since the last snapshot if that is
    /// later; possibly some that are as they were. Nothing unless the draft is watched.
    pub fn take_changed(&mut self) -> Vec<NodeKey> {
        let changed = self.changed.as_mut().map(std::mem::take).unwrap_or_default();
        changed.into_iter().map(NodeKey).collect()
    }

    /// Has a node stand among those that [`Draft::take_changed`] returns next.
    pub fn mark_changed(&mut self, node: NodeKey) {
        self.note_changed(node.0);
    }

    /// Lets the coming commit have a higher number than the one that follows. Only for histories that leave numbers out.
    pub fn skip_to(&mut self, cycle: u32) {
        self.base.next_cycle = self.base.next_cycle.max(cycle);
    }

    fn note_changed(&mut self, node: u32) {
        if let Some(changed) = &mut self.changed {
            changed.insert(node);
        }
    }

    fn region_of_row(&self, number: u32) -> Option<Region> {
        let index = REGIONS.iter().position(|fixed| *fixed == number)?;
        Some(Region::ALL[index])
    }
}
