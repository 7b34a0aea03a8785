//! Caches the digests of a run's rows next to the run.

use std::sync::Arc;

/// The digests of a run's rows. Fetching the rows for them would take longer, in a large tree, than
/// hashing them all. Later versions of the run share the cache.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    digests: Arc<[[u8; 32]]>,
    /// Current number of rows; 0 while the rows are those that were digested. A run is never empty,
    /// so 0 is unambiguous.
    len: u8,
    /// For each row, the index of its digest, or [`NO_DIGEST`].
    order: [u8; ROOM],
}

/// Marks a row that was added after the digests were computed.
const NO_DIGEST: u8 = u8::MAX;
/// Maximum number of rows without a digest before the cache is dropped.
const MAX_UNKNOWN: usize = 8;
/// Maximum number of rows for which digests are kept. Few runs are longer.
const MAX_ROWS: usize = 32;
/// One row may be inserted before the limit is checked.
const ROOM: usize = MAX_ROWS + 1;

impl Beside {
    /// Returns a cache of the digests of all rows of a run; `None` if there are too many.
    pub(crate) fn new(digests: &[[u8; 32]]) -> Option<Box<Self>> {
        let fits = digests.len() <= MAX_ROWS;
        fits.then(|| Box::new(Beside { digests: digests.into(), len: 0, order: [0; ROOM] }))
    }

    /// Returns the digest of the row at a position, if known.
    pub(crate) fn get(&self, position: usize) -> Option<&[u8; 32]> {
        if self.len == 0 {
            return self.digests.get(position);
        }
        self.digests.get(usize::from(*self.order().get(position)?))
    }

    /// Returns all cached digests, including those of removed rows.
    pub(crate) fn digests(&self) -> &[[u8; 32]] {
        &self.digests
    }

    /// Returns whether enough rows have a digest to keep the cache.
    pub(super) fn is_useful(&self) -> bool {
        let strangers = self.order().iter().filter(|number| **number == NO_DIGEST).count();
        strangers <= MAX_UNKNOWN && usize::from(self.len) <= MAX_ROWS
    }

    /// Records that the row at a position was replaced.
    pub(super) fn replace(&mut self, position: usize) {
        self.spell_out();
        self.order[position] = NO_DIGEST;
    }

    /// Records that a row was inserted at a position. There must be room for it.
    pub(super) fn insert(&mut self, position: usize) {
        self.spell_out();
        let len = usize::from(self.len);
        self.order.copy_within(position..len, position + 1);
        self.order[position] = NO_DIGEST;
        self.len += 1;
    }

    /// Records that the row at a position was removed.
    pub(super) fn remove(&mut self, position: usize) {
        self.spell_out();
        let len = usize::from(self.len);
        self.order.copy_within(position + 1..len, position);
        self.len -= 1;
    }

    fn order(&self) -> &[u8] {
        &self.order[..usize::from(self.len)]
    }

    /// Writes out the identity order.
    fn spell_out(&mut self) {
        if self.len == 0 {
            for (place, number) in self.order.iter_mut().zip(0_u8..).take(self.digests.len()) {
                *place = number;
                self.len += 1;
            }
        }
    }
}
