//! A conversation that is recorded: its context, and what the next request is compared with.

use contextree::budget::Keeper;
use contextree::import::{Begun, ImportError, Limited, Limits, Recording, Sent, Trace};
use contextree::provider::Provider;
use contextree::store::{Session, StoreError};
use contextree::{AttemptStatus, CallOutcome, Cycle};
use contextree_json::Value;

use super::budget::{Prepared, Receipt};
use super::{Conversation, refused};
use crate::Error;
use crate::workspace::OpenStore;

/// What a running call of a process that was killed says.
const CUT_OFF: &str = "interrupted: the recorder ended before the answer was complete";

/// Which calls may belong to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(super) group: Group,
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
    /// Absent if it was not used for long.
    open: Option<Open>,
}

struct Open {
    session: Session,
    recording: Recording,
}

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
            group,
            agent: conversation.and_then(|it| it.agent.clone()),
            provider,
            trace: Trace::default(),
            states: Vec::new(),
            running: None,
            last_call: 0,
            open: None,
        };
        lane.trace = lane.load(session)?;
        Ok(lane)
    }

    /// Continues the recording of the context. The call of a process that was killed is ended.
    fn load(&mut self, mut session: Session) -> Result<Trace, Error> {
        let provider = self.provider;
        let (recording, trace) = session.update(|context| {
            let running = context.running_call().map(|call| call.attempt.attempt_id.clone());
            if let Some(attempt) = running {
                let failed = |error| ImportError {
                    line: None,
                    kind: contextree::import::ImportErrorKind::from(error),
                    detected: None,
                };
                let ended = context.fail_call(&attempt, CUT_OFF).map(drop);
                ended.map_err(|error| Failed::Import(failed(error)))?;
            }
            Ok::<_, Failed>(Recording::resume(provider, context))
        })?;
        self.open = Some(Open { session, recording });
        Ok(trace)
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
        self.step(|recording, context| recording.begin(context, sent.clone()))
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
        let done = self.try_step(|recording, context| {
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
        let (Some(open), Some(attempt)) = (&mut self.open, &self.running) else { return Ok(()) };
        let done = open.session.attach_partial(attempt, partial);
        done.map_err(|error| Error::new(error.code(), error.to_string()))
    }

    pub(super) fn complete(
        &mut self,
        answer: &Value,
        request_id: Option<&str>,
        ended_at: i64,
    ) -> Result<CallOutcome, Error> {
        let attempt = self.running.clone().unwrap_or_default();
        let (outcome, cycle) = self.step(|recording, context| {
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
        self.step(|recording, context| {
            recording.end(context, &attempt, status.clone(), partial, ended_at)
        })
    }

    /// Does something to the context in one durable step. The recording changes only if it is stored.
    fn step<T>(
        &mut self,
        act: impl Fn(&mut Recording, &mut contextree::Context) -> Result<T, ImportError>,
    ) -> Result<T, Error> {
        let act = |recording: &mut Recording, context: &mut contextree::Context| {
            act(recording, context).map_err(Failed::Import)
        };
        Ok(self.try_step(act)?)
    }

    fn try_step<T>(
        &mut self,
        act: impl Fn(&mut Recording, &mut contextree::Context) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let Some(Open { session, recording }) = &mut self.open else {
            return Err(Failed::NotOpen);
        };
        let (done, next) = session.update(|context| {
            let mut copy = recording.clone();
            let done = act(&mut copy, context)?;
            Ok::<_, Failed>((done, copy))
        })?;
        *recording = next;
        Ok(done)
    }
}
