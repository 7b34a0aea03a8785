//! Going back: undo, redo, reset, discard. Each is one durable step, and each can be undone.
//!
//! Commits that leave the history are not deleted. They move to a context of their own, an *undone line*, which can be read, compared and forked
//! like any other. Redoing moves them back; retention deletes the line.

use std::fmt;

use contextree_engine::{AttemptStatus, ContextOptions, SnapshotAddress};
use contextree_tree::Cycle;

use crate::error::{ReadError, Result};
use crate::load::Place;
use crate::operations::{Before, Operation, OperationKind};
use crate::reader::Reader;
use crate::rows::{ContextRow, Head, LineChange, Revision, SideRecord, Step};
use crate::session::Session;
use crate::side;
use crate::store::Store;

/// The kind of the side record that marks an undone line; the value is the number of the context that it was undone in.
pub const UNDONE: &str = "undone";

/// The key of that record.
const OF: &str = "of";

/// What going back did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// The operations that were undone or redone, newest first: their numbers and commands. Empty for a reset.
    pub operations: Vec<(Revision, String)>,
    /// The newest snapshot now; `None` if there is none.
    pub head: Option<Cycle>,
    /// The newest snapshot before.
    pub before: Option<Cycle>,
    /// The context that has the commits which left the history.
    pub line: Option<String>,
}

/// Why a context could not go back. It is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndoError {
    /// There is no operation to undo or redo.
    Nothing {
        /// True if one was to be redone.
        redo: bool,
        /// True if the context was changed by a step that is not in the log: by retention, or by a program that does not name its commands.
        unknown: bool,
    },
    /// A call is running.
    Calling(
        /// Its attempt.
        String,
    ),
    /// The store failed, or there is no such snapshot.
    Read(ReadError),
}

impl UndoError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            UndoError::Nothing { .. } => "E_NOTHING_TO_UNDO",
            UndoError::Calling(_) => "E_ATTEMPT_RUNNING",
            UndoError::Read(error) => error.code(),
        }
    }
}

impl fmt::Display for UndoError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UndoError::Nothing { redo, unknown } => {
                let what = if *redo { "redo" } else { "undo" };
                write!(formatter, "there is no operation to {what}")?;
                match unknown {
                    true => formatter
                        .write_str(": the last step is not in the operation log of this context"),
                    false => Ok(()),
                }
            }
            UndoError::Calling(attempt) => {
                write!(formatter, "the call `{attempt}` is running: complete or cancel it first")
            }
            UndoError::Read(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for UndoError {}

impl<E: Into<ReadError>> From<E> for UndoError {
    fn from(error: E) -> Self {
        UndoError::Read(error.into())
    }
}

/// The operations that can be undone and redone now, the next one last.
#[derive(Default)]
struct Stacks {
    undo: Vec<Operation>,
    redo: Vec<Operation>,
}

impl Stacks {
    /// Reads the log from its last gap on: a step that is not in the log cannot be passed.
    fn of(log: &[Operation], now: Revision) -> Stacks {
        let mut next = now;
        let mut first = log.len();
        while first > 0 && log[first - 1].revision == next && next > Revision::ZERO {
            first -= 1;
            next = Revision(next.get() - 1);
        }
        let mut stacks = Stacks::default();
        for operation in &log[first..] {
            match operation.kind {
                OperationKind::Change | OperationKind::Note => {
                    stacks.redo.clear();
                    stacks.undo.push(operation.clone());
                }
                OperationKind::Undo { operation: target } => {
                    while stacks.undo.last().is_some_and(|top| top.revision >= target) {
                        stacks.undo.pop();
                    }
                    stacks.redo.push(operation.clone());
                }
                OperationKind::Redo { .. } => {
                    stacks.redo.pop();
                    stacks.undo.push(operation.clone());
                }
            }
        }
        stacks
    }
}

impl Session {
    /// Undoes the last operation in one durable step: the context is as it was before it. A call is undone with its beginning. Operations that only
    /// record something are passed.
    ///
    /// # Errors
    ///
    /// If there is nothing to undo, a call is running, or the store fails; `E_CONFLICT` if another writer was faster.
    pub fn undo(&mut self) -> Result<Undone, UndoError> {
        let log = self.operations()?;
        let mut stack = Stacks::of(&log, self.row().revision).undo;
        let mut operations = Vec::new();
        let mut settings = None;
        while let Some(mut operation) = stack.pop() {
            operations.push((operation.revision, operation.command.clone()));
            // Settings that changed while a call ran are those before the first of these changes.
            settings = operation.state.settings.take().or(settings);
            if operation.kind != OperationKind::Note && !operation.state.is_calling {
                operation.state.settings = settings;
                let kind = OperationKind::Undo { operation: operation.revision };
                return self.go_back(&log, &operation, kind, operations);
            }
        }
        Err(self.nothing(&log, false))
    }

    /// Undoes the last undo, unless something else was done since.
    ///
    /// # Errors
    ///
    /// Like [`Session::undo`].
    pub fn redo(&mut self) -> Result<Undone, UndoError> {
        let log = self.operations()?;
        let Some(undo) = Stacks::of(&log, self.row().revision).redo.pop() else {
            return Err(self.nothing(&log, true));
        };
        let kind = OperationKind::Redo { operation: undo.revision };
        let OperationKind::Undo { operation: target } = undo.kind else {
            return Err(self.nothing(&log, true));
        };
        let redone = log.iter().filter(|it| it.revision == target);
        let redone = redone.map(|it| (it.revision, it.command.clone())).collect();
        self.go_back(&log, &undo, kind, redone)
    }

    /// Makes a snapshot the newest one, in one durable step. Later commits and the working state leave the context; undoing brings them back.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot, a call is running, or the store fails.
    pub fn reset(&mut self, address: SnapshotAddress) -> Result<Undone, UndoError> {
        let snapshot = self.snapshot(address)?;
        let head = Head { cycle: snapshot.cycle(), digest: snapshot.digest().0 };
        let state = Before { cycle: head.cycle, head: Some(head), ..Before::default() };
        self.become_state(&state, &[], None, OperationKind::Change, Vec::new())
    }

    /// Removes what is not committed, in one durable step. Undoing brings it back.
    ///
    /// # Errors
    ///
    /// If a call is running, or the store fails.
    pub fn discard(&mut self) -> Result<Undone, UndoError> {
        let head = self.row().head;
        let cycle = match head {
            Some(head) => head.cycle,
            None => self.state.place().checkpoint(Cycle::MAX)?.cycle,
        };
        let state = Before { cycle, head, ..Before::default() };
        self.become_state(&state, &[], None, OperationKind::Change, Vec::new())
    }

    fn nothing(&self, log: &[Operation], redo: bool) -> UndoError {
        let unknown = log.last().is_none_or(|last| last.revision != self.row().revision)
            && self.row().revision > Revision::FIRST;
        UndoError::Nothing { redo, unknown }
    }

    /// Makes the state before an operation the present one.
    fn go_back(
        &mut self,
        log: &[Operation],
        operation: &Operation,
        kind: OperationKind,
        operations: Vec<(Revision, String)>,
    ) -> Result<Undone, UndoError> {
        // The first step since that emptied the journal has all the entries that were there, and they begin with the wanted ones.
        let full = log
            .iter()
            .filter(|later| later.revision >= operation.revision)
            .find_map(|later| later.state.journal.clone());
        let mut journal = full.unwrap_or_else(|| self.state.journal.iter().cloned().collect());
        journal.truncate(operation.state.entries);
        self.become_state(&operation.state, &journal, operation.line.as_deref(), kind, operations)
    }

    fn become_state(
        &mut self,
        wanted: &Before,
        journal: &[Vec<u8>],
        rejoin: Option<&str>,
        kind: OperationKind,
        operations: Vec<(Revision, String)>,
    ) -> Result<Undone, UndoError> {
        if let Some(call) = self.state.running() {
            return Err(UndoError::Calling(call.key.clone()));
        }
        let row = self.row().clone();
        let mut step = self.lease.shared.step();
        step.settings.clone_from(&wanted.settings);
        let mut line = None;
        if let Some(name) = rejoin {
            step.line = Some(LineChange::Rejoin { name: name.to_owned() });
        } else if wanted.head != row.head {
            let name = self.free_name(&row)?;
            step.line = Some(LineChange::Leave {
                after: wanted.cycle,
                head: wanted.head,
                name: name.clone(),
                attempts: self.leaving(wanted.cycle)?,
                note: mark(&row),
            });
            line = Some(name);
        }
        step.reset_journal = true;
        if !journal.is_empty() {
            self.restore_journal(wanted, journal, rejoin, &mut step)?;
        }
        let command = self.command().unwrap_or("undo").to_owned();
        let mut operation = self.operation(&command, kind, &step)?;
        operation.line.clone_from(&line);
        operation.after = wanted.head.map(|head| head.cycle);
        operation.note(&mut step);
        let shared = &self.lease.shared;
        shared.retry_unknown(|backend| backend.append(row.id, row.revision, &step))?;
        self.refresh()?;
        let before = row.head.map(|head| head.cycle);
        Ok(Undone { operations, head: wanted.head.map(|head| head.cycle), before, line })
    }

    /// Puts a working state into a step: that of these entries after a snapshot, as one entry.
    fn restore_journal(
        &self,
        wanted: &Before,
        journal: &[Vec<u8>],
        rejoin: Option<&str>,
        step: &mut Step,
    ) -> Result<()> {
        // Commits that come back are in another context still.
        let line = rejoin.map(|name| self.lease.shared_store().reader(name)).transpose()?;
        let place = line.as_ref().map_or_else(|| self.state.place(), |line| line.state.place());
        working_step(&place, wanted.cycle, journal, step)
    }

    /// Returns the attempts that leave with the commits after a cycle.
    fn leaving(&self, cycle: Cycle) -> Result<Vec<String>> {
        let attempts = self.attempts()?.iter();
        let leaves = attempts.filter(|attempt| {
            let is_completed = attempt.status == AttemptStatus::Completed;
            attempt.cycle_id > cycle.plus(u32::from(!is_completed))
        });
        Ok(leaves.map(|attempt| attempt.attempt_id.clone()).collect())
    }

    /// Returns a name for an undone line: the revision makes it unique, unless another context has that name.
    fn free_name(&self, row: &ContextRow) -> Result<String> {
        let backend = &self.lease.shared.backend;
        let mut name = format!("{}~{}", row.name, row.revision.next());
        while backend.find(&name)?.is_some() {
            name.push('~');
        }
        Ok(name)
    }
}

/// Puts a working state into a step: that of these entries of a journal after a snapshot, as one entry that replaces all.
pub(crate) fn working_step(
    place: &Place<'_>,
    cycle: Cycle,
    journal: &[Vec<u8>],
    step: &mut Step,
) -> Result<()> {
    let mut restore = place.window(cycle, cycle)?.restore;
    place.rest(&mut restore, None, journal.iter(), None)?;
    let mut context = restore.finish(ContextOptions::default(), Vec::new());
    context.replace_work();
    step.add_records(context.take_records());
    step.reset_journal = true;
    Ok(())
}

fn mark(row: &ContextRow) -> SideRecord {
    let value = side::seal(row.id.to_string().as_bytes());
    SideRecord { kind: UNDONE.to_owned(), key: OF.to_owned(), value }
}

impl Reader {
    /// Returns the number of the context that this undone line was undone in; `None` for any other context.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn undone_in(&self) -> Result<Option<i64>> {
        let value = self.side_record(UNDONE, OF)?;
        Ok(value.and_then(|value| String::from_utf8(value).ok()?.parse().ok()))
    }
}

impl Store {
    /// Deletes the undone lines of a context that its operation log names, and the log. Returns how many lines were deleted.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or written, or another process writes the context at the same time.
    pub fn forget_operations(&self, name: &str) -> Result<usize> {
        let reader = self.reader(name)?;
        let log = reader.operations()?;
        let mut deleted = 0;
        for line in log.iter().filter_map(|operation| operation.line.as_deref()) {
            // It is gone if the operation was undone itself.
            let Some(row) = self.find(line)? else { continue };
            if self.reader(line)?.undone_in()? == Some(reader.row().id.get()) {
                self.backend().delete(row.id, row.revision)?;
                deleted += 1;
            }
        }
        if log.is_empty() {
            return Ok(deleted);
        }
        let mut step = self.shared.step();
        for operation in &log {
            operation.forget(&mut step);
        }
        let row = reader.row();
        self.shared.retry_unknown(|backend| backend.append(row.id, row.revision, &step))?;
        Ok(deleted)
    }
}
