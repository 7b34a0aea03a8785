//! One call of a model: its request, when it was made, and what was billed for it.

use contextree_json::Value;

use crate::cause::Evidence;
use crate::rendered::Rendered;

/// A call of a model.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The request, or as much of it as is known.
    pub request: Rendered<'a>,
    /// The snapshots of the previous call and of this one.
    pub evidence: Evidence<'a>,
    /// The number of bytes at the beginning of the request that are known to equal those of the
    /// previous one. A lower number only costs time.
    pub unchanged: usize,
    /// The model that was called, if it is known otherwise than from the request.
    pub model: Option<String>,
    /// The setting `thinking`, if it is known otherwise than from the request.
    pub thinking: Option<Value>,
    /// Whether the request is complete. Logs of agents lack the system text and the tools; their
    /// size is inferred from what was billed for the first call.
    pub is_complete: bool,
    /// The breakpoints that the request has; `None` if unknown: then those that
    /// [`breakpoints`](crate::breakpoints()) recommends are assumed.
    pub marks: Option<Vec<Mark>>,
    /// When the call began, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When the answer was complete.
    pub ended_ns: Option<i64>,
    /// What was billed.
    pub billed: Option<Billed>,
}

impl<'a> Call<'a> {
    /// Creates a call with a complete request, of which neither the time nor the bill is known.
    #[must_use]
    pub fn new(request: Rendered<'a>, evidence: Evidence<'a>) -> Self {
        Call {
            request,
            evidence,
            unchanged: 0,
            model: None,
            thinking: None,
            is_complete: true,
            marks: None,
            started_ns: None,
            ended_ns: None,
            billed: None,
        }
    }
}

/// A breakpoint that a request has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The node that carries it; `None` for the end of the request.
    pub node: Option<String>,
    /// Whether it asks for the longer lifetime.
    pub is_long: bool,
}

/// What a provider billed for a call, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Billed {
    /// The whole request, whether it was cached or not.
    pub input: u64,
    /// The part of the request that was read from the cache; `None` if the bill does not say.
    pub cached: Option<u64>,
    /// The part of the request that was written to the cache.
    pub written: Option<u64>,
    /// Of these, the tokens that stay for an hour.
    pub written_hour: Option<u64>,
    /// The answer.
    pub output: Option<u64>,
    /// Of these, the tokens of reasoning.
    pub reasoning: Option<u64>,
    /// Why the provider could not read more from its cache, if it says so.
    pub diagnosis: Option<Diagnosis>,
}

/// A provider's own diagnosis of a cache miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// The reason, in the provider's words: `tools_changed`.
    pub reason: String,
    /// The tokens that could have been read.
    pub tokens: Option<u64>,
}
