//! The part of a history that a query can see: snapshots by position, and the working state.

use contextree_tree::{Cycle, TreeRef};

use crate::error::QueryError;

/// A history to be queried: its snapshots, oldest first, and the working state.
///
/// Implemented by the owner of the snapshots; the query crate needs nothing else. Cycles increase with the position.
/// Every method that may have to fetch something can fail, so that a store can implement the trait.
pub trait Timeline {
    /// Why a query over this history fails. [`QueryError`] itself for a history in memory; a store adds its own failures.
    type Error: From<QueryError>;

    /// Returns how many snapshots there are. Called once per query to turn `@t-3` into a position.
    fn snapshot_count(&self) -> usize;

    /// Returns the snapshot at a position, 0 being the oldest; `None` beyond the newest. Called for every snapshot that
    /// a selector addresses.
    ///
    /// # Errors
    ///
    /// If the snapshot cannot be read.
    fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, Self::Error>;

    /// Returns the working state, if there is one. Called for selectors without a time, from edition 0.2 on.
    ///
    /// # Errors
    ///
    /// If the working state cannot be read.
    fn working(&self) -> Result<Option<TreeRef<'_>>, Self::Error>;

    /// Returns the cycle of the snapshot at a position. Called where only the number matters; the default reads the
    /// snapshot.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    fn cycle_at(&self, position: usize) -> Result<Option<Cycle>, Self::Error> {
        Ok(self.snapshot(position)?.map(|moment| moment.cycle))
    }

    /// Returns whether the snapshot of a cycle existed and was removed; for [`Cycle::ZERO`], whether any before the oldest was. Called for
    /// addresses without a snapshot. A history in memory is never thinned out.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    fn is_retired(&self, cycle: Cycle) -> Result<bool, Self::Error> {
        let _ = cycle;
        Ok(false)
    }

    /// Returns the position of the first snapshot whose cycle is at least `cycle`; the number of snapshots if there is
    /// none. Called for `@c12`. The default is a binary search.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    fn position_of_cycle(&self, cycle: Cycle) -> Result<usize, Self::Error> {
        let (mut low, mut high) = (0, self.snapshot_count());
        while low < high {
            let middle = low.midpoint(high);
            match self.cycle_at(middle)? {
                Some(found) if found < cycle => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Announces that the snapshots from `oldest` to `newest`, both included, are about to be read. Called once per
    /// query that addresses several, so that they can be fetched together. The default does nothing.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    fn prefetch(&self, oldest: usize, newest: usize) -> Result<(), Self::Error> {
        let _ = (oldest, newest);
        Ok(())
    }
}

/// A snapshot: its tree and the number of its commit.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'t> {
    /// The commit's number.
    pub cycle: Cycle,
    /// The tree.
    pub tree: TreeRef<'t>,
}
