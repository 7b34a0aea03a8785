//! What a call takes and gives.

use std::fmt;

use contextree_canon::Hash;
use contextree_json::Value;

use crate::attempt::AttemptError;
use crate::error::{BatchError, CommitError};

/// Describes the request of a call that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallStart {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The hash of the parameters.
    pub params: Hash,
    /// The hash of the exact bytes that are sent; `None` if a log does not contain them.
    pub input: Option<Hash>,
    /// The user message that the call serves, by node id. `None` lets the engine find it: the newest one in the core of a turn.
    pub serves: Option<String>,
    /// Everything that is needed to render the snapshot to the same bytes again, as JSON text. The engine does not read it.
    pub options: String,
}

/// The request of a call, as it is kept with its attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    /// The digest of the snapshot that was rendered. If the call is completed, it is the snapshot of the attempt's cycle.
    pub snapshot: Hash,
    /// How it was rendered: [`CallStart::options`].
    pub options: String,
}

/// What a provider reports with its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutcome {
    /// Tokens sent, as they are billed.
    pub token_in: Option<u64>,
    /// Tokens received, as they are billed.
    pub token_out: Option<u64>,
    /// The rest.
    pub response: CallResponse,
}

/// What a provider reports with its answer, besides the tokens that every attempt has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallResponse {
    /// Tokens that were read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens that were written to the provider's cache, for any lifetime.
    pub cache_write: Option<u64>,
    /// Of these, the tokens that are kept for five minutes.
    pub cache_write_5m: Option<u64>,
    /// Of these, the tokens that are kept for an hour.
    pub cache_write_1h: Option<u64>,
    /// Of the tokens received, those of the model's reasoning.
    pub reasoning: Option<u64>,
    /// The model that answered, which may be more exact than the one asked for.
    pub model: Option<String>,
    /// Why the model stopped, in the provider's words.
    pub stop_reason: Option<String>,
    /// The provider's id of the response.
    pub response_id: Option<String>,
    /// The provider's id of the request, as it is in its logs.
    pub request_id: Option<String>,
    /// What the provider says about the call besides, such as the reason of a cache miss.
    pub diagnostics: Option<Value>,
}

/// A call that was made elsewhere and is known from a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// What was sent.
    pub start: CallStart,
    /// When it was sent, in nanoseconds since 1970.
    pub started_at: i64,
    /// When the answer was complete.
    pub ended_at: Option<i64>,
    /// What the provider reported.
    pub outcome: CallOutcome,
    /// Where the call is known from: the format of the log.
    pub source: String,
}

/// Why a call could not be begun, completed or ended. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The commit that would be sent is not possible: a call is running already, the preview is stale, the policy cannot be applied.
    Commit(CommitError),
    /// There is no such attempt, it has ended, or it has no request.
    Attempt(AttemptError),
    /// A node of the answer is refused.
    Answer(BatchError),
    /// The partial answer is longer than [`MAX_PARTIAL_BYTES`](crate::MAX_PARTIAL_BYTES).
    PartialTooLong {
        /// Its length in bytes.
        bytes: usize,
    },
}

impl CallError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            CallError::Commit(error) => error.code(),
            CallError::Attempt(error) => error.code(),
            CallError::Answer(batch) => batch.error.code(),
            CallError::PartialTooLong { .. } => "E_LIMIT",
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Commit(error) => error.fmt(formatter),
            CallError::Attempt(error) => error.fmt(formatter),
            CallError::Answer(BatchError { index, error }) => {
                write!(formatter, "part {} of the answer: {error}", index + 1)
            }
            CallError::PartialTooLong { bytes } => write!(
                formatter,
                "a partial answer of {bytes} bytes would exceed the limit of {} bytes",
                super::MAX_PARTIAL_BYTES
            ),
        }
    }
}

impl std::error::Error for CallError {}

impl From<CommitError> for CallError {
    fn from(error: CommitError) -> Self {
        CallError::Commit(error)
    }
}

impl From<AttemptError> for CallError {
    fn from(error: AttemptError) -> Self {
        CallError::Attempt(error)
    }
}
