//! Calls to a model. The keys are those of the specification.

use contextree::engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call to a model, recorded beside the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Its id: `attempt:12.1`.
    pub attempt_id: String,
    /// The coming commit when it was started.
    pub cycle_id: u32,
    /// Whether it is still running, and how it ended.
    pub status: AttemptStatus,
    /// When it was started, in nanoseconds since 1970.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The hash of the parameters.
    pub params: String,
    /// The digest of the bytes that were sent.
    pub input: String,
    /// Tokens sent.
    pub token_in: Option<u64>,
    /// Tokens received.
    pub token_out: Option<u64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tokens that were read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens that were written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Why the model stopped, in the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// What arrived of an answer that was not completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

/// Whether an attempt is still running, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// The model has not answered yet.
    Running,
    /// The model answered.
    Completed,
    /// The call was canceled.
    Canceled,
    /// The call failed.
    Error,
}

impl AttemptStatus {
    /// Returns the status as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            AttemptStatus::Running => "running",
            AttemptStatus::Completed => "completed",
            AttemptStatus::Canceled => "canceled",
            AttemptStatus::Error => "error",
        }
    }
}

impl From<&engine::Attempt> for Attempt {
    fn from(attempt: &engine::Attempt) -> Self {
        let (status, error) = match &attempt.status {
            engine::AttemptStatus::Running => (AttemptStatus::Running, None),
            engine::AttemptStatus::Completed => (AttemptStatus::Completed, None),
            engine::AttemptStatus::Canceled => (AttemptStatus::Canceled, None),
            engine::AttemptStatus::Error(why) => (AttemptStatus::Error, Some(why.clone())),
        };
        let response = attempt.response.as_ref();
        Attempt {
            attempt_id: attempt.attempt_id.clone(),
            cycle_id: attempt.cycle_id,
            status,
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            provider: attempt.provider.clone(),
            model: attempt.model.clone(),
            params: attempt.params.to_string(),
            input: attempt.input.to_string(),
            token_in: attempt.token_in,
            token_out: attempt.token_out,
            error,
            cache_read: response.and_then(|response| response.cache_read),
            cache_write: response.and_then(|response| response.cache_write),
            stop_reason: response.and_then(|response| response.stop_reason.clone()),
            response_id: response.and_then(|response| response.response_id.clone()),
            partial: attempt.partial.clone(),
        }
    }
}
