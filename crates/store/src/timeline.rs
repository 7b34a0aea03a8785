//! A context out of a store, as a timeline: older snapshots are fetched when a selector addresses them.

use std::sync::{Arc, OnceLock};

use contextree_engine::{Context, Snapshot};
use contextree_query::{Moment, Timeline};
use contextree_tree::{Log, TreeRef};

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::load::Place;
use crate::pool::State;
use crate::rows::Stretch;

/// A retained snapshot takes about as much memory as so many nodes.
const NODES_OF_A_SNAPSHOT: usize = 8;

/// A context and the parts of its history that were fetched so far.
pub(crate) struct Loaded {
    pub(crate) context: Context,
    past: Past,
}

/// A context at rest, and where its history is.
pub(crate) struct Resting {
    context: contextree_engine::Resting,
    lineage: Vec<Stretch>,
}

impl Resting {
    pub(crate) fn bytes(&self) -> usize {
        self.context.bytes()
    }

    /// Wakes it up.
    pub(crate) fn wake(self, backend: Arc<dyn Backend>, name: String) -> Result<Loaded> {
        let context = self.context.wake().map_err(|error| StoreError::Backend {
            message: format!("a context did not wake up: {error}"),
        })?;
        Ok(Loaded::new(context, backend, name, self.lineage))
    }
}

/// Older parts of a history. Only grows, so that what was handed out stays.
struct Past {
    backend: Arc<dyn Backend>,
    name: String,
    lineage: Vec<Stretch>,
    first: OnceLock<Box<Part>>,
    /// The first thing that went wrong while a selector was answered. The answer is not given then.
    failure: OnceLock<StoreError>,
}

/// Snapshots that follow each other.
struct Part {
    /// The position of the first one in the whole history.
    start: usize,
    snapshots: Log<Snapshot>,
    next: OnceLock<Box<Part>>,
}

impl Part {
    fn get(&self, position: usize) -> Option<&Snapshot> {
        self.snapshots.get(position.checked_sub(self.start)?)
    }
}

impl Loaded {
    pub(crate) fn new(
        context: Context,
        backend: Arc<dyn Backend>,
        name: String,
        lineage: Vec<Stretch>,
    ) -> Self {
        let past =
            Past { backend, name, lineage, first: OnceLock::new(), failure: OnceLock::new() };
        Loaded { context, past }
    }

    /// Forgets the older parts.
    pub(crate) fn forget(&mut self) {
        self.past.first = OnceLock::new();
        self.past.failure = OnceLock::new();
    }

    /// Lays the context to rest, if it can.
    pub(crate) fn rest(self) -> State {
        let Loaded { context, past } = self;
        match context.rest() {
            Ok(context) => State::Resting(Box::new(Resting { context, lineage: past.lineage })),
            Err(context) => State::Awake(Box::new(Loaded { context: *context, past })),
        }
    }

    /// Lets snapshots of the context go that take more memory than the newest one, so that a context in use takes a few times what it
    /// says, whatever its history. `most` is how many may stay anyway.
    pub(crate) fn compact(&mut self, most: usize) {
        let snapshots = self.context.history().len();
        let nodes = self.context.working().node_count();
        if snapshots > most && snapshots * NODES_OF_A_SNAPSHOT > nodes {
            self.context.forget_history();
        }
    }

    pub(crate) fn lineage(&self) -> &[Stretch] {
        &self.past.lineage
    }

    /// Returns what went wrong since the last call.
    pub(crate) fn take_failure(&mut self) -> Result<()> {
        self.past.failure.take().map_or(Ok(()), Err)
    }

    pub(crate) fn failure(&self) -> Option<&StoreError> {
        self.past.failure.get()
    }

    fn place(&self) -> Place<'_> {
        Place { backend: &*self.past.backend, name: &self.past.name, lineage: &self.past.lineage }
    }

    /// Returns the cycle of the snapshot at a position before the loaded ones.
    pub(crate) fn cycle_at(&self, position: usize) -> Result<Option<u32>> {
        let place = self.place();
        let count = |cycle: u32| place.count(cycle).map(|count| count as usize);
        // Numbers follow each other, except where foreign snapshots were imported or retention let some go.
        let oldest = self.context.history().get(0).map_or(u32::MAX, Snapshot::cycle);
        let back = u32::try_from(self.context.skipped() - position).unwrap_or(u32::MAX);
        if let Some(guess) = oldest.checked_sub(back)
            && count(guess)? == position + 1
            && guess.checked_sub(1).map_or(Ok(0), count)? == position
        {
            return Ok(Some(guess));
        }
        let (mut low, mut high) = (0_u32, oldest);
        while low < high {
            let middle = low.midpoint(high);
            if count(middle)? > position {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok((low < oldest).then_some(low))
    }

    /// Fetches the snapshots at these positions, all before the loaded ones, in one part: they share what they have in common.
    pub(crate) fn fetch(&self, first: usize, last: usize) -> Result<()> {
        let mut slot = &self.past.first;
        while let Some(part) = slot.get() {
            if part.get(first).is_some() && part.get(last).is_some() {
                return Ok(());
            }
            slot = &part.next;
        }
        let (Some(from), Some(upto)) = (self.cycle_at(first)?, self.cycle_at(last)?) else {
            return Ok(());
        };
        let window = self.place().window(from, upto)?;
        let snapshots = window.restore.into_history();
        let start = (last + 1).saturating_sub(snapshots.len());
        slot.get_or_init(|| Box::new(Part { start, snapshots, next: OnceLock::new() }));
        Ok(())
    }

    /// Returns a snapshot by its position, if it is in memory.
    pub(crate) fn get(&self, position: usize) -> Option<&Snapshot> {
        if let Some(index) = position.checked_sub(self.context.skipped()) {
            return self.context.history().get(index);
        }
        let mut slot = &self.past.first;
        while let Some(part) = slot.get() {
            if let Some(snapshot) = part.get(position) {
                return Some(snapshot);
            }
            slot = &part.next;
        }
        None
    }

    /// Returns a snapshot by its position, fetching it if needed.
    pub(crate) fn find(&self, position: usize) -> Result<Option<&Snapshot>> {
        if position < self.context.skipped() && self.get(position).is_none() {
            self.fetch(position, position)?;
        }
        Ok(self.get(position))
    }

    /// Returns the position of the first snapshot with at least this cycle.
    pub(crate) fn position_of(&self, cycle: u32) -> Result<usize> {
        let is_loaded = self.context.history().get(0).is_some_and(|oldest| oldest.cycle() <= cycle);
        if self.context.skipped() == 0 || is_loaded {
            return Ok(self.context.position_of_cycle(i64::from(cycle)));
        }
        let before = cycle.checked_sub(1).map_or(Ok(0), |before| self.place().count(before))?;
        Ok(usize::try_from(before).unwrap_or(usize::MAX).min(self.context.skipped()))
    }

    fn note<T: Default>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.past.failure.get_or_init(|| error);
            T::default()
        })
    }
}

impl Timeline for Loaded {
    fn snapshot_count(&self) -> usize {
        self.context.snapshot_count()
    }

    fn snapshot(&self, position: usize) -> Option<Moment<'_>> {
        let snapshot = self.note(self.find(position))?;
        Some(Moment { cycle: snapshot.cycle(), tree: snapshot.view() })
    }

    fn working(&self) -> Option<TreeRef<'_>> {
        Some(self.context.working())
    }

    fn position_of_cycle(&self, cycle: i64) -> usize {
        match u32::try_from(cycle) {
            Ok(cycle) => self.note(self.position_of(cycle)),
            Err(_) if cycle < 0 => 0,
            Err(_) => self.snapshot_count(),
        }
    }
}
