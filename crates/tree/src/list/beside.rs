//! The digests of a run's rows, kept beside the run.

use std::sync::Arc;

/// Digests of the rows of a run, so that the rows need not be fetched for them: in a large tree that would take longer than to hash them
/// all. Later versions of the run share them.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    digests: Arc<[[u8; 32]]>,
    /// How many rows there are now; 0 as long as they are those that were digested. There is always a row, so nothing else means that.
    len: u8,
    /// Which of the digests is each row's, or [`STRANGER`].
    order: [u8; ROOM],
}

/// A row that came later.
const STRANGER: u8 = u8::MAX;
/// How many strangers there may be.
const MOST: usize = 8;
/// Of how many rows digests are kept. Few runs have more.
const LARGEST: usize = 32;
/// One row may come before somebody asks whether there are too many.
const ROOM: usize = LARGEST + 1;

impl Beside {
    /// Returns the digests of all rows of a run; nothing if there are too many.
    pub(crate) fn new(digests: &[[u8; 32]]) -> Option<Box<Self>> {
        let fits = digests.len() <= LARGEST;
        fits.then(|| Box::new(Beside { digests: digests.into(), len: 0, order: [0; ROOM] }))
    }

    /// Returns the digest of the row at a position, if it is known.
    pub(crate) fn get(&self, position: usize) -> Option<&[u8; 32]> {
        if self.len == 0 {
            return self.digests.get(position);
        }
        self.digests.get(usize::from(*self.order().get(position)?))
    }

    /// All digests that are kept, also of rows that have gone.
    pub(crate) fn digests(&self) -> &[[u8; 32]] {
        &self.digests
    }

    /// True if enough of the rows are known.
    pub(super) fn is_worth_it(&self) -> bool {
        let strangers = self.order().iter().filter(|number| **number == STRANGER).count();
        strangers <= MOST && usize::from(self.len) <= LARGEST
    }

    /// Another row stands at a position.
    pub(super) fn replace(&mut self, position: usize) {
        self.spell_out();
        self.order[position] = STRANGER;
    }

    /// A row has come at a position. There must not be too many already.
    pub(super) fn insert(&mut self, position: usize) {
        self.spell_out();
        let len = usize::from(self.len);
        self.order.copy_within(position..len, position + 1);
        self.order[position] = STRANGER;
        self.len += 1;
    }

    /// The row at a position has gone.
    pub(super) fn remove(&mut self, position: usize) {
        self.spell_out();
        let len = usize::from(self.len);
        self.order.copy_within(position + 1..len, position);
        self.len -= 1;
    }

    fn order(&self) -> &[u8] {
        &self.order[..usize::from(self.len)]
    }

    /// Writes out the order as it is by itself.
    fn spell_out(&mut self) {
        if self.len == 0 {
            for (place, number) in self.order.iter_mut().zip(0_u8..).take(self.digests.len()) {
                *place = number;
                self.len += 1;
            }
        }
    }
}
