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
use crate::list::Children;
use crate::store::Space;
use crate::view::{Fixed, TreeRef};
use undo::Undo;

/// A tree that can be changed.
///
/// The methods keep the structure sound (order, parents, summaries) and nothing else: whether a change is *allowed* is for the
/// engine to decide, before it makes it.
#[derive(Debug)]
pub struct Draft {
    space: Arc<Space>,
    fixed: Fixed,
    regions: [Children; 3],
    /// Rows in the log; those of the overlay are numbered from here on.
    rows: u32,
    overlay: Overlay,
    next_cycle: u32,
    count: usize,
    undo: Option<Box<Undo>>,
}

impl Draft {
    pub(crate) fn new(
        space: Arc<Space>,
        fixed: Fixed,
        regions: [Children; 3],
        rows: u32,
        next_cycle: u32,
        count: usize,
    ) -> Self {
        let overlay = Overlay::default();
        Draft { space, fixed, regions, rows, overlay, next_cycle, count, undo: None }
    }

    /// Returns the working tree to be read.
    #[must_use]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef {
            space: &self.space,
            fixed: self.fixed,
            regions: &self.regions,
            rows: self.rows,
            overlay: Some(&self.overlay),
            next_cycle: self.next_cycle,
            count: self.count,
        }
    }

    /// Returns a copy on a branch of its own; costs what was changed since the last snapshot.
    #[must_use]
    pub fn fork(&self) -> Draft {
        Draft {
            space: Arc::new(self.space.fork(self.rows)),
            fixed: self.fixed,
            regions: self.regions.clone(),
            rows: self.rows,
            overlay: self.overlay.clone(),
            next_cycle: self.next_cycle,
            count: self.count,
            undo: None,
        }
    }

    /// True if nothing was changed since the last snapshot.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.overlay.is_empty()
    }

    fn region_of_row(&self, number: u32) -> Option<Region> {
        let index = self.fixed.regions.iter().position(|fixed| *fixed == number)?;
        Some(Region::ALL[index])
    }
}
