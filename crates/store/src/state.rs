//! A context as it is at one revision.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use contextree_canon::record::Subject;
use contextree_engine::{
    Attempt, Restore, Snapshot, SnapshotAddress, SnapshotError, Tail, Working,
};
use contextree_tree::{Cycle, Log};

use crate::backend::Backend;
use crate::calls;
use crate::checkpoint::Spacing;
use crate::error::{ReadError, Result, StoreError};
use crate::load::Place;
use crate::past::{Part, Past};
use crate::rows::{ContextId, ContextRow, Revision, SideChange, SideRecord, Stretch};
use crate::settings::ContextSettings;

/// How often something is read again because another process wrote at the same time.
const TRIES: usize = 100;

/// A context at one revision: immutable, and shared by everyone in the process who reads it.
///
/// Only the row and the journal are read when it is opened. Snapshots and the working state follow when they are first
/// asked for, once for all readers; snapshots never change, so what is read later still belongs to this revision.
pub(crate) struct State {
    pub(crate) row: ContextRow,
    pub(crate) settings: Arc<ContextSettings>,
    backend: Arc<dyn Backend>,
    lineage: Arc<[Stretch]>,
    /// The entries since the last commit, as they are stored.
    pub(crate) journal: Log<Vec<u8>>,
    /// The call that is running, as it is stored.
    running: Option<Arc<SideRecord>>,
    newest: OnceLock<Newest>,
    working: OnceLock<Working>,
    attempts: OnceLock<Vec<Attempt>>,
    past: Arc<Past>,
    /// Held while `newest`, `working` or `attempts` is loaded, so that each is loaded once.
    loading: Mutex<()>,
}

/// The newest snapshots, and what reading them cost.
#[derive(Clone)]
pub(crate) struct Newest {
    pub(crate) tail: Arc<Tail>,
    pub(crate) spacing: Spacing,
}

impl State {
    /// Opens a context.
    pub(crate) fn open(backend: &Arc<dyn Backend>, name: &str) -> Result<State> {
        let not_found = || StoreError::NotFound { context: name.to_owned() };
        let mut row = crate::names::find(&**backend, name)?.ok_or_else(not_found)?;
        for _ in 0..TRIES {
            let lineage = backend.lineage(row.branch)?;
            // Read before the journal, which tells the revision: if that is the row's, this is of it, too.
            let mut running = backend.side_records(row.id, Some(calls::KIND))?;
            let (revision, journal) = backend.journal(row.id)?;
            if revision == row.revision {
                let settings = Arc::new(ContextSettings::from_json(&row.settings)?);
                let mut entries = Log::default();
                journal.into_iter().for_each(|entry| entries.push(entry));
                let lineage = lineage.into();
                if running.len() > 1 {
                    return Err(StoreError::Corrupt {
                        record: format!("context {name}"),
                        message: "it has more than one running call".to_owned(),
                    });
                }
                let running = running.pop().map(Arc::new);
                let state = State::new(row, settings, Arc::clone(backend), lineage, entries);
                return Ok(State { running, ..state });
            }
            let now = crate::names::find(&**backend, name)?.ok_or_else(not_found)?;
            if (now.id, now.revision) == (row.id, row.revision) {
                return Err(StoreError::Corrupt {
                    record: format!("context {name}"),
                    message: "its journal belongs to another revision".to_owned(),
                });
            }
            row = now;
        }
        Err(StoreError::Busy {
            message: format!("other processes write to `{name}` without a pause"),
        })
    }

    fn new(
        row: ContextRow,
        settings: Arc<ContextSettings>,
        backend: Arc<dyn Backend>,
        lineage: Arc<[Stretch]>,
        journal: Log<Vec<u8>>,
    ) -> State {
        State {
            row,
            settings,
            backend,
            lineage,
            journal,
            running: None,
            newest: OnceLock::new(),
            working: OnceLock::new(),
            attempts: OnceLock::new(),
            past: Arc::default(),
            loading: Mutex::new(()),
        }
    }

    /// Returns the state of a context that was packed away.
    pub(crate) fn unpacked(
        row: ContextRow,
        settings: Arc<ContextSettings>,
        backend: Arc<dyn Backend>,
        lineage: Arc<[Stretch]>,
        newest: Newest,
    ) -> State {
        let state = State::new(row, settings, backend, lineage, Log::default());
        State { newest: OnceLock::from(newest), ..state }
    }

    /// Returns the state after a step.
    pub(crate) fn after(
        &self,
        row: ContextRow,
        newest: Newest,
        journal: &Log<Vec<u8>>,
        side: &[SideChange],
    ) -> State {
        let mut running = self.running.clone();
        for SideChange { kind, key, value } in side.iter().filter(|it| it.kind == calls::KIND) {
            let (kind, key) = (kind.clone(), key.clone());
            running = value.clone().map(|value| Arc::new(SideRecord { kind, key, value }));
        }
        let past = if self.past.is_large() { Arc::default() } else { Arc::clone(&self.past) };
        let state = State::new(
            row,
            Arc::clone(&self.settings),
            Arc::clone(&self.backend),
            Arc::clone(&self.lineage),
            journal.fork(journal.len()),
        );
        State { newest: OnceLock::from(newest), past, running, ..state }
    }

    /// Returns the state after the settings changed.
    pub(crate) fn with_settings(&self, row: ContextRow, settings: ContextSettings) -> State {
        State { row, settings: Arc::new(settings), ..self.without_past() }
    }

    /// Returns the same state without the older snapshots that were fetched for it.
    pub(crate) fn without_past(&self) -> State {
        let state = State::new(
            self.row.clone(),
            Arc::clone(&self.settings),
            Arc::clone(&self.backend),
            Arc::clone(&self.lineage),
            self.journal.fork(self.journal.len()),
        );
        State {
            newest: self.newest.clone(),
            working: self.working.clone(),
            running: self.running.clone(),
            ..state
        }
    }

    pub(crate) fn has_large_past(&self) -> bool {
        self.past.is_large()
    }

    pub(crate) fn is_at(&self, id: ContextId, revision: Revision) -> bool {
        (self.row.id, self.row.revision) == (id, revision)
    }

    pub(crate) fn lineage(&self) -> &Arc<[Stretch]> {
        &self.lineage
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { backend: &*self.backend, name: &self.row.name, lineage: &self.lineage }
    }

    pub(crate) fn snapshot_count(&self) -> usize {
        usize::try_from(self.row.snapshots).unwrap_or(usize::MAX)
    }

    pub(crate) fn loaded_snapshots(&self) -> usize {
        let newest = self.newest.get().map_or(0, |newest| newest.tail.history().len());
        newest + self.past.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ()> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest snapshots, if they are loaded.
    pub(crate) fn loaded(&self) -> Option<&Newest> {
        self.newest.get()
    }

    /// Returns the newest snapshots.
    pub(crate) fn newest(&self) -> Result<&Newest> {
        if let Some(newest) = self.newest.get() {
            return Ok(newest);
        }
        let _loading = self.lock();
        if let Some(newest) = self.newest.get() {
            return Ok(newest);
        }
        let newest = self.steady(|| self.load_newest())?;
        Ok(self.newest.get_or_init(|| newest))
    }

    fn load_newest(&self) -> Result<Newest> {
        let last = self.row.head.map_or(Cycle::MAX, |head| head.cycle);
        let mut window = self.place().window(last, last)?;
        let found = window.restore.newest().map(|head| (head.cycle(), head.digest().0));
        if found != self.row.head.map(|head| (head.cycle, head.digest)) {
            return Err(StoreError::Corrupt {
                record: format!("context {}", self.row.name),
                message: "its newest snapshot is not the one that it names".to_owned(),
            });
        }
        let loaded = window.restore.len();
        window.restore.set_skipped(self.snapshot_count().saturating_sub(loaded));
        let spacing = Spacing { checkpoint: window.checkpoint_bytes, since: window.since };
        Ok(Newest { tail: Arc::new(window.restore.into_tail()), spacing })
    }

    /// Reads again what looks damaged, if retention rewrote the history at the same time. A state that is no longer the newest may be of
    /// snapshots that retention has removed since: that is a conflict, not damage.
    fn steady<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        let mut before = self.row.revision;
        for _ in 0..TRIES {
            let result = read();
            let Err(StoreError::Corrupt { .. }) = &result else { return result };
            match self.backend.find(&self.row.name)? {
                Some(now) if now.id == self.row.id && now.revision != before => {
                    before = now.revision;
                }
                Some(now) if now.id == self.row.id && now.revision != self.row.revision => {
                    return Err(self.outdated(&now));
                }
                _ => return result,
            }
        }
        read()
    }

    fn outdated(&self, now: &ContextRow) -> StoreError {
        let (context, expected) = (self.row.name.clone(), self.row.revision);
        StoreError::Conflict { context, expected, found: now.revision, head: now.head }
    }

    fn is_outdated(&self) -> Result<bool> {
        let now = self.backend.find(&self.row.name)?;
        Ok(now.is_none_or(|now| !self.is_at(now.id, now.revision)))
    }

    /// Returns the working state, from `shared` if that has it, otherwise from the journal.
    pub(crate) fn working(&self, shared: impl FnOnce() -> Option<Working>) -> Result<&Working> {
        if let Some(working) = self.working.get() {
            return Ok(working);
        }
        if let Some(working) = shared() {
            return Ok(self.working.get_or_init(|| working));
        }
        let tail = &self.newest()?.tail;
        let _loading = self.lock();
        if let Some(working) = self.working.get() {
            return Ok(working);
        }
        let mut restore = tail.resume_reading();
        self.place().rest(&mut restore, self.running(), self.journal.iter(), None)?;
        let working = restore.share_working();
        Ok(self.working.get_or_init(|| working))
    }

    /// Returns the call that is running, as it is stored.
    pub(crate) fn running(&self) -> Option<&SideRecord> {
        self.running.as_deref()
    }

    /// Restores the working state with the call that is running.
    pub(crate) fn restore_working(&self) -> Result<Restore> {
        let mut restore = self.newest()?.tail.resume_reading();
        self.place().rest(&mut restore, self.running(), self.journal.iter(), None)?;
        Ok(restore)
    }

    /// Returns the attempts, from `shared` if that has them, otherwise from the store.
    pub(crate) fn attempts(
        &self,
        shared: impl FnOnce() -> Option<Vec<Attempt>>,
    ) -> Result<&[Attempt]> {
        if let Some(attempts) = self.attempts.get() {
            return Ok(attempts);
        }
        let attempts = match shared() {
            Some(attempts) => attempts,
            None => self.read_attempts()?,
        };
        Ok(self.attempts.get_or_init(|| attempts))
    }

    pub(crate) fn read_attempts(&self) -> Result<Vec<Attempt>> {
        self.backend.attempts(self.row.id)?.iter().map(crate::attempts::from_row).collect()
    }

    /// Returns the oldest snapshot that is known without asking the store: its cycle and its position.
    fn edge(&self) -> Option<(Cycle, usize)> {
        if let Some(newest) = self.newest.get() {
            let oldest = newest.tail.history().get(0)?;
            return Some((oldest.cycle(), newest.tail.skipped()));
        }
        Some((self.row.head?.cycle, self.snapshot_count().checked_sub(1)?))
    }

    /// Returns the cycle of the snapshot at a position.
    pub(crate) fn cycle_at(&self, position: usize) -> Result<Option<Cycle>> {
        let Some((oldest, skipped)) = self.edge() else { return Ok(None) };
        if position >= skipped {
            if let Some(newest) = self.newest.get() {
                return Ok(newest.tail.history().get(position - skipped).map(Snapshot::cycle));
            }
            return Ok((position == skipped).then_some(oldest));
        }
        if let Some(snapshot) = self.get(position) {
            return Ok(Some(snapshot.cycle()));
        }
        let place = self.place();
        let count = |cycle: Cycle| place.count(cycle).map(|count| count as usize);
        // Numbers follow each other, except where foreign snapshots were imported or retention removed some.
        let back = u32::try_from(skipped - position).unwrap_or(u32::MAX);
        if let Some(guess) = oldest.get().checked_sub(back).map(Cycle)
            && count(guess)? == position + 1
            && guess.checked_previous().map_or(Ok(0), count)? == position
        {
            return Ok(Some(guess));
        }
        let (mut low, mut high) = (Cycle::ZERO, oldest);
        while low < high {
            let middle = low.plus(high.since(low) / 2);
            if count(middle)? > position {
                high = middle;
            } else {
                low = middle.next();
            }
        }
        Ok((low < oldest).then_some(low))
    }

    /// Returns the position of the first snapshot with at least this cycle.
    pub(crate) fn position_of(&self, cycle: Cycle) -> Result<usize> {
        let Some((oldest, skipped)) = self.edge() else { return Ok(0) };
        if cycle < oldest {
            let before =
                cycle.checked_previous().map_or(Ok(0), |before| self.place().count(before))?;
            return Ok(usize::try_from(before).unwrap_or(usize::MAX).min(skipped));
        }
        let Some(newest) = self.newest.get() else {
            return Ok(skipped + usize::from(cycle > oldest));
        };
        let history = newest.tail.history();
        let (mut low, mut high) = (0, history.len());
        while low < high {
            let middle = low.midpoint(high);
            match history.get(middle) {
                Some(snapshot) if snapshot.cycle() < cycle => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(skipped + low)
    }

    /// Returns the position of the snapshot at an address.
    pub(crate) fn locate(&self, address: SnapshotAddress) -> Result<usize, ReadError> {
        let found = match address {
            SnapshotAddress::Back(back) => {
                let last = self.row.snapshots.checked_sub(1);
                let position = last.and_then(|last| last.checked_sub(back));
                position.and_then(|position| usize::try_from(position).ok())
            }
            SnapshotAddress::Cycle(cycle) => match u32::try_from(cycle).map(Cycle) {
                Ok(cycle) => {
                    let position = self.position_of(cycle)?;
                    (self.cycle_at(position)? == Some(cycle)).then_some(position)
                }
                Err(_) => None,
            },
        };
        match found {
            Some(position) => Ok(position),
            None => Err(self.not_found(address)?),
        }
    }

    fn not_found(&self, address: SnapshotAddress) -> Result<ReadError> {
        let oldest = self.cycle_at(0)?;
        let newest = self.row.head.map(|head| head.cycle);
        let is_retired = match address {
            SnapshotAddress::Back(_) => self.is_retired(Cycle::ZERO)?,
            SnapshotAddress::Cycle(cycle) => {
                u32::try_from(cycle).map_or(Ok(false), |cycle| self.is_retired(Cycle(cycle)))?
            }
        };
        if let (SnapshotAddress::Cycle(cycle), Some(head)) = (&address, newest)
            && *cycle <= u64::from(head)
        {
            self.check_commits(head)?;
        }
        let address = address.to_string();
        Ok(ReadError::Snapshot(match is_retired {
            true => SnapshotError::Retired { address, oldest, newest },
            false => SnapshotError::NotFound { address, oldest, newest },
        }))
    }

    /// Fails if damage hides a commit: then it is not said that a snapshot was removed, or never there. Reads all of them, which is rare.
    fn check_commits(&self, head: Cycle) -> Result<()> {
        let mut found = 0;
        self.place().commits(Cycle::ZERO, head, &mut |commit| {
            found += u64::from(commit.effects.is_some());
            Ok(())
        })?;
        // Positions are counted by an index, which may be damaged alone.
        let counted = self.place().count(head)?;
        let snapshots = self.row.snapshots;
        if (found == snapshots && counted == snapshots) || self.is_outdated()? {
            return Ok(());
        }
        Err(self.place().miscounted(found.min(counted), snapshots))
    }

    /// Returns whether retention removed the snapshot of a cycle, or for [`Cycle::ZERO`] whether it removed any before the oldest that is
    /// left. Numbers that a foreign history left out were never there: the next commit names the one before it.
    pub(crate) fn is_retired(&self, cycle: Cycle) -> Result<bool> {
        let position = self.position_of(cycle)?;
        let Some(next) = self.cycle_at(position)? else { return Ok(false) };
        let mut previous = None;
        let place = self.place();
        place.commits(next, next, &mut |commit| {
            let record = format!("commit @c{next}");
            if let Some(effects) = &commit.effects
                && let Subject::Commit { previous: before, .. } =
                    place.read_effects(&record, effects)?.subject
            {
                previous = before;
            }
            Ok(())
        })?;
        let before = position.checked_sub(1).map_or(Ok(None), |before| self.cycle_at(before))?;
        Ok(previous.is_some_and(|previous| previous >= cycle) && previous != before)
    }

    /// Returns a snapshot by its position, if it is in memory.
    fn get(&self, position: usize) -> Option<&Snapshot> {
        let tail = self.newest.get().map(|newest| &newest.tail);
        let newest = tail.and_then(|tail| {
            let snapshot = tail.history().get(position.checked_sub(tail.skipped())?)?;
            Some((snapshot, tail.history().len()))
        });
        match (newest, self.past.longest(position)) {
            (Some((snapshot, length)), Some(part)) if length >= part.len() => Some(snapshot),
            (_, Some(part)) => part.get(position),
            (newest, None) => newest.map(|(snapshot, _)| snapshot),
        }
    }

    /// Returns a snapshot by its position.
    pub(crate) fn find(&self, position: usize) -> Result<Option<&Snapshot>> {
        if let Some(snapshot) = self.get(position) {
            return Ok(Some(snapshot));
        }
        if position >= self.snapshot_count() {
            return Ok(None);
        }
        if position + 1 == self.snapshot_count() {
            return Ok(self.newest()?.tail.newest());
        }
        Ok(self.past_part(position, position)?.and_then(|part| part.get(position)))
    }

    fn past_part(&self, first: usize, last: usize) -> Result<Option<&Part>> {
        self.past.find_or_fetch(first, last, || {
            self.steady(|| {
                let (Some(from), Some(upto)) = (self.cycle_at(first)?, self.cycle_at(last)?) else {
                    return Ok(None);
                };
                // Retention removed snapshots since: positions count only those that are left.
                let head = self.row.head.map_or(Cycle::MAX, |head| head.cycle);
                let counted = self.place().count(head)?;
                if counted != self.row.snapshots {
                    return match self.is_outdated()? {
                        true => Ok(None),
                        false => Err(self.place().miscounted(counted, self.row.snapshots)),
                    };
                }
                let snapshots = self.place().window(from, upto)?.restore.into_history();
                let (found, expected) = (snapshots.len(), last + 1 - first);
                if found != expected {
                    return Err(self.place().miscounted(found as u64, expected as u64));
                }
                Ok(Some(Part::new((last + 1).saturating_sub(snapshots.len()), snapshots)))
            })
        })
    }

    /// Brings the snapshots between two positions into memory together, so that they share what they have in common.
    pub(crate) fn prefetch(&self, first: usize, last: usize) -> Result<()> {
        self.pair(first, last).map(drop)
    }

    /// Returns two snapshots that share what they have in common.
    pub(crate) fn pair(&self, first: usize, last: usize) -> Result<Option<(&Snapshot, &Snapshot)>> {
        if let Some(Newest { tail, .. }) = self.newest.get() {
            let get = |position: usize| tail.history().get(position.checked_sub(tail.skipped())?);
            if let (Some(first), Some(last)) = (get(first), get(last)) {
                return Ok(Some((first, last)));
            }
        }
        if first == last {
            return Ok(self.find(first)?.map(|found| (found, found)));
        }
        let part = self.past_part(first, last)?;
        Ok(part.and_then(|part| Some((part.get(first)?, part.get(last)?))))
    }
}
