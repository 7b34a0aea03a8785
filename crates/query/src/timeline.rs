//! The part of a history that a query can see: snapshots by position, and the working state.

use contextree_tree::TreeRef;

/// A history that can be queried: its snapshots, oldest first, and the working state.
///
/// Implemented by owners of snapshots; queries need nothing else. Cycles increase with the
/// position.
pub trait Timeline {
    /// Returns the number of snapshots. Called once per query to turn `@t-3` into a position.
    fn snapshot_count(&self) -> usize;

    /// Returns the snapshot at a position, 0 being the oldest; `None` beyond the newest. Called for
    /// every snapshot that a selector addresses.
    fn snapshot(&self, position: usize) -> Option<Moment<'_>>;

    /// Returns the working state, if there is one. Called for selectors without a time prefix, from
    /// edition 0.2 on.
    fn working(&self) -> Option<TreeRef<'_>>;

    /// Returns the position of the first snapshot whose cycle is at least `cycle`; the number of
    /// snapshots if there is none. Called for `@c12`. The default is a binary search.
    fn position_of_cycle(&self, cycle: i64) -> usize {
        let (mut low, mut high) = (0, self.snapshot_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.snapshot(middle) {
                Some(moment) if i64::from(moment.cycle) < cycle => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

/// A snapshot: its tree and the number of its commit.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'t> {
    /// The commit's number.
    pub cycle: u32,
    /// The tree.
    pub tree: TreeRef<'t>,
}
