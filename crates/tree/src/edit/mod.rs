//! The working state: a mutable view over the last snapshot that costs what it changes.

mod build;
mod data;
mod freeze;
mod ops;
mod overlay;
mod touch;
mod undo;

pub use build::{Builder, DuplicateId};
pub use data::{NodeData, NodeKey};
pub(crate) use overlay::Overlay;

use std::sync::Arc;

use crate::class::Region;
use crate::view::{Base, TreeRef};
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
}

impl Draft {
    pub(crate) fn new(base: Base) -> Self {
        Draft { base, overlay: Overlay::default(), undo: None, hint: None }
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
        Draft { base, overlay: self.overlay.clone(), undo: None, hint: None }
    }

    /// True if nothing was changed since the last snapshot.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.overlay.is_empty()
    }

    fn region_of_row(&self, number: u32) -> Option<Region> {
        let index = self.base.fixed.regions.iter().position(|fixed| *fixed == number)?;
        Some(Region::ALL[index])
    }
}
