//! Attempts: calls to a model within one cycle. They are not part of the history and change no
//! snapshot.

use contextree_canon::Hash;

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
    /// The digest of the exact rendered bytes.
    pub input: Hash,
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
}

impl AttemptError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            AttemptError::NotFound(_) => "E_ATTEMPT_NOT_FOUND",
            AttemptError::Ended { .. } => "E_ATTEMPT_ENDED",
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
        let before = self.0.iter().filter(|attempt| attempt.cycle_id == cycle).count();
        self.0.push(Attempt {
            attempt_id: format!("attempt:{cycle}.{}", before + 1),
            cycle_id: cycle,
            status: AttemptStatus::Running,
            started_at: now,
            ended_at: None,
            provider: start.provider.to_owned(),
            model: start.model.to_owned(),
            params: Hash::of(start.params),
            token_in: None,
            token_out: None,
            input: Hash::of(start.input),
        });
        self.0.last().expect("it was just pushed")
    }

    pub(crate) fn end(
        &mut self,
        id: &str,
        status: AttemptStatus,
        tokens: Option<(u64, u64)>,
        now: i64,
    ) -> Result<&Attempt, AttemptError> {
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
        attempt.status = status;
        // If the clock was set back, the attempt must not end before it began.
        attempt.ended_at = Some(now.max(attempt.started_at));
        attempt.token_in = tokens.map(|(sent, _)| sent);
        attempt.token_out = tokens.map(|(_, received)| received);
        Ok(attempt)
    }

    pub(crate) fn list(&self) -> &[Attempt] {
        &self.0
    }
}
