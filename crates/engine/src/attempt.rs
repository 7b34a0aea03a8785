//! Attempts: calls to a model within one cycle. They are not part of the history and change no
//! snapshot.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use contextree_canon::Hash;
use contextree_json::Value;
use contextree_tree::Cycle;

use crate::call::{CallOutcome, CallRequest, CallResponse, CallStart, RecordedCall};

/// The status of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptStatus {
    /// The model has not answered yet.
    Running,
    /// The model answered.
    Completed,
    /// The attempt was canceled.
    Canceled,
    /// The attempt failed.
    Error(
        /// The reason.
        String,
    ),
}

impl AttemptStatus {
    /// Returns the name of the status: `running`, `completed`, `canceled`, `error`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            AttemptStatus::Running => "running",
            AttemptStatus::Completed => "completed",
            AttemptStatus::Canceled => "canceled",
            AttemptStatus::Error(_) => "error",
        }
    }
}

/// The record of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its id: `attempt:12.1`.
    pub attempt_id: String,
    /// The number of the next commit at the start of the attempt.
    pub cycle_id: Cycle,
    /// The status.
    pub status: AttemptStatus,
    /// The start time, by the context's clock.
    pub started_at: i64,
    /// The end time.
    pub ended_at: Option<i64>,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The hash of the parameters.
    pub params: Hash,
    /// Tokens sent.
    pub token_in: Option<u64>,
    /// Tokens received.
    pub token_out: Option<u64>,
    /// The digest of the exact rendered bytes; `None` if the call is known from a log that does not contain them.
    pub input: Option<Hash>,
    /// The user message that the call serves, by node id. All calls of a tool loop serve the same one.
    pub serves: Option<String>,
    /// The format of the log that the call is known from; `None` if it was begun here.
    pub source: Option<String>,
    /// The request, if the attempt was begun as a call; see [`Context::begin_call`](crate::Context::begin_call).
    pub request: Option<CallRequest>,
    /// What the provider reported with its answer, if the call was completed.
    pub response: Option<CallResponse>,
    /// The newest part of an answer that was streamed; kept if the call was canceled or failed.
    pub partial: Option<String>,
    /// The answer as it was received, if the tree does not have it: the next request left it out or changed it.
    pub answer: Option<Value>,
}

impl Attempt {
    fn response_id(&self) -> Option<&str> {
        self.response.as_ref()?.response_id.as_deref()
    }
}

/// The inputs for starting an attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptStart<'a> {
    /// The provider.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
    /// The parameters, as arbitrary bytes; only their hash is kept.
    pub params: &'a [u8],
    /// The exact bytes sent; only their hash is kept.
    pub input: &'a [u8],
}

/// Why an attempt could not be ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// No attempt has this id.
    #[error("no attempt `{0}`")]
    NotFound(
        /// The id.
        String,
    ),
    /// The attempt has already ended.
    #[error("the attempt `{attempt}` has already ended: {status}")]
    Ended {
        /// The id.
        attempt: String,
        /// Its final status.
        status: &'static str,
    },
    /// It is a running call, which must be completed, canceled or failed as one.
    #[error("the attempt `{0}` is a call: complete, cancel or fail it")]
    IsCall(
        /// The id.
        String,
    ),
    /// A call was to be recorded, but nothing was committed that could have been sent.
    #[error("nothing was committed that could have been sent")]
    NotCommitted,
    /// It was started without a request, so there is nothing to commit.
    #[error("the attempt `{0}` was started without a request")]
    NoRequest(
        /// The id.
        String,
    ),
}

impl AttemptError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            AttemptError::NotFound(_) => "E_ATTEMPT_NOT_FOUND",
            AttemptError::Ended { .. } => "E_ATTEMPT_ENDED",
            AttemptError::IsCall(_) => "E_ATTEMPT_RUNNING",
            AttemptError::NotCommitted => "E_SNAPSHOT_NOT_FOUND",
            AttemptError::NoRequest(_) => "E_ATTEMPT_NO_REQUEST",
        }
    }
}

/// The attempts of a context, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    list: Vec<Attempt>,
    /// The positions of attempts by the id of their response; filled when it is first asked for.
    by_response: OnceLock<BTreeMap<Box<str>, usize>>,
}

impl Attempts {
    pub(crate) fn restored(list: Vec<Attempt>) -> Self {
        Attempts { list, by_response: OnceLock::new() }
    }

    /// Returns the first attempt that was completed with this response.
    pub(crate) fn with_response(&self, id: &str) -> Option<&Attempt> {
        let known = self.by_response.get_or_init(|| {
            let mut known = BTreeMap::new();
            for (index, attempt) in self.list.iter().enumerate() {
                if let Some(id) = attempt.response_id() {
                    known.entry(id.into()).or_insert(index);
                }
            }
            known
        });
        self.list.get(*known.get(id)?)
    }

    /// Notes that the attempt at a position was completed with a response.
    fn note_response(&mut self, response: &CallResponse, index: usize) {
        if let (Some(known), Some(id)) = (self.by_response.get_mut(), &response.response_id) {
            known.entry(id.as_str().into()).or_insert(index);
        }
    }

    pub(crate) fn start(&mut self, start: AttemptStart<'_>, cycle: Cycle, now: i64) -> &Attempt {
        let AttemptStart { provider, model, params, input } = start;
        let start = CallStart {
            provider: provider.to_owned(),
            model: model.to_owned(),
            params: Hash::of(params),
            input: Some(Hash::of(input)),
            serves: None,
            options: String::new(),
        };
        self.push(start, None, cycle, now)
    }

    /// Starts the attempt of a call whose request is the rendering of this snapshot.
    pub(crate) fn begin(
        &mut self,
        mut start: CallStart,
        snapshot: Hash,
        cycle: Cycle,
        now: i64,
    ) -> &Attempt {
        let options = std::mem::take(&mut start.options);
        self.push(start, Some(CallRequest { snapshot, options }), cycle, now)
    }

    /// Adds the attempt of a call that was made elsewhere and has ended; its request is the rendering of this snapshot.
    pub(crate) fn record(&mut self, call: RecordedCall, snapshot: Hash, cycle: Cycle) -> &Attempt {
        let RecordedCall { mut start, started_at, ended_at, outcome, source } = call;
        let options = std::mem::take(&mut start.options);
        let index = self.list.len();
        self.note_response(&outcome.response, index);
        let attempt = self.push(start, Some(CallRequest { snapshot, options }), cycle, started_at);
        attempt.status = AttemptStatus::Completed;
        attempt.ended_at = ended_at.map(|ended| ended.max(started_at));
        (attempt.token_in, attempt.token_out) = (outcome.token_in, outcome.token_out);
        attempt.response = Some(outcome.response);
        attempt.source = Some(source);
        attempt
    }

    /// Returns the user message that the newest attempt serves.
    pub(crate) fn last_served(&self) -> Option<&str> {
        self.list.iter().rev().find_map(|attempt| attempt.serves.as_deref())
    }

    fn push(
        &mut self,
        start: CallStart,
        request: Option<CallRequest>,
        cycle: Cycle,
        now: i64,
    ) -> &mut Attempt {
        // While a call is running, other attempts are of the cycle after it; beyond that, cycles only go up.
        let recent = self.list.iter().rev().take_while(|attempt| attempt.cycle_id.next() >= cycle);
        let before = recent.filter(|attempt| attempt.cycle_id == cycle).count();
        self.list.push(Attempt {
            attempt_id: format!("attempt:{cycle}.{}", before + 1),
            cycle_id: cycle,
            status: AttemptStatus::Running,
            started_at: now,
            ended_at: None,
            provider: start.provider,
            model: start.model,
            params: start.params,
            token_in: None,
            token_out: None,
            input: start.input,
            serves: start.serves,
            source: None,
            request,
            response: None,
            partial: None,
            answer: None,
        });
        self.list.last_mut().expect("it was just pushed")
    }

    pub(crate) fn end(
        &mut self,
        id: &str,
        status: AttemptStatus,
        tokens: Option<(u64, u64)>,
        now: i64,
    ) -> Result<&Attempt, AttemptError> {
        let attempt = self.running_mut(id)?;
        attempt.status = status;
        // If the clock was set back, the attempt must not end before it began.
        attempt.ended_at = Some(now.max(attempt.started_at));
        attempt.token_in = tokens.map(|(sent, _)| sent);
        attempt.token_out = tokens.map(|(_, received)| received);
        Ok(attempt)
    }

    /// Ends the attempt of a call that was answered.
    pub(crate) fn complete(
        &mut self,
        id: &str,
        outcome: CallOutcome,
        now: i64,
    ) -> Result<&Attempt, AttemptError> {
        let CallOutcome { token_in, token_out, response } = outcome;
        let index = self.running(id)?;
        self.note_response(&response, index);
        let attempt = &mut self.list[index];
        attempt.status = AttemptStatus::Completed;
        attempt.ended_at = Some(now.max(attempt.started_at));
        (attempt.token_in, attempt.token_out) = (token_in, token_out);
        attempt.response = Some(response);
        attempt.partial = None;
        Ok(attempt)
    }

    /// Returns a running attempt, to be changed.
    pub(crate) fn running_mut(&mut self, id: &str) -> Result<&mut Attempt, AttemptError> {
        let index = self.running(id)?;
        Ok(&mut self.list[index])
    }

    /// Returns the position of a running attempt.
    fn running(&self, id: &str) -> Result<usize, AttemptError> {
        let found = self.list.iter().rposition(|attempt| attempt.attempt_id == id);
        let index = found.ok_or_else(|| AttemptError::NotFound(id.to_owned()))?;
        if self.list[index].status != AttemptStatus::Running {
            let status = self.list[index].status.word();
            return Err(AttemptError::Ended { attempt: id.to_owned(), status });
        }
        Ok(index)
    }

    /// Keeps an answer that the tree does not have.
    pub(crate) fn keep_answer(&mut self, id: &str, answer: Value) -> Result<(), AttemptError> {
        let attempt = self.list.iter_mut().rev().find(|attempt| attempt.attempt_id == id);
        let attempt = attempt.ok_or_else(|| AttemptError::NotFound(id.to_owned()))?;
        attempt.answer = Some(answer);
        Ok(())
    }

    pub(crate) fn list(&self) -> &[Attempt] {
        &self.list
    }
}
