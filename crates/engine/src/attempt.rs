//! Attempts: calls to a model within one cycle. They are not part of the history and change no
//! snapshot.

use contextree_canon::Hash;

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
    pub cycle_id: u32,
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
pub(crate) struct Attempts(Vec<Attempt>);

impl Attempts {
    pub(crate) fn restored(attempts: Vec<Attempt>) -> Self {
        Attempts(attempts)
    }

    pub(crate) fn start(&mut self, start: AttemptStart<'_>, cycle: u32, now: i64) -> &Attempt {
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
        cycle: u32,
        now: i64,
    ) -> &Attempt {
        let options = std::mem::take(&mut start.options);
        self.push(start, Some(CallRequest { snapshot, options }), cycle, now)
    }

    /// Adds the attempt of a call that was made elsewhere and has ended; its request is the rendering of this snapshot.
    pub(crate) fn record(&mut self, call: RecordedCall, snapshot: Hash, cycle: u32) -> &Attempt {
        let RecordedCall { mut start, started_at, ended_at, outcome, source } = call;
        let options = std::mem::take(&mut start.options);
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
        self.0.iter().rev().find_map(|attempt| attempt.serves.as_deref())
    }

    fn push(
        &mut self,
        start: CallStart,
        request: Option<CallRequest>,
        cycle: u32,
        now: i64,
    ) -> &mut Attempt {
        // While a call is running, other attempts are of the cycle after it; beyond that, cycles only go up.
        let recent = self.0.iter().rev().take_while(|attempt| attempt.cycle_id + 1 >= cycle);
        let before = recent.filter(|attempt| attempt.cycle_id == cycle).count();
        self.0.push(Attempt {
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
        });
        self.0.last_mut().expect("it was just pushed")
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
        let attempt = self.running_mut(id)?;
        attempt.status = AttemptStatus::Completed;
        attempt.ended_at = Some(now.max(attempt.started_at));
        (attempt.token_in, attempt.token_out) = (token_in, token_out);
        attempt.response = Some(response);
        attempt.partial = None;
        Ok(attempt)
    }

    /// Returns a running attempt, to be changed.
    pub(crate) fn running_mut(&mut self, id: &str) -> Result<&mut Attempt, AttemptError> {
        let attempt = self
            .0
            .iter_mut()
            .rev()
            .find(|attempt| attempt.attempt_id == id)
            .ok_or_else(|| AttemptError::NotFound(id.to_owned()))?;
        if attempt.status != AttemptStatus::Running {
            let status = attempt.status.word();
            return Err(AttemptError::Ended { attempt: id.to_owned(), status });
        }
        Ok(attempt)
    }

    pub(crate) fn list(&self) -> &[Attempt] {
        &self.0
    }
}
