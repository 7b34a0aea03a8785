//! `cache`: for each call of a model, what can be read from the provider's prompt cache, what was billed, and the reason for every miss.

mod calls;
mod marks;
mod respond;
mod terms;

use contextree::provider::Provider;
use contextree_json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{AnyObject, Document, Word};
use crate::workspace::{Address, Range};
use crate::{Control, Error, Workspace};

pub(super) use terms::rules;

/// Reports on the prompt cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CacheRequest {
    /// The first state, or both as `A..B`; all calls if it is absent.
    pub from: Option<Range>,
    /// The second state; the working state if it is absent and `from` names one.
    pub to: Option<Address>,
    /// The provider; the one that was called if it is absent.
    pub format: Option<Word<Provider>>,
    /// Fields of the request that are not content: `model`, `max_tokens` …
    #[schemars(with = "AnyObject")]
    pub settings: Object,
    /// What counts tokens; the model of the call, or an estimate for the provider, if it is absent.
    pub tokenizer: Option<String>,
    /// Only the newest calls.
    pub limit: Option<u64>,
    /// Returns where to set breakpoints in the newest request.
    pub breakpoints: bool,
    /// The budget that the commits were made under: its rules are named where one pruned something.
    pub budget: Option<Document>,
    /// Prices of models: adds what calls cost.
    pub prices: Option<Document>,
}

/// A report on the prompt cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheResponse {
    /// The provider.
    pub provider: String,
    /// The model of the newest call.
    pub model: Option<String>,
    /// What counted.
    pub tokenizer: String,
    /// Always false: the size of a request besides its texts is an estimate.
    pub exact: bool,
    /// How far the counts may be off, in per cent.
    pub error_percent: u64,
    /// The rules of the provider's cache.
    pub rules: String,
    /// The least number of tokens that the provider caches.
    pub min_tokens: u64,
    /// Input tokens of all calls, as estimated.
    pub tokens: u64,
    /// Of these, tokens that the rules allow to be read from the cache.
    pub cached: u64,
    /// The share of these, in parts of a thousand.
    pub per_mille: u64,
    /// What was billed, if calls have usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed: Option<BilledCalls>,
    /// What each reason for a miss cost, most tokens first.
    pub reasons: Vec<CacheReason>,
    /// What all calls cost, if prices were passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The calls, oldest first.
    pub calls: Vec<CacheCall>,
    /// Snapshots without a message, and so without a request.
    pub skipped: Vec<String>,
    /// Where to set breakpoints in the newest request, if that was asked for.
    pub breakpoints: Vec<Breakpoint>,
}

/// Bills and predictions for the same calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BilledCalls {
    /// The number of calls with usage.
    pub calls: u64,
    /// Their input tokens, as billed.
    pub tokens: u64,
    /// Of these, tokens that were read from the cache; absent if no bill says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// The share of these, in parts of a thousand, of the calls whose bill says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_mille: Option<u64>,
    /// The share that the rules predict for the same calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_per_mille: Option<u64>,
    /// How many tokens requests grew from call to call, as estimated; without the calls whose request does not extend the previous one.
    pub growth_estimated: i64,
    /// The same as billed.
    pub growth_billed: i64,
}

/// What one reason cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheReason {
    /// The reason, as a word.
    pub reason: String,
    /// The number of calls.
    pub calls: u64,
    /// The tokens that were not read from the cache: as billed, if known, else as predicted.
    pub tokens: u64,
}

/// One call, or one state that could be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheCall {
    /// The name of the state.
    pub state: String,
    /// The number of its commit; null for the working state.
    pub cycle: Option<u32>,
    /// The attempt that recorded the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// The user message that the call serves, by node id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<String>,
    /// The beginning of that message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When the call began, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// The seconds since the previous call ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_seconds: Option<u64>,
    /// Input tokens, as estimated.
    pub tokens: u64,
    /// Of these, tokens that the rules allow to be read from the cache.
    pub cached: u64,
    /// The parts of these numbers that are inferred from usage; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<InferredTokens>,
    /// What was billed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed: Option<BilledCall>,
    /// Why the previous request could not be read from the cache, or not as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss: Option<CacheMiss>,
    /// The length of the request; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The bytes that it shares with the beginning of the previous request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_bytes: Option<u64>,
    /// The tokens of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_tokens: Option<u64>,
    /// What broke the prefix; absent if the request only grew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<BrokenPrefix>,
    /// What the call cost, if prices were passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// Tokens that are inferred from usage, because the log does not contain what they stand for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InferredTokens {
    /// System text and tools, from the usage of the first call.
    pub prefix: u64,
    /// Reasoning that was returned without its text, from the usage of its answer.
    pub reasoning: u64,
    /// Logged content that the request leaves out: requests became shorter without a trace in the log.
    pub cleared: u64,
    /// What was in the cache before the first call.
    pub cached: u64,
    /// Whether the log lacks system text and tools, and no usage tells their size: the request is larger than estimated.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lacks_prefix: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// What was billed for a call, in tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BilledCall {
    /// Input.
    pub tokens: u64,
    /// Of these, read from the cache; absent if the bill does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Of these, written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// Of these, written for an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_1h: Option<u64>,
    /// Output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Of these, reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Why the provider could not read more from its cache, in its words: `tools_changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<String>,
    /// The tokens that could have been read, as the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosed_tokens: Option<u64>,
}

/// Why a call did not read the previous request from the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheMiss {
    /// The reason, as a word.
    pub reason: String,
    /// The reason, for people.
    pub message: String,
    /// The tokens that cannot be read by the rules.
    pub predicted: u64,
    /// The tokens that were not read, by the bill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed: Option<u64>,
    /// For an expired entry: how long it stays, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_seconds: Option<u64>,
    /// For an unexplained miss: the node near which the provider stopped reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// How to avoid it.
    pub advice: String,
}

/// What broke the prefix of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrokenPrefix {
    /// The first byte that differs.
    pub offset: u64,
    /// The node that it belongs to.
    pub node: Option<String>,
    /// Where that is in the request, as a JSON path.
    pub path: Option<String>,
    /// The cause, as a word.
    pub cause: String,
    /// The cause, for people.
    pub message: String,
    /// The reason that the provider would name.
    pub reason: String,
    /// Tokens after the break that the cache had.
    pub tokens_lost: u64,
    /// How to avoid it.
    pub advice: String,
    /// For an edited node: the fields that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    /// For a pruned node: the limit, by its position in the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// For a pruned node: the rule of the budget, or null if none was passed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub rule: Option<Option<String>>,
    /// For a changed setting: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

/// Reads a value that is there, so that `null` differs from an absent key.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// An amount of money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The currency of the prices.
    pub currency: String,
    /// Millionths of it.
    pub micros: u64,
    /// The sum of all listed calls up to this one, in millionths.
    pub total_micros: u64,
}

/// Where to set a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breakpoint {
    /// The node whose last part gets it.
    pub node: String,
    /// Where that is in the request, as a JSON path.
    pub path: Option<String>,
    /// The byte after it.
    pub offset: u64,
    /// Tokens up to it.
    pub tokens: u64,
    /// Blocks since the breakpoint before.
    pub blocks: usize,
    /// What it is for, as a word.
    pub purpose: String,
    /// True if the provider sets it automatically.
    pub automatic: bool,
}

/// Reports what calls can read from the provider's cache, what was billed, and why not more was read. Takes the calls that were made here
/// or are known from a log; without any, every snapshot counts as a call of which neither time nor bill is known. With two states, only
/// these. Assumes that breakpoints are set as advised.
///
/// # Errors
///
/// If there is no snapshot, a state does not exist or has no message, no provider is known, or the tokenizer, the budget or the prices are
/// invalid.
pub fn cache(
    workspace: &Workspace,
    request: &CacheRequest,
    control: &Control<'_>,
) -> Result<CacheResponse, Error> {
    let _span = workspace.span("cache");
    control.check()?;
    let mut reader = workspace.read()?;
    let found = match request.from {
        None => calls::history(request, &mut reader, control)?,
        Some(from) => calls::pair(request, from, &mut reader)?,
    };
    respond::response(request, found)
}
