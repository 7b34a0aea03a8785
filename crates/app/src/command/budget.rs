//! `budget`: a budget in tokens that is stored with a context, and what budgets did.

use contextree::budget::{Budget, Forecast, Keeper, parse_size};
use contextree::tokens::Tokenizer;
use contextree::{Edition, budget_of, set_budget};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::Document;
use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Stores a budget with the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetBudgetRequest {
    /// The budget, as TOML or JSON.
    pub budget: Document,
}

/// The budget of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetResponse {
    /// The budget as a file in TOML; absent if the context has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// True if the context has a policy that is not a budget. A budget takes its place.
    #[serde(default)]
    pub has_policy: bool,
    /// True if the request removed or replaced a budget or a policy.
    #[serde(default)]
    pub replaced: bool,
}

/// What a budget in tokens did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetReport {
    /// What was removed and why, in one sentence.
    pub summary: String,
    /// What counted the tokens.
    pub tokenizer: String,
    /// How far the counts may be off, in per cent.
    pub error_percent: u64,
    /// True if all its rules are kept.
    pub kept: bool,
    /// Tokens of the request with everything in the working state.
    pub tokens_before: u64,
    /// Tokens that expired.
    pub tokens_expiring: u64,
    /// Tokens of the request: of the new snapshot, and of settings.
    pub tokens_after: u64,
    /// Tool results that were cleared, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<ClearedForBudget>,
    /// Nodes that were pruned, in this order.
    pub going: Vec<PrunedForBudget>,
    /// Rules that could not be kept, because everything left is protected.
    pub missed: Vec<MissedRule>,
}

/// A tool result that was cleared for a budget: a placeholder took its place, and earlier snapshots have it still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClearedForBudget {
    /// The result.
    pub node: String,
    /// The block that took its place.
    pub placeholder: String,
    /// The tokens that were saved.
    pub tokens: u64,
    /// The rule that it was cleared for.
    pub rule: String,
    /// Why this result, for people.
    pub reason: String,
}

/// A node that was pruned for a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrunedForBudget {
    /// The node.
    pub node: String,
    /// Its tokens.
    pub tokens: u64,
    /// The rule that it was pruned for.
    pub rule: String,
    /// Why this node, for people.
    pub reason: String,
}

/// A rule of a budget that could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MissedRule {
    /// The rule.
    pub rule: String,
    /// What it counts: the id of a turn, a region, or empty for the whole request.
    pub scope: String,
    /// What is left.
    pub left: u64,
}

impl BudgetReport {
    pub(super) fn new(forecast: &Forecast, keeper: &Keeper) -> Self {
        let going = forecast.going.iter().map(|going| PrunedForBudget {
            node: going.node.clone(),
            tokens: going.tokens,
            rule: going.rule.key().to_string(),
            reason: going.reason(),
        });
        let cleared = forecast.clearing.iter().map(|clearing| ClearedForBudget {
            node: clearing.node.clone(),
            placeholder: clearing.placeholder.clone(),
            tokens: clearing.tokens,
            rule: clearing.rule.key().to_string(),
            reason: clearing.reason(),
        });
        let missed = forecast.missed.iter().map(|missed| MissedRule {
            rule: missed.rule.key().to_string(),
            scope: missed.scope.clone(),
            left: missed.left,
        });
        let tokenizer = keeper.counter().tokenizer();
        BudgetReport {
            summary: forecast.summary(keeper.budget().max_tokens),
            tokenizer: tokenizer.name().to_owned(),
            error_percent: tokenizer.request_error_percent(),
            kept: forecast.missed.is_empty(),
            tokens_before: forecast.tokens_before,
            tokens_expiring: forecast.tokens_expiring,
            tokens_after: forecast.tokens_after,
            cleared: cleared.collect(),
            going: going.collect(),
            missed: missed.collect(),
        }
    }
}

/// The command in the operation log, so that a change of the budget can be undone.
const COMMAND: &str = "budget";

/// Returns the budget of the context.
///
/// # Errors
///
/// If the context does not exist.
pub fn show_budget(workspace: &Workspace, control: &Control<'_>) -> Result<BudgetResponse, Error> {
    let _span = workspace.span("budget");
    control.check()?;
    let store = workspace.store(Access::Read)?;
    let reader = store.reader(workspace.context())?;
    let budget = budget_of(reader.settings());
    Ok(BudgetResponse {
        has_policy: budget.is_none() && reader.settings().policy.is_some(),
        budget: budget.as_ref().map(Budget::to_toml),
        replaced: false,
    })
}

/// Stores a budget with the context, in place of its policy. It applies to every call and commit that names no other.
///
/// # Errors
///
/// If the budget is invalid, or the context cannot be changed.
pub fn set(
    workspace: &Workspace,
    request: &SetBudgetRequest,
    control: &Control<'_>,
) -> Result<BudgetResponse, Error> {
    let _span = workspace.span("budget");
    control.check()?;
    let store = workspace.store(Access::Write)?;
    let mut session = workspace.session(&store)?;
    session.set_command(COMMAND);
    let budget = read_budget(&request.budget, session.settings().edition)?;
    let replaced = session.settings().policy.is_some();
    set_budget(&mut session, Some(&budget))?;
    Ok(BudgetResponse { budget: Some(budget.to_toml()), has_policy: false, replaced })
}

/// Removes the budget of the context. A policy that is not a budget stays.
///
/// # Errors
///
/// If the context cannot be changed.
pub fn unset(workspace: &Workspace, control: &Control<'_>) -> Result<BudgetResponse, Error> {
    let _span = workspace.span("budget");
    control.check()?;
    let store = workspace.store(Access::Write)?;
    let mut session = workspace.session(&store)?;
    session.set_command(COMMAND);
    let replaced = budget_of(session.settings()).is_some();
    if replaced {
        set_budget(&mut session, None)?;
    }
    let has_policy = session.settings().policy.is_some();
    Ok(BudgetResponse { budget: None, has_policy, replaced })
}

/// Reads a budget, with selectors of an edition: a file in TOML or JSON, or a number of tokens such as `20k`.
pub(crate) fn read_budget(document: &Document, edition: Edition) -> Result<Budget, Error> {
    let name = &document.name;
    let text = std::str::from_utf8(&document.text)
        .map_err(|_| Error::usage(format!("{name} is not UTF-8 text")))?;
    if let Some(tokens) = parse_size(text.trim()) {
        return Ok(Budget::new().max_tokens(tokens));
    }
    Budget::read(text, edition).map_err(|error| {
        Error::new(error.code(), format!("{name}: {error}"))
            .with_detail("key", error.key.as_str())
            .with_detail("line", error.line as u64)
            .with_detail("column", error.column as u64)
            .with_detail("reason", error.fault.word())
            .with_hint(error.hint())
    })
}

/// Returns the tokenizer that counts for a commit without a request: that of the model which was asked last.
pub(super) fn usual_tokenizer(workspace: &Workspace) -> Result<Tokenizer, Error> {
    let mut reader = workspace.read()?;
    let state = reader.working()?;
    let known = super::known::Known::find(&mut reader, state.tree(), None)?;
    Ok(known.map_or_else(Tokenizer::default, |known| {
        contextree::calls::tokenizer_of(known.provider, known.model.as_deref())
    }))
}
