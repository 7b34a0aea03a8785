//! `cache`: how much of each request a provider can read from its prompt cache, and what broke the prefix.

use std::collections::BTreeMap;

use contextree::cache::{
    Break, Breakpoint as Advised, CacheRules, Cause, Evidence, Follower, Rendered, Step,
};
use contextree::provider::{Provider, RenderError, RenderOptions, RequestRenderer, render};
use contextree::tokens::{Estimate, Tokenizer};
use contextree::{CommitReport, Snapshot, TreeRef};
use contextree_json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::commit::read_budget;
use super::diff::in_order;
use super::tokens::tokenizer;
use crate::wire::{AnyObject, Document, Word};
use crate::workspace::{Address, Range, Reader};
use crate::{Advice, Control, Error, Workspace};

/// Reports on the prompt cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheRequest {
    /// The first state, or both as `A..B`; all snapshots if it is absent.
    #[serde(default)]
    pub from: Option<Range>,
    /// The second state; the working state if it is absent and `from` names one.
    #[serde(default)]
    pub to: Option<Address>,
    /// The provider.
    pub format: Word<Provider>,
    /// Fields of the request that are not content: `model`, `max_tokens` …
    #[serde(default)]
    #[schemars(with = "AnyObject")]
    pub settings: Object,
    /// What counts tokens; the model of the request, or an estimate for the provider, if it is absent.
    #[serde(default)]
    pub tokenizer: Option<String>,
    /// Only the newest snapshots.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Returns where to set breakpoints in the newest request.
    #[serde(default)]
    pub breakpoints: bool,
    /// The budget that the commits were made under: its rules are named where one pruned something.
    #[serde(default)]
    pub budget: Option<Document>,
}

/// A report on the prompt cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheResponse {
    /// Input tokens of all requests.
    pub tokens: u64,
    /// Of these, tokens that can be read from the cache.
    pub cached: u64,
    /// The share of these, in parts of a thousand.
    pub per_mille: u64,
    /// The model of the newest request.
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
    /// One for each request, oldest first.
    pub steps: Vec<CacheStep>,
    /// Snapshots without a message, and so without a request.
    pub skipped: Vec<String>,
    /// Where to set breakpoints in the newest request, if that was asked for.
    pub breakpoints: Vec<Breakpoint>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheStep {
    /// The name of the state.
    pub state: String,
    /// The number of its commit; null for the working state.
    pub cycle: Option<u32>,
    /// Input tokens.
    pub tokens: u64,
    /// Of these, tokens that can be read from the cache.
    pub cached: u64,
    /// The length of the request; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The bytes that it shares with the beginning of the request before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_bytes: Option<u64>,
    /// The tokens of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_tokens: Option<u64>,
    /// What broke the prefix; absent if the request only grew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<BrokenPrefix>,
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

/// What was found, before it is summed up.
struct Found {
    steps: Vec<CacheStep>,
    marks: Vec<Advised>,
    skipped: Vec<String>,
}

/// How requests are counted and cached.
struct Terms {
    tokenizer: Tokenizer,
    rules: CacheRules,
    model: Option<String>,
    /// The names of the limits of a policy.
    names: Vec<String>,
}

/// Reports how much of the prompt a provider can read from its cache. Renders every snapshot and compares it with the one before;
/// with two states, only these. Assumes that breakpoints are set as advised, and that nothing in the cache expires.
///
/// # Errors
///
/// If there is no snapshot, a state does not exist or has no message, or the tokenizer or budget is invalid.
pub fn cache(
    workspace: &Workspace,
    request: &CacheRequest,
    control: &Control<'_>,
) -> Result<CacheResponse, Error> {
    let _span = workspace.span("cache");
    control.check()?;
    let mut reader = workspace.read()?;
    // Marks are not part of what is cached.
    let options =
        RenderOptions { settings: request.settings.clone(), marks: Some(BTreeMap::new()) };
    let names = match &request.budget {
        None => Vec::new(),
        Some(document) => {
            let budget = read_budget(document, reader.edition())?;
            budget.rules().into_iter().map(|(rule, _)| rule.key().to_owned()).collect()
        }
    };
    let (found, terms) = match request.from {
        None => history(request, &options, names, &mut reader, control)?,
        Some(from) => pair(request, from, &options, names, &mut reader)?,
    };
    let tokens = found.steps.iter().map(|step| step.tokens).sum();
    let cached: u64 = found.steps.iter().map(|step| step.cached).sum();
    let marks = found.marks.iter().filter(|_| request.breakpoints);
    Ok(CacheResponse {
        tokens,
        cached,
        per_mille: (cached * 1000).checked_div(tokens).unwrap_or(0),
        model: terms.model,
        tokenizer: terms.tokenizer.name().to_owned(),
        exact: false,
        error_percent: terms.tokenizer.request_error_percent(),
        rules: terms.rules.name.to_owned(),
        min_tokens: terms.rules.min_tokens,
        breakpoints: marks.map(Breakpoint::from).collect(),
        steps: found.steps,
        skipped: found.skipped,
    })
}

impl From<&Advised> for Breakpoint {
    fn from(mark: &Advised) -> Self {
        Breakpoint {
            node: mark.node.clone(),
            path: mark.path.clone(),
            offset: mark.offset,
            tokens: mark.tokens,
            blocks: mark.blocks,
            purpose: mark.purpose.word().to_owned(),
            automatic: mark.automatic,
        }
    }
}

impl From<&Break> for BrokenPrefix {
    fn from(broken: &Break) -> Self {
        let mut form = BrokenPrefix {
            offset: broken.offset,
            node: broken.node.clone(),
            path: broken.path.clone(),
            cause: broken.cause.word().to_owned(),
            message: broken.cause.to_string(),
            reason: broken.reason.word().to_owned(),
            tokens_lost: broken.tokens_lost,
            advice: broken.cause.advice().to_owned(),
            fields: None,
            limit: None,
            rule: None,
            setting: None,
        };
        match &broken.cause {
            Cause::Edited { fields } => form.fields = Some(fields.clone()),
            Cause::Pruned { limit, rule } => {
                form.limit = Some(*limit);
                form.rule = Some(rule.clone());
            }
            Cause::Setting { name } => form.setting = Some(name.clone()),
            _ => {}
        }
        form
    }
}

fn cache_step(state: String, cycle: Option<u32>, step: &Step) -> CacheStep {
    let report = step.report.as_ref();
    CacheStep {
        state,
        cycle,
        tokens: step.tokens,
        cached: step.cached,
        bytes: report.map(|report| report.bytes.total),
        prefix_bytes: report.map(|report| report.bytes.prefix),
        prefix_tokens: report.map(|report| report.tokens.prefix),
        broken: report.and_then(|report| report.broken.as_ref()).map(BrokenPrefix::from),
    }
}

/// All snapshots, or the newest.
fn history(
    request: &CacheRequest,
    options: &RenderOptions,
    names: Vec<String>,
    reader: &mut Reader,
    control: &Control<'_>,
) -> Result<(Found, Terms), Error> {
    let limit =
        request.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    // One more, so that the first row has one before it.
    let mut snapshots = reader.newest_snapshots(limit.saturating_add(1))?;
    snapshots.reverse();
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
        return Err(Error::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
            .with_advice(Advice::FirstCommit));
    };
    let reports = reader.reports(first.cycle(), last.cycle())?;
    let views = snapshots.iter().rev().map(Snapshot::view);
    let terms = terms(request, options, names, views)?;
    let mut renderer = RequestRenderer::new(request.format.0, options.clone());
    let mut follower = Follower::new(terms.tokenizer, terms.rules);
    let mut found = Found { steps: Vec::new(), marks: Vec::new(), skipped: Vec::new() };
    let mut before: Option<&Snapshot> = None;
    for (index, snapshot) in snapshots.iter().enumerate() {
        control.check()?;
        let label = format!("@c{}", snapshot.cycle());
        let rendered = match renderer.render(snapshot.tree()) {
            Ok(rendered) => rendered,
            Err(RenderError::Empty) => {
                found.skipped.push(label);
                continue;
            }
            Err(error) => return Err(no_request(&error, &label)),
        };
        let older = before.unwrap_or(snapshot);
        let between = between(&reports, older.cycle(), snapshot.cycle());
        let evidence = Evidence::new(older.view(), snapshot.view())
            .with_reports(&between)
            .with_rules(&terms.names);
        let step = follower.follow(&Rendered::from(rendered), &evidence);
        // Leaves out the extra one.
        if index > 0 || snapshots.len() <= limit {
            found.steps.push(cache_step(label, Some(snapshot.cycle()), step));
        }
        before = Some(snapshot);
    }
    found.marks = follower.finish().breakpoints;
    Ok((found, terms))
}

/// Two states, the older one first.
fn pair(
    request: &CacheRequest,
    from: Range,
    options: &RenderOptions,
    names: Vec<String>,
    reader: &mut Reader,
) -> Result<(Found, Terms), Error> {
    let to = match (from.to, request.to) {
        (Some(_), Some(_)) => {
            return Err(Error::usage("three states are given, two can be compared")
                .with_advice(Advice::TwoStates("cache")));
        }
        (to, other) => to.or(other).unwrap_or(Address::Working),
    };
    let (older, newer) = in_order(reader.state(from.from)?, reader.state(to)?);
    let terms = terms(request, options, names, [newer.tree(), older.tree()])?;
    let reports = match (older.cycle(), newer.cycle()) {
        (Some(older), Some(newer)) => reader.reports(older, newer)?,
        _ => BTreeMap::new(),
    };
    let between = between(&reports, 0, u32::MAX);
    let mut follower = Follower::new(terms.tokenizer, terms.rules);
    let mut found = Found { steps: Vec::new(), marks: Vec::new(), skipped: Vec::new() };
    for state in [&older, &newer] {
        let rendered = render(state.tree(), request.format.0, options)
            .map_err(|error| no_request(&error, &state.label))?;
        let evidence = Evidence::new(older.tree(), state.tree())
            .with_reports(&between)
            .with_rules(&terms.names);
        let step = follower.follow(&Rendered::from(&rendered), &evidence);
        found.steps.push(cache_step(state.label.clone(), state.cycle(), step));
    }
    found.marks = follower.finish().breakpoints;
    Ok((found, terms))
}

fn between(reports: &BTreeMap<u32, CommitReport>, older: u32, newer: u32) -> Vec<&CommitReport> {
    let after = older.saturating_add(1).min(newer);
    reports.range(after..=newer).map(|(_, report)| report).collect()
}

fn no_request(error: &RenderError, label: &str) -> Error {
    Error::new(error.code(), format!("{label}: {error}")).with_hint(error.hint())
}

/// Decides how to count, by the newest request.
fn terms<'t>(
    request: &CacheRequest,
    options: &RenderOptions,
    names: Vec<String>,
    trees: impl IntoIterator<Item = TreeRef<'t>>,
) -> Result<Terms, Error> {
    let format = request.format.0;
    let newest = trees.into_iter().find_map(|tree| render(tree, format, options).ok());
    let model = newest.and_then(|request| Rendered::from(&request).model());
    let tokenizer = match &request.tokenizer {
        Some(name) => tokenizer(name)?,
        None => counted_by(format, model.as_deref()),
    };
    let rules = rules(format, model.as_deref());
    Ok(Terms { tokenizer, rules, model, names })
}

/// Returns the rules of a provider's cache for a model.
pub(super) fn rules(format: Provider, model: Option<&str>) -> CacheRules {
    let name = model.unwrap_or_default();
    match format {
        Provider::Anthropic => CacheRules::anthropic(name),
        Provider::Gemini => CacheRules::gemini(name),
        _ => CacheRules::openai(name),
    }
}

/// Returns what counts requests for a model.
pub(super) fn counted_by(format: Provider, model: Option<&str>) -> Tokenizer {
    match model {
        Some(model) => Tokenizer::named(model).unwrap_or_else(|_| usual(format, true)),
        None => usual(format, false),
    }
}

/// Returns what counts requests of a format whose model has no tokenizer of its own.
fn usual(format: Provider, is_other: bool) -> Tokenizer {
    match format {
        Provider::Anthropic => Tokenizer::Estimate(Estimate::CLAUDE_5),
        Provider::Gemini => Tokenizer::Estimate(Estimate::GEMINI),
        // Many other models take requests in the format of OpenAI.
        _ if is_other => Tokenizer::Estimate(Estimate::OTHER),
        _ => Tokenizer::default(),
    }
}
