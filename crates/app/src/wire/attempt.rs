//! Calls to a model. The keys are those of the specification.

use contextree::engine;
use contextree_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AnyValue;

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
    /// The digest of the bytes that were sent; absent if the call is known from a log that does not contain them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Tokens sent.
    pub token_in: Option<u64>,
    /// Tokens received.
    pub token_out: Option<u64>,
    /// The user message that the call serves, by node id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<String>,
    /// The format of the log that the call is known from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tokens that were read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens that were written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Of these, the tokens that are kept for five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_5m: Option<u64>,
    /// Of these, the tokens that are kept for an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<u64>,
    /// Of the tokens received, those of the model's reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The model that answered, if it differs from the one asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Why the model stopped, in the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The provider's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What the provider says about the call besides, such as the reason of a cache miss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub diagnostics: Option<Value>,
    /// What arrived of an answer that was not completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// The answer as it was received, if the tree does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub answer: Option<Value>,
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
        let response = attempt.response.clone().unwrap_or_default();
        Attempt {
            attempt_id: attempt.attempt_id.clone(),
            cycle_id: attempt.cycle_id.get(),
            status,
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            provider: attempt.provider.clone(),
            model: attempt.model.clone(),
            params: attempt.params.to_string(),
            input: attempt.input.map(|input| input.to_string()),
            token_in: attempt.token_in,
            token_out: attempt.token_out,
            serves: attempt.serves.clone(),
            source: attempt.source.clone(),
            error,
            cache_read: response.cache_read,
            cache_write: response.cache_write,
            cache_write_5m: response.cache_write_5m,
            cache_write_1h: response.cache_write_1h,
            reasoning: response.reasoning,
            answered_by: response.model.filter(|model| *model != attempt.model),
            stop_reason: response.stop_reason,
            response_id: response.response_id,
            request_id: response.request_id,
            diagnostics: response.diagnostics,
            partial: attempt.partial.clone(),
            answer: attempt.answer.clone(),
        }
    }
}
