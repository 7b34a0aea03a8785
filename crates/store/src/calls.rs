//! Calls in a store: begin, complete, cancel and fail are one durable step each.
//!
//! A running call is a side record: the record of the commit that completing it appends, as it was when the call began. So a process that
//! opens the context later completes or cancels exactly what was sent, whatever budgets or measures it has itself.

use std::fmt;

use contextree_canon::record::{Encoded, StoredBody};
use contextree_engine::{
    Attempt, AttemptStatus, CallError, CallOutcome, CallStart, CommitOptions, CommitReport,
    Context, PendingCall, PreparedNode, Preview, Records, Restore, RunningCallRef, Snapshot,
};

use crate::error::{Result, StoreError};
use crate::load::{Place, join_journal, split_journal};
use crate::packed::pack;
use crate::reader::Reader;
use crate::rows::{SideChange, SideRecord, Step};
use crate::session::Session;
use crate::side;

/// The kind of the side records of running calls; the key is the attempt.
pub(crate) const KIND: &str = "call";

/// The version of the value.
const VERSION: u8 = 1;

/// Why a call was not begun or ended. The context is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepError {
    /// The engine refused it.
    Call(CallError),
    /// The store failed.
    Store(StoreError),
}

impl StepError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            StepError::Call(error) => error.code(),
            StepError::Store(error) => error.code(),
        }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::Call(error) => error.fmt(formatter),
            StepError::Store(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for StepError {}

impl From<CallError> for StepError {
    fn from(error: CallError) -> Self {
        StepError::Call(error)
    }
}

impl From<StoreError> for StepError {
    fn from(error: StoreError) -> Self {
        StepError::Store(error)
    }
}

impl Session {
    /// Begins a call in one durable step; see [`Context::begin_call`](contextree_engine::Context::begin_call). If another process wrote since this
    /// session last looked, the request is rendered again, from the newest state.
    ///
    /// # Errors
    ///
    /// If a call is running, if the commit would fail, the error of `request`, and those of the store.
    pub fn begin<T, E: From<CallError> + From<StoreError>>(
        &mut self,
        options: &CommitOptions<'_>,
        mut request: impl FnMut(&Preview) -> Result<(CallStart, T), E>,
    ) -> Result<T, E> {
        self.update(|context| context.begin_call(options, &mut request))
    }

    /// Completes a call in one durable step: the snapshot that was sent, the answer, and what the provider reported.
    ///
    /// # Errors
    ///
    /// If there is no such running call, a node of the answer is refused, or the store fails. Of several processes that complete the same call one
    /// succeeds; the others get `E_ATTEMPT_ENDED`.
    #[expect(clippy::needless_pass_by_value, reason = "an answer is given once")]
    pub fn complete(
        &mut self,
        attempt: &str,
        answer: Vec<PreparedNode>,
        outcome: CallOutcome,
    ) -> Result<CommitReport, StepError> {
        self.update(|context| {
            Ok(context.complete_call(attempt, answer.clone(), outcome.clone())?)
        })
    }

    /// Cancels a call in one durable step. Nothing is sealed.
    ///
    /// # Errors
    ///
    /// If there is no such running call, or the store fails.
    pub fn cancel(&mut self, attempt: &str) -> Result<(), StepError> {
        self.update(|context| Ok(context.cancel_call(attempt).map(drop)?))
    }

    /// Ends a call with an error in one durable step. Nothing is sealed.
    ///
    /// # Errors
    ///
    /// If there is no such running call, or the store fails.
    pub fn fail(&mut self, attempt: &str, why: &str) -> Result<(), StepError> {
        self.update(|context| Ok(context.fail_call(attempt, why).map(drop)?))
    }

    /// Keeps what has arrived of an answer with the attempt, in place of what was kept before, in one durable step.
    ///
    /// # Errors
    ///
    /// If there is no such running call, the text is too long, or the store fails.
    pub fn attach_partial(&mut self, attempt: &str, partial: &str) -> Result<(), StepError> {
        self.update(|context| Ok(context.attach_partial(attempt, partial).map(drop)?))
    }
}

/// A call that is running. It may have been begun by another process, or before a crash.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunningCall {
    /// Its attempt.
    pub attempt: Attempt,
    /// The snapshot whose rendering is the request.
    pub snapshot: Snapshot,
    /// The report of the commit that completing the call makes.
    pub report: CommitReport,
}

impl From<RunningCallRef<'_>> for RunningCall {
    fn from(call: RunningCallRef<'_>) -> Self {
        RunningCall {
            attempt: call.attempt.clone(),
            snapshot: call.snapshot.clone(),
            report: call.report.clone(),
        }
    }
}

impl Reader {
    /// Returns the call that is running at this revision.
    ///
    /// # Errors
    ///
    /// If the working state or the attempts cannot be read.
    pub fn running(&self) -> Result<Option<RunningCall>> {
        let Some(record) = self.state.running() else { return Ok(None) };
        let here = |context: &Context| context.running_call().map(RunningCall::from);
        if let Some(Some(call)) = self.lease.slot.peek(self.row(), here) {
            return Ok(Some(call));
        }
        let restore = self.state.restore_working()?;
        let attempt = self.attempts()?.iter().rev().find(|one| one.attempt_id == record.key);
        let call = restore.running_call().zip(attempt);
        Ok(call.map(|((snapshot, report), attempt)| RunningCall {
            attempt: attempt.clone(),
            snapshot: snapshot.clone(),
            report: report.clone(),
        }))
    }
}

impl Step {
    /// Adds what records say of calls.
    pub(crate) fn add_calls(&mut self, records: &Records) {
        self.reset_journal = records.replaces_work;
        if let Some(attempt) = &records.ended {
            let key = attempt.clone();
            self.side.push(SideChange { kind: KIND.to_owned(), key, value: None });
        }
        if let Some(call) = &records.begun {
            let late = call.late.iter().flat_map(|late| &late.shared);
            self.contents.extend(call.commit.shared.iter().chain(late).map(pack));
            let value = Some(side::seal(&write(call)));
            self.side.push(SideChange { kind: KIND.to_owned(), key: call.attempt.clone(), value });
        }
    }
}

/// A running call, as it is read.
pub(crate) struct Pending<'a> {
    answer_ns: i64,
    effects: &'a [u8],
    bodies: &'a [u8],
    /// What was done in the same step after the call had begun: a record of work, as an entry of the journal.
    late: Option<&'a [u8]>,
}

fn write(call: &PendingCall) -> Vec<u8> {
    let mut out = vec![VERSION];
    out.extend_from_slice(&call.answer_ns.to_le_bytes());
    let late = call.late.as_ref().map(|late| join_journal(&late.effects, &late.bodies));
    for part in [&call.commit.effects[..], &call.commit.bodies, &late.unwrap_or_default()] {
        out.extend_from_slice(&(part.len() as u64).to_le_bytes());
        out.extend_from_slice(part);
    }
    out
}

fn read(value: &[u8]) -> Option<Pending<'_>> {
    let rest = value.strip_prefix(&[VERSION])?;
    let (answer_ns, mut rest) = rest.split_first_chunk::<8>()?;
    let mut part = || {
        let (length, behind) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (part, behind) = behind.split_at_checked(length)?;
        rest = behind;
        Some(part)
    };
    let (effects, bodies, late) = (part()?, part()?, part()?);
    let late = Some(late).filter(|late| !late.is_empty());
    let answer_ns = i64::from_le_bytes(*answer_ns);
    rest.is_empty().then_some(Pending { answer_ns, effects, bodies, late })
}

impl Place<'_> {
    /// Restores the working state: a call that is running, and what was done before and since. With attempts, checks that they
    /// name the same call.
    pub(crate) fn rest<'e>(
        &self,
        restore: &mut Restore,
        running: Option<&SideRecord>,
        journal: impl Iterator<Item = &'e Vec<u8>>,
        attempts: Option<&[Attempt]>,
    ) -> Result<()> {
        if let Some(record) = running {
            self.call(restore, record)?;
        }
        if let Some(attempts) = attempts {
            self.check_call(restore, attempts)?;
        }
        self.work(restore, journal)
    }

    fn check_call(&self, restore: &Restore, attempts: &[Attempt]) -> Result<()> {
        let is_call = |attempt: &&Attempt| {
            attempt.status == AttemptStatus::Running && attempt.request.is_some()
        };
        let mut calls = attempts.iter().filter(is_call);
        let (first, second) = (calls.next(), calls.next());
        if let Some(second) = second {
            return Err(self.odd_call(&second.attempt_id, "another call is running, too"));
        }
        let sent = restore.pending().map(Snapshot::digest);
        match (first, restore.running_attempt()) {
            (None, None) => Ok(()),
            (Some(attempt), None) => {
                Err(self.odd_call(&attempt.attempt_id, "its request is missing"))
            }
            (None, Some(id)) => Err(self.odd_call(id, "its attempt is not running")),
            (Some(attempt), Some(id)) => {
                if attempt.attempt_id != id {
                    return Err(self.odd_call(id, "another attempt is running"));
                }
                if sent != attempt.request.as_ref().map(|request| request.snapshot) {
                    return Err(self.odd_call(id, "its request is of another snapshot"));
                }
                Ok(())
            }
        }
    }

    fn call(&self, restore: &mut Restore, found: &SideRecord) -> Result<()> {
        let id = &found.key;
        let value = side::check(self.name, found)?;
        let call = read(value).ok_or_else(|| side::damaged(self.name, KIND, id))?;
        let record = format!("the request of {id}");
        self.with_bodies(&record, call.bodies, &mut |find_body| {
            let commit = Encoded {
                effects: call.effects.to_vec(),
                bodies: call.bodies.to_vec(),
                shared: Vec::new(),
            };
            restore.begin_call(id, call.answer_ns, commit, find_body)
        })?;
        match call.late {
            Some(late) => self.work(restore, [late.to_vec()].iter()),
            None => Ok(()),
        }
    }

    fn odd_call(&self, attempt: &str, message: &str) -> StoreError {
        StoreError::Corrupt {
            record: format!("context {}, the call {attempt}", self.name),
            message: message.to_owned(),
        }
    }

    /// Hands out the bodies that a running call needs: those of the commit to come, and of what was added since.
    pub(crate) fn bodies_of_call(
        &self,
        key: &str,
        value: &[u8],
        visit: &mut dyn FnMut(&[StoredBody]),
    ) -> Result<()> {
        let call = read(value).ok_or_else(|| side::damaged(self.name, KIND, key))?;
        let record = format!("the request of {key}");
        visit(&self.read_bodies(&record, call.bodies)?);
        if let Some((_, bodies)) = call.late.and_then(split_journal) {
            visit(&self.read_bodies(&record, bodies)?);
        }
        Ok(())
    }
}
