//! A conversation that is recorded: its context, and what the next request is compared with.

use contextree::budget::Keeper;
use contextree::import::{
    Begun, ImportError, ImportErrorKind, Limited, Limits, Recording, Sent, Trace,
};
use contextree::provider::Provider;
use contextree::store::{Revision, Session, StoreError};
use contextree::{AttemptStatus, CallOutcome, Cycle};
use contextree_json::Value;

use super::budget::{Prepared, Receipt};
use super::{Conversation, refused};
use crate::Error;
use crate::workspace::OpenStore;

/// What a running call of a process that was killed says.
const CUT_OFF: &str = "interrupted: the recorder ended before the answer was complete";

/// Which calls may belong to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// Those whose caller named this context.
    Named(String),
    /// Those of a client's session.
    Session(String),
    /// All others.
    Other,
}

/// A conversation that is recorded.
pub(super) struct Lane {
    pub(super) name: String,
    /// A context has one lane, also if a path names the context of a session.
    pub(super) groups: Vec<Group>,
    /// The agent, if the client names it.
    pub(super) agent: Option<String>,
    pub(super) provider: Provider,
    pub(super) trace: Trace,
    /// Snapshots: the cycle, the number of messages, and their fingerprint.
    pub(super) states: Vec<(Cycle, usize, (u64, u64))>,
    /// The attempt of the call that is running.
    pub(super) running: Option<String>,
    /// The number of the newest call.
    pub(super) last_call: u64,
    /// How the running call ended, if that could not be stored.
    unended: Option<(String, AttemptStatus)>,
    /// Absent if it was not used for long.
    open: Option<Open>,
}

struct Open {
    session: Session,
    recording: Recording,
    /// What the context was at after the last step. If it is elsewhere, another writer changed what the recording knows of it.
    revision: Revision,
}

/// How often a step is tried again after another writer was faster.
const TRIES: usize = 100;

/// Why a step was not stored.
enum Failed {
    Import(ImportError),
    Store(StoreError),
    /// The budget cannot be applied to the request, for this reason.
    NotPruned(String),
    NotOpen,
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Failed::Store(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Import(error) => refused(&error),
            Failed::Store(error) => error.into(),
            Failed::NotPruned(why) => Error::usage(why),
            Failed::NotOpen => Error::new("E_ATTEMPT_ENDED", "the context is not open"),
        }
    }
}

impl Lane {
    /// Opens a context that exists, or was just created.
    pub(super) fn open(
        name: &str,
        group: Group,
        conversation: Option<&Conversation>,
        provider: Provider,
        session: Session,
    ) -> Result<Lane, Error> {
        let mut lane = Lane {
            name: name.to_owned(),
            groups: vec![group],
            agent: conversation.and_then(|it| it.agent.clone()),
            provider,
            trace: Trace::default(),
            states: Vec::new(),
            running: None,
            last_call: 0,
            unended: None,
            open: None,
        };
        lane.trace = lane.load(session)?;
        Ok(lane)
    }

    /// Continues the recording of the context. The call of a process that was killed is ended.
    fn load(&mut self, mut session: Session) -> Result<Trace, Error> {
        let (provider, unended) = (self.provider, self.unended.as_ref());
        let (recording, trace) = session.update(|context| resumed(provider, context, unended))?;
        self.unended = None;
        let revision = session.row().revision;
        self.open = Some(Open { session, recording, revision });
        Ok(trace)
    }

    /// Notes that the end of the running call could not be stored: the next call of the context ends it first.
    pub(super) fn leave_running(&mut self, status: &AttemptStatus) {
        self.unended = self.running.clone().map(|attempt| (attempt, status.clone()));
        self.close();
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Releases the context until it is needed again.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Returns the newest snapshot whose messages a request begins with.
    pub(super) fn shared_state(
        &self,
        beginning: impl Fn(usize) -> Option<(u64, u64)>,
    ) -> Option<Cycle> {
        let same = |state: &&(Cycle, usize, (u64, u64))| beginning(state.1) == Some(state.2);
        self.states.iter().rev().find(same).map(|(cycle, ..)| *cycle)
    }

    pub(super) fn begin(&mut self, store: &OpenStore, sent: &Sent) -> Result<Begun, Error> {
        self.reopen(store)?;
        self.step(Step::Begin, |recording, context| recording.begin(context, sent.clone()))
    }

    /// Begins a call under a budget. `text` is the request as the agent wrote it. If the budget cannot be applied, the request is sent as it
    /// is, and the reason is returned.
    pub(super) fn begin_under(
        &mut self,
        store: &OpenStore,
        sent: &Sent,
        text: &[u8],
        keeper: &Keeper,
    ) -> Result<(Begun, Prepared), Error> {
        self.reopen(store)?;
        let options = keeper.options();
        let limits = Limits { policy: keeper.policy(), measures: options.measures };
        let done = self.try_step(Step::Begin, |recording, context| {
            let look =
                |before: contextree::TreeRef<'_>, report: &_, after: contextree::TreeRef<'_>| {
                    Receipt::new(&keeper.forecast(before, report, after), keeper)
                };
            match recording.begin_limited(context, sent.clone(), text, limits, look) {
                Ok(Limited::Whole(begun, receipt)) => {
                    Ok((begun, Prepared { receipt: Some(receipt), ..Prepared::default() }))
                }
                Ok(Limited::Pruned(begun, request, mut receipt)) => {
                    receipt.left_out = request.left_out;
                    let send = Some(request.text);
                    Ok((begun, Prepared { send, receipt: Some(receipt), refused: None }))
                }
                Ok(Limited::Refused(why)) => Err(Failed::NotPruned(why)),
                Err(error) => Err(Failed::Import(error)),
            }
        });
        match done {
            Err(Failed::NotPruned(why)) => {
                let begun = self.begin(store, sent)?;
                Ok((begun, Prepared { refused: Some(why), ..Prepared::default() }))
            }
            done => Ok(done?),
        }
    }

    fn reopen(&mut self, store: &OpenStore) -> Result<(), Error> {
        if self.open.is_none() {
            let session = store.session(&self.name)?;
            self.load(session)?;
        }
        Ok(())
    }

    pub(super) fn attach_partial(&mut self, partial: &str) -> Result<(), Error> {
        let Some(attempt) = self.running.clone() else { return Ok(()) };
        self.step(Step::GoOn, |_, context| {
            let kept = context.attach_partial(&attempt, partial).map(drop);
            kept.map_err(failed)
        })
    }

    pub(super) fn complete(
        &mut self,
        answer: &Value,
        request_id: Option<&str>,
        ended_at: i64,
    ) -> Result<CallOutcome, Error> {
        let attempt = self.running.clone().unwrap_or_default();
        let (outcome, cycle) = self.step(Step::GoOn, |recording, context| {
            let id = request_id.map(str::to_owned);
            let done = recording.complete(context, &attempt, answer.clone(), id, ended_at)?;
            Ok((done, context.newest().map(contextree::Snapshot::cycle)))
        })?;
        self.trace.answer(self.provider, answer);
        let sent = self.trace.sent();
        if let (Some(cycle), Some(chain)) = (cycle, sent.beginning(sent.len())) {
            self.states.push((cycle, sent.len(), chain));
        }
        Ok(outcome)
    }

    pub(super) fn end(
        &mut self,
        status: &AttemptStatus,
        partial: Option<&str>,
        ended_at: i64,
    ) -> Result<(), Error> {
        let attempt = self.running.clone().unwrap_or_default();
        self.step(Step::GoOn, |recording, context| {
            recording.end(context, &attempt, status.clone(), partial, ended_at)
        })
    }

    /// Does something to the context in one durable step. The recording changes only if it is stored.
    fn step<T>(
        &mut self,
        step: Step,
        act: impl Fn(&mut Recording, &mut contextree::Context) -> Result<T, ImportError>,
    ) -> Result<T, Error> {
        let act = |recording: &mut Recording, context: &mut contextree::Context| {
            act(recording, context).map_err(Failed::Import)
        };
        Ok(self.try_step(step, act)?)
    }

    fn try_step<T>(
        &mut self,
        step: Step,
        act: impl Fn(&mut Recording, &mut contextree::Context) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let provider = self.provider;
        let Some(Open { session, recording, revision }) = &mut self.open else {
            return Err(Failed::NotOpen);
        };
        let mut tries = 0;
        loop {
            let is_changed = session.row().revision != *revision;
            let resumes = is_changed && step == Step::Begin;
            let done = session.write(|context| {
                let mut copy = match resumes {
                    true => resumed(provider, context, None)?.0,
                    false => recording.clone(),
                };
                let done = act(&mut copy, context)?;
                Ok::<_, Failed>((done, copy))
            });
            match done {
                // The session shows what the other writer did.
                Err(Failed::Store(StoreError::Conflict { .. })) if tries < TRIES => tries += 1,
                Err(error) => return Err(error),
                Ok((done, next)) => {
                    *recording = next;
                    // The end of a call does not need to know what others did. The next one does, so it stays noticed.
                    if resumes || !is_changed {
                        *revision = session.row().revision;
                    }
                    return Ok(done);
                }
            }
        }
    }
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It begins a call, and compares a request with what the context has.
    Begin,
    /// It belongs to the running call.
    GoOn,
}

/// Returns the recording of a context as it is. A call that still runs there is ended: nothing else would.
fn resumed(
    provider: Provider,
    context: &mut contextree::Context,
    unended: Option<&(String, AttemptStatus)>,
) -> Result<(Recording, Trace), Failed> {
    let running = context.running_call().map(|call| call.attempt.attempt_id.clone());
    if let Some(attempt) = running {
        let status = unended.filter(|(known, _)| *known == attempt);
        let ended = match status.map(|(_, status)| status) {
            Some(AttemptStatus::Canceled) => context.cancel_call(&attempt).map(drop),
            Some(AttemptStatus::Error(why)) => context.fail_call(&attempt, why.clone()).map(drop),
            _ => context.fail_call(&attempt, CUT_OFF).map(drop),
        };
        ended.map_err(|error| Failed::Import(failed(error)))?;
    }
    Ok(Recording::resume(provider, context))
}

fn failed(error: impl Into<ImportErrorKind>) -> ImportError {
    ImportError { line: None, kind: error.into(), detected: None }
}
