//! A growing array whose slots never move, so that readers need no lock while a writer appends.
//!
//! Written by hand in safe Rust: a `Vec` moves its elements when it grows, and the concurrent vectors on
//! offer double one big allocation at a time. Here buckets double up to [`PAGE`] slots and beyond that are
//! made of pages that are allocated one by one, so a context of twenty turns stays small and a context of a
//! million never over-allocates by more than a page.

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

/// An array of `S` that grows page by page; new slots are `S::default()`.
#[derive(Debug)]
pub(crate) struct Paged<S> {
    buckets: [OnceLock<Bucket<S>>; BUCKETS],
}

impl<S> Default for Paged<S> {
    fn default() -> Self {
        Paged { buckets: [const { OnceLock::new() }; BUCKETS] }
    }
}

/// Bucket, page within the bucket, slot within the page.
fn locate(index: u32) -> (usize, usize, usize) {
    let shifted = index as usize + FIRST;
    let bucket = (shifted.ilog2() - FIRST_BITS) as usize;
    let within = shifted - (FIRST << bucket);
    (bucket, within / PAGE, within % PAGE)
}

impl<S: Default> Paged<S> {
    /// Returns the slot if its page has been touched.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&S> {
        let (bucket, page, slot) = locate(index);
        self.buckets.get(bucket)?.get()?.get(page)?.get()?.get(slot)
    }

    /// Returns the page that holds an index, and the index of its first slot.
    pub(crate) fn page(&self, index: u32) -> Option<(u32, &[S])> {
        let (bucket, page, slot) = locate(index);
        let slots = self.buckets.get(bucket)?.get()?.get(page)?.get()?;
        Some((index - u32::try_from(slot).ok()?, slots))
    }

    /// Returns the slot, allocating its page if needed.
    pub(crate) fn slot(&self, index: u32) -> &S {
        let (bucket, page, slot) = locate(index);
        let capacity = FIRST << bucket;
        let pages = self.buckets[bucket]
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
        let paged = Paged::<AtomicU32>::default();
        for index in (0..5000).chain([1 << 20, (1 << 20) + 1, u32::MAX / 2]) {
            paged.slot(index).store(index + 1, Ordering::Relaxed);
        }
        for index in (0..5000).chain([1 << 20, (1 << 20) + 1, u32::MAX / 2]) {
            assert_eq!(paged.get(index).map(|slot| slot.load(Ordering::Relaxed)), Some(index + 1));
        }
        assert!(paged.get(3 << 20).is_none(), "untouched pages are not allocated");
    }
}
