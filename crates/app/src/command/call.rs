//! `request`, `answer`, `cancel`: one model call, from the exact request to the sealed snapshot.

use contextree::budget::{Budget, Keeper, transcript};
use contextree::calls::{self, Call};
use contextree::provider::{Provider, RenderOptions};
use contextree::{CommitOptions, Context, Summary};
use contextree_json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attempt::AttemptResponse;
use super::budget::BudgetReport;
use crate::wire::{AnyObject, Attempt, Document, Finding, Loss, Report, Word};
use crate::workspace::{Access, Change};
use crate::{Control, Error, Workspace};

/// Begins a model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginRequest {
    /// The provider.
    pub provider: Word<Provider>,
    /// Fields of the request that are not content: `model`, `max_tokens` …
    #[serde(default)]
    #[schemars(with = "AnyObject")]
    pub settings: Object,
    /// A budget in tokens, as TOML or JSON, or a number of tokens such as `20k`, instead of the context's own policy.
    #[serde(default)]
    pub budget: Option<Document>,
    /// A summary of what the budget prunes, which takes the place of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryOfPruned>,
    /// How to change the context. A dry run returns what would be sent, and begins nothing.
    #[serde(default)]
    pub change: Change,
}

/// A summary of nodes that a budget prunes. A dry run returns what there is to summarize.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryOfPruned {
    /// The text.
    pub text: String,
    /// The nodes that it summarizes: the ids in `report.pruned`, in the same order.
    pub of: Vec<String>,
}

/// A request to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginResponse {
    /// The attempt that is running; absent in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<String>,
    /// The exact bytes to send.
    pub request: String,
    /// The hash of these bytes.
    pub hash: String,
    /// What the commit expires and prunes. It becomes part of the history when the call is completed.
    pub report: Report,
    /// What the budget did, if the call is made under one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
    /// In a dry run: what is pruned, as text to be summarized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// What the provider would refuse or misread.
    pub findings: Vec<Finding>,
    /// What the request cannot express.
    pub losses: Vec<Loss>,
    /// False if the provider would refuse the request.
    pub accepted: bool,
}

/// Completes the running call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    /// The attempt; the one that is running if it is absent.
    #[serde(default)]
    pub id: Option<String>,
    /// The response as the provider returned it: a document, or the body of a stream.
    pub response: Document,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// A completed call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerResponse {
    /// The attempt, with what the provider reported.
    pub attempt: Attempt,
    /// The report of the commit, whose snapshot is what was sent.
    pub report: Report,
    /// The nodes of the answer, the first content of the next request.
    pub nodes: Vec<String>,
    /// The tools that the model wants to be called.
    pub tool_calls: Vec<ToolCall>,
    /// Parts of a stream that are unknown and therefore missing in the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

/// A tool that the model wants to be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: String,
}

/// Ends the running call without an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CancelRequest {
    /// The attempt; the one that is running if it is absent.
    pub id: Option<String>,
    /// Why the call failed; absent if it was canceled.
    pub error: Option<String>,
    /// What arrived of the answer, as text or as the body of a stream; its text is kept with the attempt.
    pub partial: Option<Document>,
    /// How to change the context.
    pub change: Change,
}

/// Keeps what has arrived of an answer with the attempt of the running call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachRequest {
    /// The attempt; the one that is running if it is absent.
    #[serde(default)]
    pub id: Option<String>,
    /// What has arrived so far, as text or as the body of a stream; it replaces what was kept before.
    pub partial: Document,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Begins a model call: commits the working state ahead and renders that snapshot. Nothing is sealed before the call is completed.
///
/// # Errors
///
/// If a call is running, there is nothing to send, the budget is invalid, or the context cannot be changed.
pub fn request(
    workspace: &Workspace,
    request: &BeginRequest,
    control: &Control<'_>,
) -> Result<BeginResponse, Error> {
    let _span = workspace.span("request");
    control.check()?;
    let options = RenderOptions { settings: request.settings.clone(), ..RenderOptions::default() };
    let asked = calls::Request { provider: request.provider.0, options };
    let budget = request.budget.as_ref().map(|file| budget_for(workspace, file)).transpose()?;
    let summary = request.summary.as_ref();
    let summary = summary.map(|it| Summary { text: it.text.clone(), of: it.of.clone() });
    if summary.as_ref().is_some_and(|summary| summary.text.trim().is_empty()) {
        return Err(Error::new("E_SUMMARY_FAILED", "the summary is empty"));
    }
    let limits = control.query_limits(None);
    let (call, report, transcript) = workspace.change("request", &request.change, |context| {
        let own = || context.policy().and_then(Budget::of_policy);
        let keeper = budget.clone().or_else(own).map(|budget| asked.keeper(budget));
        let is_read = keeper.is_some() || request.change.dry_run;
        let before = is_read.then(|| context.share_working());
        let options = keeper.as_ref().map(Keeper::options).unwrap_or_default();
        let options = CommitOptions { summary: summary.as_ref(), limits: Some(&limits), ..options };
        let call = asked.begin_in(context, &options)?;
        let is_pruned = request.change.dry_run && !call.report.pruned.is_empty();
        let pruned = before.as_ref().filter(|_| is_pruned);
        let transcript = pruned.map(|before| transcript(before.view(), &call.report));
        let report = keeper.zip(before).map(|(keeper, before)| {
            let done = keeper.forecast(before.view(), &call.report, call.snapshot.view());
            BudgetReport::new(&done, &keeper)
        });
        Ok((call, report, transcript))
    })?;
    Ok(BeginResponse { budget: report, transcript, ..response(call, !request.change.dry_run) })
}

/// Returns the request of the call that is running, byte for byte.
///
/// # Errors
///
/// If no call is running, or the context cannot be read.
pub fn running(workspace: &Workspace, control: &Control<'_>) -> Result<BeginResponse, Error> {
    let _span = workspace.span("request");
    control.check()?;
    let store = workspace.store(Access::Read)?;
    let session = workspace.session(&store)?;
    Call::running(&session)?.map(|call| response(call, true)).ok_or_else(none_is_running)
}

/// Completes a call: the snapshot that was sent becomes part of the history, and the answer opens the next cycle.
///
/// # Errors
///
/// If no such call is running, or the document is not the answer of the provider that was asked.
pub fn answer(
    workspace: &Workspace,
    request: &AnswerRequest,
    control: &Control<'_>,
) -> Result<AnswerResponse, Error> {
    let _span = workspace.span("answer");
    control.check()?;
    workspace.change("answer", &request.change, |context| {
        let id = attempt_of(context, request.id.as_deref())?;
        let done = calls::complete_in(context, &id, &request.response.text)?;
        let tool_calls = done.tool_calls.into_iter();
        Ok(AnswerResponse {
            attempt: found(context, &id)?,
            report: Report::from(&done.report),
            nodes: done.nodes,
            tool_calls: tool_calls
                .map(|call| ToolCall { id: call.id, name: call.name, arguments: call.arguments })
                .collect(),
            skipped: done.skipped,
        })
    })
}

/// Ends a call without an answer. Nothing is sealed: the working state can be edited again, and keeps what was added meanwhile.
///
/// # Errors
///
/// If no such call is running, or the context cannot be changed.
pub fn cancel(
    workspace: &Workspace,
    request: &CancelRequest,
    control: &Control<'_>,
) -> Result<AttemptResponse, Error> {
    let _span = workspace.span("cancel");
    control.check()?;
    workspace.change("cancel", &request.change, |context| {
        let id = attempt_of(context, request.id.as_deref())?;
        if let Some(partial) = &request.partial {
            calls::attach_in(context, &id, &partial.text)?;
        }
        let ended = match &request.error {
            Some(why) => context.fail_call(&id, why.as_str()),
            None => context.cancel_call(&id),
        };
        ended.map_err(contextree::Error::from)?;
        Ok(AttemptResponse { attempt: found(context, &id)? })
    })
}

/// Keeps what has arrived of an answer with the attempt of the running call, in place of what was kept before.
///
/// # Errors
///
/// If no such call is running, the text is longer than 1 MiB, or the context cannot be changed.
pub fn attach(
    workspace: &Workspace,
    request: &AttachRequest,
    control: &Control<'_>,
) -> Result<AttemptResponse, Error> {
    let _span = workspace.span("attach");
    control.check()?;
    workspace.change("attach", &request.change, |context| {
        let id = attempt_of(context, request.id.as_deref())?;
        calls::attach_in(context, &id, &request.partial.text)?;
        Ok(AttemptResponse { attempt: found(context, &id)? })
    })
}

fn budget_for(workspace: &Workspace, budget: &Document) -> Result<Budget, Error> {
    let store = workspace.store(Access::Read)?;
    let edition = store.reader(workspace.context())?.settings().edition;
    super::budget::read_budget(budget, edition)
}

fn response(call: Call, is_running: bool) -> BeginResponse {
    BeginResponse {
        accepted: !call.is_invalid(),
        attempt_id: is_running.then_some(call.attempt),
        hash: call.hash.to_string(),
        report: Report::from(&call.report),
        budget: None,
        transcript: None,
        findings: call.findings.iter().map(Finding::from).collect(),
        losses: call.losses.iter().map(Loss::from).collect(),
        request: super::ascii(call.bytes),
    }
}

/// Returns the id of the call that is meant.
fn attempt_of(context: &Context, id: Option<&str>) -> Result<String, Error> {
    match (id, context.running_call()) {
        (Some(id), _) => Ok(id.to_owned()),
        (None, Some(call)) => Ok(call.attempt.attempt_id.clone()),
        (None, None) => Err(none_is_running()),
    }
}

fn none_is_running() -> Error {
    Error::new("E_ATTEMPT_NOT_FOUND", "no call is running")
        .with_hint("`ctx request --as PROVIDER --model NAME` begins one")
}

fn found(context: &Context, id: &str) -> Result<Attempt, Error> {
    let attempt = context.attempts().iter().rev().find(|attempt| attempt.attempt_id == id);
    attempt.map(Attempt::from).ok_or_else(none_is_running)
}
