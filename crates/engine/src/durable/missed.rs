//! Snapshots that were asked for and are not loaded.

use std::sync::atomic::{AtomicU64, Ordering};

/// Notes which snapshots a reader wanted and did not get, because only the store has them.
///
/// Reading borrows the context, so this is the one thing about it that changes while it is read.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// How many snapshots before the oldest loaded one; 0 if none was missed.
    back: AtomicU64,
    /// The lowest cycle that was asked for, plus one; 0 if none was.
    cycle: AtomicU64,
}

impl Missed {
    /// Notes that a snapshot so many before the oldest loaded one was asked for.
    pub(crate) fn note_back(&self, back: u64) {
        self.back.fetch_max(back, Ordering::Relaxed);
    }

    /// Notes that the snapshot of a commit was asked for.
    pub(crate) fn note_cycle(&self, cycle: u64) {
        let wanted = cycle.saturating_add(1);
        let lower = |old: u64| (old == 0 || wanted < old).then_some(wanted);
        // If nothing is to be changed the update fails, and that is fine.
        let _ = self.cycle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
    }

    /// True if something was missed that nobody has taken care of.
    pub(crate) fn is_noted(&self) -> bool {
        self.back.load(Ordering::Relaxed) > 0 || self.cycle.load(Ordering::Relaxed) > 0
    }

    /// Returns what was missed since the last call: how many before the oldest, and the lowest cycle.
    pub(crate) fn take(&self) -> Option<(u64, Option<u64>)> {
        let back = self.back.swap(0, Ordering::Relaxed);
        let cycle = self.cycle.swap(0, Ordering::Relaxed).checked_sub(1);
        (back > 0 || cycle.is_some()).then_some((back, cycle))
    }
}
