//! Attempts: calls to a model within one cycle. They are no part of the history and change no snapshot.

use std::fmt;

use contextree_canon::Hash;

/// How an attempt stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptStatus {
    /// The model has not answered yet.
    Running,
    /// It answered.
    Completed,
    /// It was stopped.
    Canceled,
    /// It failed.
    Error(
        /// Why.
        String,
    ),
}

impl AttemptStatus {
    /// Returns the status as a word: `running`, `completed`, `canceled`, `error`.
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
    /// The coming commit when it was started.
    pub cycle_id: u32,
    /// How it stands.
    pub status: AttemptStatus,
    /// When it was started, by the context's clock.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// Who was asked.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// The hash of the parameters.
    pub params: Hash,
    /// Tokens sent.
    pub token_in: Option<u64>,
    /// Tokens received.
    pub token_out: Option<u64>,
    /// The digest of the exact bytes that were rendered for it.
    pub input: Hash,
}

/// What is needed to start an attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptStart<'a> {
    /// Who is asked.
    pub provider: &'a str,
    /// Which model.
    pub model: &'a str,
    /// The parameters, as any bytes; only their hash is kept.
    pub params: &'a [u8],
    /// The exact bytes that are sent; only their hash is kept.
    pub input: &'a [u8],
}

/// Why an attempt could not be ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptError {
    /// There is no such attempt.
    NotFound(
        /// The id.
        String,
    ),
    /// It has ended already.
    Ended {
        /// The id.
        attempt: String,
        /// How it ended.
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

impl fmt::Display for AttemptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttemptError::NotFound(id) => write!(formatter, "there is no attempt `{id}`"),
            AttemptError::Ended { attempt, status } => {
                write!(formatter, "the attempt `{attempt}` has ended: {status}")
            }
        }
    }
}

impl std::error::Error for AttemptError {}

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
        // A clock that went back must not make an attempt end before it began.
        attempt.ended_at = Some(now.max(attempt.started_at));
        attempt.token_in = tokens.map(|(sent, _)| sent);
        attempt.token_out = tokens.map(|(_, received)| received);
        Ok(attempt)
    }

    pub(crate) fn list(&self) -> &[Attempt] {
        &self.0
    }
}
