//! The finished runs inside a run of the level above.

use std::borrow::Cow;
use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::{iter, slice};

use super::{Child, Run};
use crate::symbol::Hint;

/// Number of runs that may differ from the shared block before a new block is built.
const CHANGES: usize = 8;

/// Finished runs of one level, adjacent to each other.
///
/// A version of a long list differs from the previous one in few runs of each level. It shares the
/// block of the others and does not touch them, neither to update reference counts nor to read
/// digests: in a long list none of them would be in the cache.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    block: Arc<Block>,
    /// Runs that changed since the block was built, by position.
    changes: Vec<(u32, Child)>,
}

/// Runs as of the last time a block was built, with their digests once computed. After the digests
/// are computed the block is immutable.
#[derive(Debug, Default)]
struct Block {
    runs: Vec<Child>,
    digests: OnceLock<Box<[[u8; 32]]>>,
}

/// A copy is made in order to change it: it has room for one more change.
impl Clone for Runs {
    fn clone(&self) -> Self {
        let mut changes = Vec::new();
        // Most have no changes and get none, except on the path to a change.
        if !self.changes.is_empty() {
            changes.reserve_exact(self.changes.len() + 1);
            changes.extend_from_slice(&self.changes);
        }
        Runs { block: Arc::clone(&self.block), changes }
    }
}

impl From<Vec<Child>> for Runs {
    fn from(runs: Vec<Child>) -> Self {
        Runs { block: Arc::new(Block { runs, digests: OnceLock::new() }), changes: Vec::new() }
    }
}

impl Runs {
    pub(crate) fn len(&self) -> usize {
        self.block.runs.len()
    }

    /// Returns the run at a position.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&Child> {
        match self.changes.iter().find(|(changed, _)| *changed as usize == at) {
            Some((_, child)) => Some(child),
            None => self.block.runs.get(at),
        }
    }

    pub(super) fn last(&self) -> Option<&Child> {
        self.get(self.len().checked_sub(1)?)
    }

    pub(crate) fn iter(&self) -> RunsIter<'_> {
        RunsIter { runs: self.block.runs.iter().enumerate(), changes: self.changes.iter() }
    }

    /// Finds the run that contains an index, and makes the index relative to that run.
    pub(super) fn locate(&self, index: &mut usize) -> Option<usize> {
        self.iter().position(|child| {
            let count = child.count as usize;
            let here = *index < count;
            if !here {
                *index -= count;
            }
            here
        })
    }

    /// Returns the first position at which `holds` is false, and the number of rows before it.
    pub(super) fn partition_point(&self, mut holds: impl FnMut(&Child) -> bool) -> (usize, usize) {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            match self.get(middle) {
                Some(child) if holds(child) => from = middle + 1,
                _ => to = middle,
            }
        }
        (from, self.iter().take(from).map(|child| child.count as usize).sum())
    }

    /// Returns the run at a position for changing it. Call [`Child::refresh`] afterwards.
    pub(super) fn change(&mut self, at: usize) -> &mut Child {
        let key = u32::try_from(at).expect("rows are counted in 32 bits");
        let place = self.changes.binary_search_by_key(&key, |(changed, _)| *changed);
        let is_full = self.changes.len() == CHANGES;
        if self.is_own() || (place.is_err() && is_full) {
            return &mut self.own()[at];
        }
        let place = place.unwrap_or_else(|place| {
            self.changes.reserve_exact(1);
            self.changes.insert(place, (key, self.block.runs[at].clone()));
            place
        });
        &mut self.changes[place].1
    }

    /// Returns whether these runs are unshared and have no computed digests.
    fn is_own(&mut self) -> bool {
        self.changes.is_empty()
            && Arc::get_mut(&mut self.block).is_some_and(|block| block.digests.get().is_none())
    }

    /// Returns all runs for changing them freely.
    pub(super) fn own(&mut self) -> &mut Vec<Child> {
        if !self.is_own() {
            let mut runs = Vec::with_capacity(self.len() + 1);
            runs.extend(self.iter().cloned());
            *self = Runs::from(runs);
        }
        &mut Arc::get_mut(&mut self.block).expect("a new block has one owner").runs
    }

    /// Touches what a changed copy reads of previously changed runs: reference counts and digests.
    /// Brings them into the cache; the result has no meaning.
    pub(crate) fn touch_changes(&self) -> usize {
        self.changes.iter().fold(Arc::strong_count(&self.block), |seen, (_, child)| {
            let digest = child.run.digest.get().map_or(0, |digest| digest[0]);
            seen ^ Arc::strong_count(&child.run) ^ usize::from(digest)
        })
    }

    /// Returns the cached digests of the block.
    pub(crate) fn kept_digests(&self) -> &[[u8; 32]] {
        self.block.digests.get().map_or(&[], |digests| digests)
    }

    /// Returns the digests of all runs. Those of a finished run are cached, since it is unlikely to
    /// change.
    pub(crate) fn digests(
        &self,
        is_finished: bool,
        digest: impl Fn(&Run) -> [u8; 32],
    ) -> Cow<'_, [[u8; 32]]> {
        let all = || self.iter().map(|child| digest(&child.run));
        match (self.block.digests.get(), &self.changes[..]) {
            (Some(digests), []) => Cow::Borrowed(digests),
            (Some(digests), changes) => {
                let mut digests = digests.to_vec();
                for (at, child) in changes {
                    digests[*at as usize] = digest(&child.run);
                }
                Cow::Owned(digests)
            }
            (None, []) if is_finished => {
                Cow::Borrowed(self.block.digests.get_or_init(|| all().collect()))
            }
            (None, _) => Cow::Owned(all().collect()),
        }
    }
}

/// Iterates over runs, in order or in reverse.
#[derive(Clone, Debug)]
pub(crate) struct RunsIter<'a> {
    runs: iter::Enumerate<slice::Iter<'a, Child>>,
    changes: slice::Iter<'a, (u32, Child)>,
}

impl RunsIter<'_> {
    /// Number of runs fetched at once.
    pub(crate) const AHEAD: usize = 16;

    /// Brings the next runs into the cache, unless a hint excludes them. One by one, each would
    /// wait for memory; requested together, the waits overlap.
    pub(crate) fn fetch(&self, hint: Hint) {
        let ahead = self.clone().take(Self::AHEAD);
        let wanted = ahead.filter(|child| child.summary.may_have(hint.marks, hint.expires_by));
        black_box(wanted.fold(0, |rows, child| rows ^ child.run.touch()));
    }
}

impl<'a> Iterator for RunsIter<'a> {
    type Item = &'a Child;

    #[inline]
    fn next(&mut self) -> Option<&'a Child> {
        let (at, run) = self.runs.next()?;
        match self.changes.as_slice() {
            [(changed, child), ..] if *changed as usize == at => {
                self.changes.next();
                Some(child)
            }
            _ => Some(run),
        }
    }
}

impl DoubleEndedIterator for RunsIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (at, run) = self.runs.next_back()?;
        match self.changes.as_slice() {
            [.., (changed, child)] if *changed as usize == at => {
                self.changes.next_back();
                Some(child)
            }
            _ => Some(run),
        }
    }
}
