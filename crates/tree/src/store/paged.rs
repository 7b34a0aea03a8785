//! A growing array whose slots never move, so that readers need no lock while a writer appends.
//!
//! Written by hand in safe Rust: a `Vec` moves its elements when it grows, and existing concurrent
//! vectors double one large allocation at a time. Here the slots requested up front are one
//! allocation. Further slots are in buckets that double up to [`PAGE`] slots and then consist of
//! pages allocated one by one, so a context of twenty turns stays small and a context of a million
//! over-allocates by at most one page.

use std::sync::OnceLock;

/// Slots of a full page.
const PAGE: usize = 1024;
/// Slots of the first bucket; a power of two.
const FIRST: usize = 16;
const FIRST_BITS: u32 = FIRST.trailing_zeros();
/// Buckets needed to address all of `u32`.
const BUCKETS: usize = (u32::BITS - FIRST_BITS) as usize;

type Page<S> = Box<[S]>;
type Bucket<S> = Box<[OnceLock<Page<S>>]>;
type Buckets<S> = Box<[OnceLock<Bucket<S>>; BUCKETS]>;

/// An array of `S` that grows page by page; new slots are `S::default()`.
#[derive(Debug)]
pub(crate) struct Paged<S> {
    /// The slots requested at creation.
    head: Page<S>,
    /// Slots beyond the head. Many arrays never have any.
    tail: OnceLock<Buckets<S>>,
}

impl<S> Default for Paged<S> {
    fn default() -> Self {
        Paged { head: Box::default(), tail: OnceLock::new() }
    }
}

/// Returns bucket, page within the bucket, and slot within the page.
fn locate(index: usize) -> (usize, usize, usize) {
    let shifted = index + FIRST;
    let bucket = (shifted.ilog2() - FIRST_BITS) as usize;
    let within = shifted - (FIRST << bucket);
    (bucket, within / PAGE, within % PAGE)
}

impl<S: Default> Paged<S> {
    /// Returns an array with this many slots allocated.
    pub(crate) fn with_capacity(slots: usize) -> Self {
        Paged { head: (0..slots).map(|_| S::default()).collect(), tail: OnceLock::new() }
    }

    /// Returns the slot if its page is allocated.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&S> {
        let index = index as usize;
        if let Some(slot) = self.head.get(index) {
            return Some(slot);
        }
        let (bucket, page, slot) = locate(index - self.head.len());
        self.tail.get()?.get(bucket)?.get()?.get(page)?.get()?.get(slot)
    }

    /// Returns the page that contains an index, and the index of its first slot.
    pub(crate) fn page(&self, index: u32) -> Option<(u32, &[S])> {
        if (index as usize) < self.head.len() {
            return Some((0, &self.head));
        }
        let (bucket, page, slot) = locate(index as usize - self.head.len());
        let slots = self.tail.get()?.get(bucket)?.get()?.get(page)?.get()?;
        Some((index - u32::try_from(slot).ok()?, slots))
    }

    /// Returns the slot, allocating its page if needed.
    pub(crate) fn slot(&self, index: u32) -> &S {
        let index = index as usize;
        if let Some(slot) = self.head.get(index) {
            return slot;
        }
        let (bucket, page, slot) = locate(index - self.head.len());
        let capacity = FIRST << bucket;
        let buckets = self.tail.get_or_init(|| Box::new([const { OnceLock::new() }; BUCKETS]));
        let pages = buckets[bucket]
            .get_or_init(|| (0..capacity.div_ceil(PAGE)).map(|_| OnceLock::new()).collect());
        let slots =
            pages[page].get_or_init(|| (0..capacity.min(PAGE)).map(|_| S::default()).collect());
        &slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn every_index_has_its_own_slot() {
        check(&Paged::default());
        check(&Paged::with_capacity(1));
        check(&Paged::with_capacity(1_500));
    }

    fn check(paged: &Paged<AtomicU32>) {
        for index in (0..5000).chain([1 << 20, (1 << 20) + 1, u32::MAX / 2]) {
            paged.slot(index).store(index + 1, Ordering::Relaxed);
        }
        for index in (0..5000).chain([1 << 20, (1 << 20) + 1, u32::MAX / 2]) {
            assert_eq!(paged.get(index).map(|slot| slot.load(Ordering::Relaxed)), Some(index + 1));
        }
        assert!(paged.get(3 << 20).is_none(), "untouched pages are not allocated");
        for index in [0, 1, 17, 1_499, 1_500, 4_999, 1 << 20] {
            let (first, slots) = paged.page(index).unwrap();
            let slot = &slots[(index - first) as usize];
            assert_eq!(slot.load(Ordering::Relaxed), index + 1);
        }
    }
}
