//! An append-only list that can branch, shared between branches and read without locks.

use std::sync::{Arc, OnceLock};

use super::Paged;

/// Initial capacity of a part.
const AT_ONCE: usize = 2;

/// An append-only list. A fork shares everything before it and takes constant time.
#[derive(Debug)]
pub struct Log<T> {
    segments: Vec<Arc<Part<T>>>,
    len: usize,
}

#[derive(Debug)]
struct Part<T> {
    start: usize,
    entries: Paged<OnceLock<T>>,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Log { segments: vec![Arc::new(Part::new(0))], len: 0 }
    }
}

impl<T> Part<T> {
    fn new(start: usize) -> Self {
        Part { start, entries: Paged::with_capacity(AT_ONCE) }
    }
}

impl<T> Log<T> {
    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: T) {
        let own = self.segments.last().expect("a log has at least one part");
        let index = u32::try_from(self.len - own.start).expect("entries are counted in 32 bits");
        assert!(own.entries.slot(index).set(entry).is_ok(), "an entry is written once");
        self.len += 1;
    }

    /// Returns the entry at a position.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len {
            return None;
        }
        let after = self.segments.partition_point(|part| part.start <= index);
        let part = &self.segments[after - 1];
        part.entries.get(u32::try_from(index - part.start).ok()?)?.get()
    }

    /// Returns the newest entry.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len.checked_sub(1)?)
    }

    /// Returns all entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len)
            .map(|index| self.get(index).expect("every index below the length has an entry"))
    }

    /// Returns a log that begins with the first `len` entries of this one and continues
    /// independently.
    #[must_use]
    pub fn fork(&self, len: usize) -> Log<T> {
        let len = len.min(self.len);
        let mut segments: Vec<_> =
            self.segments.iter().filter(|part| part.start < len).cloned().collect();
        segments.push(Arc::new(Part::new(len)));
        Log { segments, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_share_the_past_and_not_the_future() {
        let mut log = Log::default();
        (0..100).for_each(|entry| log.push(entry));
        let mut fork = log.fork(40);
        let empty: Log<i32> = log.fork(0);
        (0..5).for_each(|entry| fork.push(-entry));
        log.push(100);
        assert_eq!(log.iter().copied().collect::<Vec<_>>(), (0..=100).collect::<Vec<_>>());
        let expected: Vec<i32> = (0..40).chain([0, -1, -2, -3, -4]).collect();
        assert_eq!(fork.iter().copied().collect::<Vec<_>>(), expected);
        assert_eq!(fork.fork(42).last(), Some(&-1));
        assert!(empty.is_empty() && empty.last().is_none());
    }
}
