//! The digests of a run's rows, kept beside the run.

use std::sync::Arc;

/// Digests of the rows of a run, so that the rows need not be fetched for them: in a large tree that would take longer than to hash them
/// all. Later versions of the run share them.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    digests: Arc<[[u8; 32]]>,
    /// Which of the digests is each row's, or [`STRANGER`]. Nothing as long as the rows are those that were digested. There is always
    /// a row, so nothing means that and nothing else.
    order: Vec<u8>,
}

/// A row that came later.
const STRANGER: u8 = u8::MAX;
/// How many strangers there may be.
const MOST: usize = 8;

impl Beside {
    /// Returns the digests of all rows of a run; nothing if there are more than can be told apart.
    pub(crate) fn new(digests: &[[u8; 32]]) -> Option<Box<Self>> {
        let fits = digests.len() <= usize::from(STRANGER);
        fits.then(|| Box::new(Beside { digests: digests.into(), order: Vec::new() }))
    }

    /// Returns the digest of the row at a position, if it is known.
    pub(crate) fn get(&self, position: usize) -> Option<&[u8; 32]> {
        if self.order.is_empty() {
            return self.digests.get(position);
        }
        self.digests.get(usize::from(*self.order.get(position)?))
    }

    /// All digests that are kept, also of rows that have gone.
    pub(crate) fn digests(&self) -> &[[u8; 32]] {
        &self.digests
    }

    /// True if enough of the rows are known.
    pub(super) fn is_worth_it(&self) -> bool {
        self.order.iter().filter(|number| **number == STRANGER).count() <= MOST
    }

    /// Another row stands at a position.
    pub(super) fn replace(&mut self, position: usize) {
        self.order_mut()[position] = STRANGER;
    }

    /// A row has come at a position.
    pub(super) fn insert(&mut self, position: usize) {
        self.order_mut().insert(position, STRANGER);
    }

    /// The row at a position has gone.
    pub(super) fn remove(&mut self, position: usize) {
        self.order_mut().remove(position);
    }

    fn order_mut(&mut self) -> &mut Vec<u8> {
        if self.order.is_empty() {
            self.order.extend((0..STRANGER).take(self.digests.len()));
        }
        &mut self.order
    }
}
