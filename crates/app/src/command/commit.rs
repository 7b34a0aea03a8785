//! `commit`: expire, prune, seal, snapshot; under a policy or under a budget in tokens.

use std::collections::BTreeMap;

use contextree::budget::{Budget, Keeper, Rule, bind};
use contextree::{CommitOptions, Limit, MeasureName, Policy, Region};
use contextree_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{BudgetReport, read_budget, usual_tokenizer};
use crate::wire::{AnyValue, Document, Report};
use crate::workspace::{Access, Change};
use crate::{Control, Error, Workspace};

/// Commits the turn in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommitRequest {
    /// A pruning policy: `{"protect_turns":1,"limits":[{"limit":"total","measure":"bytes","max":8000}]}`; the context's own if it is
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub policy: Option<Value>,
    /// Ignores the context's own policy.
    pub no_policy: bool,
    /// At most this many bytes of content in the whole tree.
    pub max_bytes: Option<u64>,
    /// At most this many blocks in the whole tree.
    pub max_nodes: Option<u64>,
    /// At most this many turns, the new one included; older ones are pruned whole.
    pub max_turns: Option<u64>,
    /// At most this many bytes of content by region: `^sys`, `^seq`, `^ah`.
    pub max_region: BTreeMap<String, u64>,
    /// The newest turns that are not pruned; 1 if it is absent.
    pub protect: Option<u64>,
    /// A budget in tokens, as TOML or JSON, or a number of tokens such as `20k`, instead of a policy and limits.
    pub budget: Option<Document>,
    /// How to change the context.
    pub change: Change,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitResponse {
    /// What the commit did.
    pub report: Report,
    /// The policy that it was made under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub policy: Option<Value>,
    /// What the budget did, if the commit was made under one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
    /// True if the context has a policy of its own that was ignored for the budget.
    #[serde(default)]
    pub policy_ignored: bool,
}

/// Commits the turn in progress: expires nodes, prunes what is over a limit, seals the turn and adds a snapshot.
///
/// # Errors
///
/// If the policy or the budget is invalid, or another process wrote first. A limit that cannot be kept is part of the response.
pub fn commit(
    workspace: &Workspace,
    request: &CommitRequest,
    control: &Control<'_>,
) -> Result<CommitResponse, Error> {
    let _span = workspace.span("commit");
    control.check()?;
    if let Some(budget) = &request.budget {
        // Exclusions are read in the edition of the context when they are applied.
        let reader = workspace.read()?;
        let budget = read_budget(budget, reader.edition())?;
        let own = reader.stored().and_then(|stored| stored.settings().policy.as_ref());
        let ignored = own.is_some_and(|policy| *policy != budget.policy());
        drop(reader);
        return under_budget(workspace, budget, ignored, &request.change, control);
    }
    let policy = policy(workspace, request)?;
    if let Some(budget) = policy.as_ref().and_then(Budget::of_policy)
        && counts_tokens(&budget)
    {
        return under_budget(workspace, budget, false, &request.change, control);
    }
    let measures = match &policy {
        Some(policy) => bind(policy, usual_tokenizer(workspace)?, 0),
        None => Vec::new(),
    };
    let limits = control.query_limits(None);
    let options = CommitOptions {
        limits: Some(&limits),
        policy: policy.as_ref(),
        measures: &measures,
        without_policy: request.no_policy && policy.is_none(),
        ..CommitOptions::default()
    };
    let report = workspace.change("commit", &request.change, |context| {
        context.commit_with(&options).map_err(|error| Error::commit(&error))
    })?;
    tracing::debug!(cycle = report.cycle.get(), pruned = report.pruned.len(), "committed");
    Ok(CommitResponse {
        report: Report::from(&report),
        policy: policy.as_ref().map(Policy::to_value),
        budget: None,
        policy_ignored: false,
    })
}

/// Returns whether a budget counts tokens. A policy that only limits turns could be either.
fn counts_tokens(budget: &Budget) -> bool {
    budget.rules().iter().any(|(rule, _)| *rule != Rule::MaxTurns)
}

/// Returns the policy: that of the request, or the context's own, with the limits of the request.
fn policy(workspace: &Workspace, request: &CommitRequest) -> Result<Option<Policy>, Error> {
    let mut policy = match &request.policy {
        Some(value) => Some(read_policy(value)?),
        None if request.no_policy || workspace.is_document() => None,
        None => {
            let stored = workspace.store(Access::Read)?.reader(workspace.context())?;
            stored.settings().policy.clone()
        }
    };
    let bytes = MeasureName::Bytes;
    let mut limits = Vec::new();
    limits.extend(request.max_turns.map(Limit::Depth));
    for (word, max) in &request.max_region {
        let region = Region::from_word(word).ok_or_else(|| {
            Error::usage(format!("unknown region `{word}`; expected ^sys, ^seq or ^ah"))
        })?;
        limits.push(Limit::Region { region, measure: bytes.clone(), max: *max });
    }
    limits.extend(request.max_bytes.map(|max| Limit::Total { measure: bytes.clone(), max }));
    limits.extend(request.max_nodes.map(|max| Limit::Total { measure: MeasureName::Nodes, max }));
    if !limits.is_empty() || request.protect.is_some() {
        let policy = policy.get_or_insert_with(Policy::default);
        policy.limits.extend(limits);
        policy.protect_turns = request.protect.unwrap_or(policy.protect_turns);
    }
    Ok(policy)
}

/// Reads a policy.
pub(super) fn read_policy(value: &Value) -> Result<Policy, Error> {
    Policy::from_value(value).map_err(|error| {
        Error::new(error.code(), error.to_string())
            .with_detail("place", error.at.as_str())
            .with_hint("for example {\"limits\":[{\"limit\":\"total\",\"measure\":\"bytes\",\"max\":8000}]}")
    })
}

fn under_budget(
    workspace: &Workspace,
    budget: Budget,
    policy_ignored: bool,
    change: &Change,
    control: &Control<'_>,
) -> Result<CommitResponse, Error> {
    let keeper = Keeper::for_requests(budget, usual_tokenizer(workspace)?, 0)
        .with_limits(control.query_limits(None));
    let (forecast, report) = workspace.change("commit", change, |context| {
        let forecast = keeper.preview(context).map_err(|error| Error::commit(&error))?;
        let report = keeper.accept(context, &forecast).map_err(|error| Error::commit(&error))?;
        Ok((forecast, report))
    })?;
    tracing::debug!(cycle = report.cycle.get(), pruned = report.pruned.len(), "committed");
    Ok(CommitResponse {
        report: Report::from(&report),
        policy: None,
        budget: Some(BudgetReport::new(&forecast, &keeper)),
        policy_ignored,
    })
}
