//! An open context that can be changed.

use std::ops::Deref;
use std::sync::Arc;

use contextree_engine::{Context, Records, SnapshotAddress};
use contextree_tree::Cycle;

use crate::checkpoint::{Spacing, checkpoint_of, places};
use crate::error::{ReadError, Result, StoreError};
use crate::operations::OperationKind;
use crate::reader::Reader;
use crate::rows::{Pin, SideChange, Step};
use crate::settings::ContextSettings;
use crate::side::Side;
use crate::slot::Writer;
use crate::state::{Newest, State};
use crate::store::Shared;

/// How many snapshots may stay in memory in any case, even if the newest one is small.
const SNAPSHOTS: usize = 256;

/// An open context: read it, and change it in durable steps.
///
/// It shows the context as it was when it was opened, last refreshed or last written to. All methods of [`Reader`] are
/// available on it, and [`Session::reader`] returns a handle for other threads. If another writer was faster, a write fails
/// with `E_CONFLICT`, and [`Session::update`] tries again.
pub struct Session {
    reader: Reader,
    /// What the operation log says of its steps; without it they are not in the log.
    command: Option<String>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("row", self.row()).finish_non_exhaustive()
    }
}

impl Deref for Session {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

/// Why a step failed: the closure's own error, or the store's. Only the latter can be a conflict that is worth another try.
enum Failed<E> {
    Closure(E),
    Store(StoreError),
}

impl<E: From<StoreError>> Failed<E> {
    fn into_error(self) -> E {
        match self {
            Failed::Closure(error) => error,
            Failed::Store(error) => error.into(),
        }
    }
}

/// How often a context is opened again that changed before it was loaded.
const OPENINGS: usize = 100;

impl Session {
    pub(crate) fn open(shared: &Arc<Shared>, name: &str) -> Result<Session> {
        for _ in 0..OPENINGS {
            let session = Session { reader: Reader::open(shared, name)?, command: None };
            match session.load() {
                // Other processes wrote, and retention removed what this state needs, before it was loaded.
                Err(StoreError::Conflict { .. }) => {}
                result => return result.map(|()| session),
            }
        }
        Err(StoreError::Busy {
            message: format!("other processes write to `{name}` without a pause"),
        })
    }

    /// Loads what a write needs, so that a damaged context is refused when it is opened.
    fn load(&self) -> Result<()> {
        let Reader { lease, state } = &self.reader;
        state.newest()?;
        let Ok(mut writer) = lease.slot.try_lock_writer() else {
            // Another session is writing, so everything is loaded.
            return Ok(());
        };
        match lease.slot.prepare(&lease.shared, &mut writer, state) {
            // Another session wrote meanwhile; the next write says so.
            Err(StoreError::Conflict { .. }) => Ok(()),
            result => result,
        }
    }

    /// Puts the steps of this session into the operation log of the context, under the name of a command, so that they can be undone
    /// ([`Session::undo`]). A session that was not told its command leaves no trace there, and its steps cannot be undone.
    pub fn set_command(&mut self, command: impl Into<String>) {
        self.command = Some(command.into());
    }

    pub(crate) fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// Returns a handle that can be cloned and read on other threads. It stays at the revision that this session shows now.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// Moves on to the newest revision. Returns true if there was a newer one.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or the context was deleted.
    pub fn refresh(&mut self) -> Result<bool> {
        self.reader.refresh()
    }

    /// Changes the context in one durable step: everything the closure does (operations, batches, commits) is stored
    /// together, or none of it is. When this returns, it is durable.
    ///
    /// A commit in the closure prunes what the context's own policy says, unless its options say otherwise.
    ///
    /// # Errors
    ///
    /// If the closure or the store fails; the context is as before. `E_CONFLICT` if another writer changed the context since
    /// this session last read it; the session shows the newest state then.
    pub fn write<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&mut Context) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_side(|context, _| change(context))
    }

    /// Like [`Session::write`], but the closure also reads and changes the side records of the context. They are stored in the same
    /// step.
    ///
    /// # Errors
    ///
    /// See [`Session::write`].
    pub fn write_side<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&mut Context, &mut Side<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let result = self.try_write(change);
        if let Err(Failed::Store(StoreError::Conflict { .. })) = &result
            && let Err(error) = self.refresh()
        {
            // The session stays where it was; the caller gets the conflict in any case.
            tracing::debug!(context = self.name(), %error, "not refreshed after a conflict");
        }
        result.map_err(Failed::into_error)
    }

    /// Like [`Session::write`], but tries again on the newest state if another writer was faster. The closure may run more
    /// than once.
    ///
    /// # Errors
    ///
    /// See [`Session::write`]; `E_CONFLICT` only if other writers are faster for very long.
    pub fn update<T, E: From<StoreError>>(
        &mut self,
        mut change: impl FnMut(&mut Context) -> Result<T, E>,
    ) -> Result<T, E> {
        self.update_side(|context, _| change(context))
    }

    /// Like [`Session::update`], but the closure also reads and changes the side records of the context. They are stored in the same
    /// step.
    ///
    /// # Errors
    ///
    /// See [`Session::update`].
    pub fn update_side<T, E: From<StoreError>>(
        &mut self,
        mut change: impl FnMut(&mut Context, &mut Side<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = 0;
        loop {
            match self.try_write(&mut change) {
                Err(Failed::Store(StoreError::Conflict { found, .. }))
                    if tries < self.reader.lease.shared.tries =>
                {
                    tries += 1;
                    tracing::debug!(
                        context = self.name(),
                        found = found.get(),
                        tries,
                        "conflict, trying again"
                    );
                    self.refresh()?;
                }
                result => return result.map_err(Failed::into_error),
            }
        }
    }

    fn try_write<T, E>(
        &mut self,
        change: impl FnOnce(&mut Context, &mut Side<'_>) -> Result<T, E>,
    ) -> Result<T, Failed<E>> {
        let lease = Arc::clone(&self.reader.lease);
        let mut slot = lease.slot.lock_writer();
        lease.slot.prepare(&lease.shared, &mut slot, &self.reader.state).map_err(Failed::Store)?;
        // Taken out of the slot: if the closure panics, a half changed context is dropped.
        let Some(mut writer) = slot.take() else { unreachable!("it was just prepared") };
        let savepoint = writer.context.savepoint();
        let mut side = Side::new(&lease.shared, &self.reader.state.row);
        let result = match change(&mut writer.context, &mut side) {
            Err(error) => {
                // Nothing of what was done before it failed may stay.
                writer.is_stale = !writer.context.roll_back(savepoint);
                Err(Failed::Closure(error))
            }
            Ok(value) => {
                writer.context.keep(savepoint);
                let records = writer.context.take_records();
                let side = side.into_changes();
                let stored = match records.is_empty() && side.is_empty() {
                    true => Ok(()),
                    false => self.store(&mut writer, records, side),
                };
                writer.is_stale = stored.is_err();
                stored.map(|()| value).map_err(Failed::Store)
            }
        };
        *slot = Some(writer);
        result
    }

    /// Stores what happened, and makes the new state visible to readers.
    fn store(
        &mut self,
        writer: &mut Writer,
        records: Records,
        side: Vec<SideChange>,
    ) -> Result<()> {
        let Reader { lease, state } = &self.reader;
        let mut step = lease.shared.step();
        let written = step.add_records(records);
        step.side.extend(side);
        if let Some(command) = &self.command {
            let has_changes = !step.commits.is_empty()
                || step.journal.is_some()
                || step.reset_journal
                || step.side.iter().any(|change| change.kind == crate::calls::KIND);
            let kind = if has_changes { OperationKind::Change } else { OperationKind::Note };
            self.reader.operation(command, kind, &step)?.note(&mut step);
        }
        let (id, revision) = (state.row.id, state.row.revision);
        let row = lease.shared.retry_unknown(|backend| backend.append(id, revision, &step))?;
        writer.revision = row.revision;
        writer.spacing.since += written;
        if !step.commits.is_empty() || step.reset_journal {
            writer.journal = contextree_tree::Log::default();
        }
        if let Some(entry) = step.journal {
            writer.journal.push(entry);
        }
        let has_commits = !step.commits.is_empty();
        let is_compacted = writer.compact(SNAPSHOTS);
        let newest = match writer.context.tail().filter(|_| has_commits || is_compacted) {
            Some(tail) => Newest { tail: Arc::new(tail), spacing: writer.spacing },
            None => Newest { spacing: writer.spacing, ..state.newest()?.clone() },
        };
        let state = Arc::new(state.after(row, newest, &writer.journal, &step.side));
        lease.slot.publish(&state);
        self.reader.state = state;
        if written > 0 && writer.spacing.is_due() {
            // A checkpoint only makes opening faster. If it cannot be written now, the next commit tries again.
            match write_checkpoint(&self.reader) {
                Ok(spacing) => writer.spacing = spacing.unwrap_or(writer.spacing),
                Err(error) => tracing::warn!(context = self.name(), %error, "no checkpoint"),
            }
        }
        Ok(())
    }

    /// Changes the settings, durably.
    ///
    /// # Errors
    ///
    /// See [`Session::write`].
    pub fn set_settings(&mut self, settings: ContextSettings) -> Result<()> {
        let Reader { lease, state } = &self.reader;
        let mut step = Step { settings: Some(settings.to_json()), ..lease.shared.step() };
        if let Some(command) = &self.command {
            self.reader.operation(command, OperationKind::Change, &step)?.note(&mut step);
        }
        let (id, revision) = (state.row.id, state.row.revision);
        let row = lease.shared.retry_unknown(|backend| backend.append(id, revision, &step))?;
        // The writer is outdated now: the next write opens the context with the new settings.
        let state = Arc::new(state.with_settings(row, settings));
        lease.slot.publish(&state);
        self.reader.state = state;
        Ok(())
    }

    /// Returns a copy of the context, uncommitted changes included, to try something on. What is done to it is not stored.
    ///
    /// # Errors
    ///
    /// If the context cannot be read, or `E_CONFLICT` if another writer changed it since this session last read it.
    pub fn fork_working(&self) -> Result<Context> {
        let Reader { lease, state } = &self.reader;
        let mut slot = lease.slot.lock_writer();
        lease.slot.prepare(&lease.shared, &mut slot, state)?;
        let Some(writer) = &*slot else { unreachable!("it was just prepared") };
        Ok(writer.context.fork_working())
    }

    /// Writes a checkpoint of the newest snapshot, so that opening the context later reads no more than that. Done
    /// automatically from time to time.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub fn checkpoint(&mut self) -> Result<()> {
        let spacing = write_checkpoint(&self.reader)?;
        let mut slot = self.reader.lease.slot.lock_writer();
        if let (Some(spacing), Some(writer)) = (spacing, &mut *slot)
            && writer.is_at(self.row())
        {
            writer.spacing = spacing;
        }
        Ok(())
    }

    /// Drops everything but the newest snapshot and the working state from memory; it is read again when it is needed.
    pub fn shrink(&mut self) {
        let Reader { lease, state } = &self.reader;
        let mut slot = lease.slot.lock_writer();
        let mut fresh = state.without_past();
        if let Some(writer) = slot.as_mut().filter(|writer| writer.is_at(&state.row))
            && writer.context.forget_history()
            && let Some(tail) = writer.context.tail()
        {
            let newest = Newest { tail: Arc::new(tail), spacing: writer.spacing };
            fresh = fresh.after(state.row.clone(), newest, &state.journal, &[]);
        }
        drop(slot);
        let fresh = Arc::new(fresh);
        lease.slot.publish(&fresh);
        self.reader.state = fresh;
    }

    /// Keeps a snapshot from being removed by retention.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot, or the store cannot be written.
    pub fn pin_snapshot(&mut self, address: SnapshotAddress, label: &str) -> Result<(), ReadError> {
        let cycle = self.snapshot(address)?.cycle();
        let pin = Pin { cycle, label: label.to_owned() };
        Ok(self.reader.lease.shared.backend.pin(self.row().id, &pin)?)
    }

    /// Lets retention remove a snapshot again. Returns true if it was pinned.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub fn unpin_snapshot(&mut self, cycle: Cycle) -> Result<bool> {
        self.reader.lease.shared.backend.unpin(self.row().id, cycle)
    }
}

/// Writes a checkpoint of a reader's newest snapshot; `None` before the first commit.
fn write_checkpoint(reader: &Reader) -> Result<Option<Spacing>> {
    let state: &State = &reader.state;
    let Some(head) = state.newest()?.tail.newest() else { return Ok(None) };
    let places = places(&state.place(), head.cycle())?;
    let (checkpoint, size) = checkpoint_of(head, state.row.snapshots, &places);
    reader.lease.shared.backend.add_checkpoint(state.row.branch, &checkpoint)?;
    tracing::debug!(context = reader.name(), cycle = head.cycle().get(), "wrote a checkpoint");
    Ok(Some(Spacing { checkpoint: size, since: 0 }))
}
