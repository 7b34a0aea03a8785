//! Older parts of a history, fetched when they are first read and shared by all readers.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use contextree_engine::Snapshot;
use contextree_tree::Log;

use crate::error::Result;

/// How many fetched snapshots are kept before new readers begin with an empty list.
const MANY: usize = 1_024;

/// Parts of a history. The list only grows, so that references into it stay valid while it is read.
#[derive(Default)]
pub(crate) struct Past {
    first: OnceLock<Box<Part>>,
    snapshots: AtomicUsize,
    /// The ranges that are being fetched, so that each is fetched once for all who ask.
    fetching: Mutex<BTreeSet<(usize, usize)>>,
    fetched: Condvar,
}

/// Snapshots that follow each other, and share what they have in common.
pub(crate) struct Part {
    /// The position of the first one in the whole history.
    start: usize,
    snapshots: Log<Snapshot>,
    next: OnceLock<Box<Part>>,
}

impl Part {
    pub(crate) fn new(start: usize, snapshots: Log<Snapshot>) -> Self {
        Part { start, snapshots, next: OnceLock::new() }
    }

    pub(crate) fn get(&self, position: usize) -> Option<&Snapshot> {
        self.snapshots.get(position.checked_sub(self.start)?)
    }

    pub(crate) fn len(&self) -> usize {
        self.snapshots.len()
    }
}

impl Past {
    pub(crate) fn len(&self) -> usize {
        self.snapshots.load(Ordering::Relaxed)
    }

    /// True if so much was fetched that it should not be kept for new readers.
    pub(crate) fn is_large(&self) -> bool {
        self.len() > MANY
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        let first = self.first.get().map(Box::as_ref);
        std::iter::successors(first, |part| part.next.get().map(Box::as_ref))
    }

    /// Returns the longest part that has a position: neighbours in one part can be compared by what changed between them.
    pub(crate) fn longest(&self, position: usize) -> Option<&Part> {
        self.parts().filter(|part| part.get(position).is_some()).max_by_key(|part| part.len())
    }

    /// Returns a part that has both positions, and everything between them.
    pub(crate) fn find(&self, first: usize, last: usize) -> Option<&Part> {
        self.parts().find(|part| part.get(first).is_some() && part.get(last).is_some())
    }

    /// Returns a part that has both positions, fetching it if there is none. If another thread is fetching the same
    /// range, waits for it instead.
    pub(crate) fn find_or_fetch(
        &self,
        first: usize,
        last: usize,
        fetch: impl FnOnce() -> Result<Option<Part>>,
    ) -> Result<Option<&Part>> {
        let mut fetching = self.lock();
        loop {
            if let Some(part) = self.find(first, last) {
                return Ok(Some(part));
            }
            if fetching.insert((first, last)) {
                break;
            }
            fetching = self.fetched.wait(fetching).unwrap_or_else(PoisonError::into_inner);
        }
        drop(fetching);
        let _turn = Turn { past: self, range: (first, last) };
        if let Some(part) = fetch()? {
            self.add(part);
        }
        Ok(self.find(first, last))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(usize, usize)>> {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, part: Part) {
        self.snapshots.fetch_add(part.len(), Ordering::Relaxed);
        let mut part = Box::new(part);
        let mut slot = &self.first;
        loop {
            match slot.set(part) {
                Ok(()) => return,
                // Another thread was faster here: the part comes after its part.
                Err(back) => part = back,
            }
            match slot.get() {
                Some(other) => slot = &other.next,
                None => return,
            }
        }
    }
}

/// A range that one thread fetches. Dropping it lets the others look again, also after a failure.
struct Turn<'p> {
    past: &'p Past,
    range: (usize, usize),
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.past.lock().remove(&self.range);
        self.past.fetched.notify_all();
    }
}
