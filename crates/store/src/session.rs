//! An open context.

use std::sync::Arc;

use contextree_canon::record::read_effects;
use contextree_engine::{
    CommitReport, Context, Snapshot, SnapshotAddress, SnapshotError, report_of,
};
use contextree_query::resolved::At;
use contextree_query::{
    Answer, Explanation, QueryError, SelectOptions, explain, resolve, select_parsed,
};
use contextree_selector::{Edition, parse};
use contextree_tree::diff::{self, Diff};

use crate::attempts;
use crate::calls;
use crate::checkpoint::{Spacing, checkpoint_of, places};
use crate::error::{ReadError, Result, StoreError};
use crate::load::{Opened, Place, open};
use crate::packed::pack;
use crate::pool::{Parked, State};
use crate::rows::{Commit, ContextRow, Head, Pin, Step};
use crate::settings::ContextSettings;
use crate::store::Shared;
use crate::timeline::Loaded;

/// So many snapshots of a session's own may stay in memory, even if the newest one is small.
const SNAPSHOTS: usize = 256;

/// An open context: read it, and change it in durable steps.
///
/// What it shows is the context as it was when it was opened, last refreshed or last written to. Somebody else may have written since; then
/// a write fails with `E_CONFLICT`, and [`Session::update`] tries again.
pub struct Session {
    shared: Arc<Shared>,
    row: ContextRow,
    settings: ContextSettings,
    /// Nothing if what is in memory is not what is stored; it is read again when it is needed.
    loaded: Option<Loaded>,
    spacing: Spacing,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("row", &self.row).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn open(shared: Arc<Shared>, name: &str, first: Option<u32>) -> Result<Session> {
        if first.is_none()
            && let Some(parked) = shared.pool.take(name)
            && let Some(row) = shared.backend.find(name)?
            && (row.id, row.revision) == (parked.row.id, parked.row.revision)
        {
            let Parked { row, settings, state, spacing } = parked;
            let loaded = match state {
                State::Awake(loaded) => *loaded,
                State::Resting(resting) => {
                    resting.wake(Arc::clone(&shared.backend), row.name.clone())?
                }
            };
            return Ok(Session { shared, row, settings, loaded: Some(loaded), spacing });
        }
        let opened = open(&*shared.backend, name, first, &|row| shared.options(row))?;
        Session::of(shared, opened)
    }

    fn of(shared: Arc<Shared>, opened: Opened) -> Result<Session> {
        let settings = ContextSettings::from_json(&opened.row.settings)?;
        let loaded = Loaded::new(
            opened.context,
            Arc::clone(&shared.backend),
            opened.row.name.clone(),
            opened.lineage,
        );
        let spacing = Spacing { checkpoint: opened.checkpoint_bytes, since: opened.since };
        Ok(Session { shared, row: opened.row, settings, loaded: Some(loaded), spacing })
    }

    /// Returns the context's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// Returns the context's row in the store, as this session knows it.
    #[must_use]
    pub fn row(&self) -> &ContextRow {
        &self.row
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &ContextSettings {
        &self.settings
    }

    fn loaded(&mut self) -> Result<&mut Loaded> {
        if self.loaded.is_none() {
            self.reload(None)?;
        }
        self.loaded.as_mut().ok_or_else(|| StoreError::Backend {
            message: "the context could not be read".to_owned(),
        })
    }

    fn reload(&mut self, first: Option<u32>) -> Result<()> {
        let name = self.row.name.clone();
        // What is in memory is not to be kept for others: it is replaced because it is not what it should be.
        self.loaded = None;
        *self = Session::open(Arc::clone(&self.shared), &name, first)?;
        Ok(())
    }

    /// Returns the context: the working state, and the newest part of the history. Older snapshots are there too, but through this
    /// session: [`Session::snapshot`], [`Session::select`], [`Session::diff`].
    ///
    /// # Errors
    ///
    /// It had to be read again, and could not be.
    pub fn context(&mut self) -> Result<&Context> {
        Ok(&self.loaded()?.context)
    }

    /// Follows what others wrote; true if there was something.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the context was deleted.
    pub fn refresh(&mut self) -> Result<bool> {
        let row = self.shared.backend.find(&self.row.name)?;
        let row = row.ok_or_else(|| StoreError::NotFound { context: self.row.name.clone() })?;
        let is_same = row.id == self.row.id && row.revision == self.row.revision;
        if is_same && self.loaded.is_some() {
            return Ok(false);
        }
        self.reload(None)?;
        Ok(!is_same)
    }

    /// Changes the context in one durable step: whatever the closure does, operations, batches, commits, is stored together, or
    /// nothing of it is. When this returns, it is durable.
    ///
    /// # Errors
    ///
    /// The closure's own, and those of the store; the context is as before. `E_CONFLICT` if somebody else wrote since this session last
    /// looked.
    pub fn write<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&mut Context) -> Result<T, E>,
    ) -> Result<T, E> {
        let result = change(&mut self.loaded()?.context);
        let records = self.loaded()?.context.take_records();
        let value = match result {
            Ok(value) => value,
            Err(error) => {
                // What was done before it failed must not stay.
                if !records.is_empty() {
                    self.loaded = None;
                }
                return Err(error);
            }
        };
        if records.is_empty() {
            return Ok(value);
        }
        if let Err(error) = self.store(records) {
            self.loaded = None;
            return Err(error.into());
        }
        Ok(value)
    }

    /// As [`Session::write`], and tries again on the newest state if somebody else was faster. The closure may run more than once.
    ///
    /// # Errors
    ///
    /// See [`Session::write`]; `E_CONFLICT` only if others are faster for very long.
    pub fn update<T, E: From<StoreError> + AsConflict>(
        &mut self,
        mut change: impl FnMut(&mut Context) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = 0;
        loop {
            match self.write(&mut change) {
                Err(error) if error.is_conflict() && tries < self.shared.tries => {
                    tries += 1;
                    self.refresh()?;
                }
                result => return result,
            }
        }
    }

    /// Changes the settings, durably.
    ///
    /// # Errors
    ///
    /// See [`Session::write`].
    pub fn set_settings(&mut self, settings: ContextSettings) -> Result<()> {
        let step = Step { settings: Some(settings.to_json()), ..self.shared.step() };
        self.row = self.append(&step)?;
        self.loaded = None;
        self.settings = settings;
        Ok(())
    }

    fn store(&mut self, records: contextree_engine::Records) -> Result<()> {
        let mut step = self.shared.step();
        let mut written = 0;
        calls::add_work(&mut step, &records);
        for commit in records.commits {
            step.head = Some(Head { cycle: commit.cycle, digest: commit.digest.0 });
            written += (commit.record.effects.len() + commit.record.bodies.len()) as u64;
            step.contents.extend(commit.record.shared.iter().map(pack));
            step.commits.push(Commit {
                cycle: commit.cycle,
                effects: Some(commit.record.effects),
                bodies: commit.record.bodies,
            });
        }
        step.attempts = records.attempts.iter().map(attempts::to_row).collect();
        self.row = self.append(&step)?;
        self.spacing.since += written;
        if written > 0 && self.spacing.is_due() {
            // It only makes opening faster. If it cannot be written now, the next commit tries again.
            let _ = self.checkpoint();
        }
        if let Some(loaded) = &mut self.loaded {
            loaded.compact(SNAPSHOTS);
        }
        Ok(())
    }

    fn append(&self, step: &Step) -> Result<ContextRow> {
        self.shared.insist(|backend| backend.append(self.row.id, self.row.revision, step))
    }

    /// Writes a checkpoint of the newest snapshot, so that opening it later reads no more than it. Done by itself from time to time.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub fn checkpoint(&mut self) -> Result<()> {
        let (name, snapshots, branch) =
            (self.row.name.clone(), self.row.snapshots, self.row.branch);
        let backend = Arc::clone(&self.shared.backend);
        let loaded = self.loaded()?;
        let Some(head) = loaded.context.head() else { return Ok(()) };
        let place = Place { backend: &*backend, name: &name, lineage: loaded.lineage() };
        let places = places(&place, head.cycle())?;
        let (checkpoint, size) = checkpoint_of(head, snapshots, &places);
        backend.add_checkpoint(branch, &checkpoint)?;
        self.spacing = Spacing { checkpoint: size, since: 0 };
        Ok(())
    }

    /// Returns the snapshot at an address, of any age.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read. The present is never returned in place of the past.
    pub fn snapshot(&mut self, address: SnapshotAddress) -> Result<&Snapshot, ReadError> {
        let position = self.position(address)?;
        let not_found = || SnapshotError::NotFound {
            address: address.to_string(),
            oldest: None,
            newest: self.row.head.map(|head| head.cycle),
        };
        let not_found = not_found();
        Ok(self.loaded()?.find(position)?.ok_or(not_found)?)
    }

    fn position(&mut self, address: SnapshotAddress) -> Result<usize, ReadError> {
        let (snapshots, newest) = (self.row.snapshots, self.row.head.map(|head| head.cycle));
        let loaded = self.loaded()?;
        let found = match address {
            SnapshotAddress::Back(back) => {
                let position = snapshots.checked_sub(1).and_then(|last| last.checked_sub(back));
                position.and_then(|position| usize::try_from(position).ok())
            }
            SnapshotAddress::Cycle(cycle) => match u32::try_from(cycle) {
                Ok(cycle) => {
                    let position = loaded.position_of(cycle)?;
                    let found = loaded.find(position)?;
                    found.filter(|snapshot| snapshot.cycle() == cycle).map(|_| position)
                }
                Err(_) => None,
            },
        };
        match found {
            Some(position) => Ok(position),
            None => {
                let oldest = loaded.find(0)?.map(Snapshot::cycle);
                let address = address.to_string();
                Err(SnapshotError::NotFound { address, oldest, newest }.into())
            }
        }
    }

    /// Returns two snapshots that share what they have in common, the older first.
    fn two(
        &mut self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<(&Snapshot, &Snapshot), ReadError> {
        let (left, right) = (self.position(left)?, self.position(right)?);
        let (older, newer) = (left.min(right), left.max(right));
        self.bring(older, newer)?;
        let loaded = self.loaded()?;
        let missing = || {
            ReadError::Store(StoreError::Backend {
                message: "a snapshot went while it was read".to_owned(),
            })
        };
        let older = loaded.get(older).ok_or_else(missing)?;
        Ok((older, loaded.get(newer).ok_or_else(missing)?))
    }

    /// Brings the snapshots between two positions into memory, in one piece.
    fn bring(&mut self, first: usize, last: usize) -> Result<()> {
        let loaded = self.loaded()?;
        let skipped = loaded.context.skipped();
        if first >= skipped {
            return Ok(());
        }
        if last < skipped {
            return loaded.fetch(first, last);
        }
        let cycle = loaded.cycle_at(first)?.unwrap_or(0);
        self.reload(Some(cycle))
    }

    /// Returns what changed between two snapshots of any age, from the older to the newer one.
    ///
    /// # Errors
    ///
    /// One of them does not exist, or cannot be read.
    pub fn diff(
        &mut self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<Diff, ReadError> {
        let (older, newer) = self.two(left, right)?;
        Ok(diff::diff(older.view(), newer.view()))
    }

    /// As [`Session::diff`], with values, parents and children.
    ///
    /// # Errors
    ///
    /// One of them does not exist, or cannot be read.
    pub fn changes(
        &mut self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<diff::Changes, ReadError> {
        let (older, newer) = self.two(left, right)?;
        Ok(diff::changes(older.view(), newer.view()))
    }

    /// Answers a selector of the context's edition, over the whole history.
    ///
    /// # Errors
    ///
    /// The text is no selector, addresses a snapshot that does not exist, or the history cannot be read.
    pub fn select(&mut self, selector: &str) -> Result<Answer<'_>, ReadError> {
        self.select_with(selector, self.settings.edition, &SelectOptions::default())
    }

    /// As [`Session::select`], in another edition or with options.
    ///
    /// # Errors
    ///
    /// See [`Session::select`].
    pub fn select_with(
        &mut self,
        selector: &str,
        edition: Edition,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, ReadError> {
        let parsed = parse(selector, edition).map_err(QueryError::from)?;
        self.prepare(&parsed)?;
        let loaded = self.loaded()?;
        loaded.take_failure()?;
        let answer = select_parsed(&parsed, selector, &*loaded, options).map_err(QueryError::from);
        match loaded.failure() {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(answer?),
        }
    }

    /// Tells how a selector is read and answered.
    ///
    /// # Errors
    ///
    /// See [`Session::select`].
    pub fn explain(&mut self, selector: &str, edition: Edition) -> Result<Explanation, ReadError> {
        let parsed = parse(selector, edition).map_err(QueryError::from)?;
        self.prepare(&parsed)?;
        let loaded = self.loaded()?;
        loaded.take_failure()?;
        let explanation = explain(selector, edition, &*loaded);
        loaded.take_failure()?;
        Ok(explanation?)
    }

    /// Brings what a selector addresses into memory, in one piece if it is a range.
    fn prepare(&mut self, parsed: &contextree_selector::Selector) -> Result<(), ReadError> {
        let loaded = self.loaded()?;
        let resolved = resolve(parsed, &*loaded);
        loaded.take_failure()?;
        let positions = match resolved.map_err(QueryError::from)?.at {
            At::Working | At::Snapshot(_) => return Ok(()),
            At::Every(positions) => positions,
            At::Range(range) => range.positions,
        };
        if let (Some(first), Some(last)) = (positions.iter().min(), positions.iter().max()) {
            self.bring(*first, *last)?;
        }
        Ok(())
    }

    /// Hands out the accounts of commits, oldest first: the cycle, the latest stamp, and the report, which imported snapshots do not have.
    ///
    /// # Errors
    ///
    /// A record cannot be read, or the visitor's own.
    pub fn reports(
        &mut self,
        first: u32,
        last: u32,
        visit: &mut dyn FnMut(u32, i64, Option<CommitReport>) -> Result<()>,
    ) -> Result<()> {
        let backend = Arc::clone(&self.shared.backend);
        let name = self.row.name.clone();
        let place = Place { backend: &*backend, name: &name, lineage: self.loaded()?.lineage() };
        place.commits(first, last, &mut |Commit { cycle, effects, .. }| {
            let Some(effects) = effects else { return Ok(()) };
            let record = format!("commit @c{cycle}");
            let effects = read_effects(&effects).map_err(|error| place.corrupt(&record, &error))?;
            let stamp = match effects.subject {
                contextree_canon::record::Subject::Commit { last_ns, .. } => last_ns,
                _ => 0,
            };
            visit(cycle, stamp, report_of(&effects))
        })
    }

    /// Brings the whole history into memory.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn load_all(&mut self) -> Result<&Context> {
        let loaded = self.loaded()?;
        if loaded.context.skipped() > 0 {
            let oldest = loaded.cycle_at(0)?;
            self.reload(oldest)?;
        }
        self.context()
    }

    /// Returns the context with its whole history, to be used without the store. What is done to it is not stored.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn into_context(mut self) -> Result<Context> {
        self.load_all()?;
        let loaded = self.loaded.take();
        loaded.map(|loaded| loaded.context).ok_or_else(|| StoreError::Backend {
            message: "the context could not be read".to_owned(),
        })
    }

    /// Forgets everything but the newest snapshot and the working state: it can be read again.
    pub fn shrink(&mut self) {
        if let Some(loaded) = &mut self.loaded {
            loaded.forget();
            loaded.context.forget_history();
        }
    }

    /// Keeps a snapshot from being let go by retention.
    ///
    /// # Errors
    ///
    /// There is no such snapshot, or the store cannot be written.
    pub fn pin_snapshot(&mut self, address: SnapshotAddress, label: &str) -> Result<(), ReadError> {
        let cycle = self.snapshot(address)?.cycle();
        let pin = Pin { cycle, label: label.to_owned() };
        Ok(self.shared.backend.pin(self.row.id, &pin)?)
    }

    /// Lets a snapshot go with the others of its age; true if it was pinned.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub fn unpin_snapshot(&mut self, cycle: u32) -> Result<bool> {
        self.shared.backend.unpin(self.row.id, cycle)
    }

    /// Returns the snapshots that are pinned.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn pinned_snapshots(&self) -> Result<Vec<Pin>> {
        self.shared.backend.pins(self.row.id)
    }
}

impl Drop for Session {
    /// Keeps the context open for the next one who asks for it.
    fn drop(&mut self) {
        if let Some(mut loaded) = self.loaded.take() {
            loaded.forget();
            loaded.compact(1);
            self.shared.pool.put(Parked {
                row: self.row.clone(),
                settings: self.settings.clone(),
                state: State::Awake(Box::new(loaded)),
                spacing: self.spacing,
            });
        }
    }
}

/// Errors that can tell whether they are a conflict, so that [`Session::update`] knows when to try again.
pub trait AsConflict {
    /// True for `E_CONFLICT`.
    fn is_conflict(&self) -> bool;
}

impl AsConflict for StoreError {
    fn is_conflict(&self) -> bool {
        matches!(self, StoreError::Conflict { .. })
    }
}

impl AsConflict for Box<dyn std::error::Error> {
    fn is_conflict(&self) -> bool {
        self.downcast_ref::<StoreError>().is_some_and(AsConflict::is_conflict)
    }
}

impl AsConflict for Box<dyn std::error::Error + Send + Sync> {
    fn is_conflict(&self) -> bool {
        self.downcast_ref::<StoreError>().is_some_and(AsConflict::is_conflict)
    }
}
