//! Tools that read.

use contextree::tokens::By;
use contextree_app::command::cache::{self, CacheCall, CacheRequest};
use contextree_app::command::contexts::{self, ContextsRequest};
use contextree_app::command::diff::{self, DiffRequest};
use contextree_app::command::select::{self, Found, SelectRequest};
use contextree_app::command::show::{self, ShowRequest};
use contextree_app::command::timeline::{self, TimelineCall, TimelineRequest};
use contextree_app::command::tokens::{self, TokensRequest};
use contextree_app::wire::{ContextRow, Node, Report, Word};
use contextree_app::{Control, Error, Workspace};
use contextree_json::Value;

use super::arguments;
use super::text::{context_line, node, percent};

/// The most contexts that are listed.
const CONTEXTS: usize = 10_000;
/// How many calls are listed unless the model says otherwise.
const CALLS: u32 = 50;

pub(super) fn contexts(
    workspace: &Workspace,
    _: &arguments::Contexts,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let request = ContextsRequest { limit: Some(CONTEXTS + 1), ..ContextsRequest::default() };
    let found = contexts::contexts(workspace, &request, control)?;
    Ok(listed(&found.contexts, CONTEXTS))
}

/// Returns the lines of at most `most` contexts, and says if there are more.
fn listed(rows: &[ContextRow], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = rows.iter().take(most).map(context_line).collect();
    if rows.len() > most {
        lines.push(format!("only the first {most} contexts are listed, by name"));
    }
    lines
}

pub(super) fn show(
    workspace: &Workspace,
    arguments: &arguments::Show,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let request = ShowRequest { what: arguments.what.clone() };
    let found = show::show(workspace, &request, control)?;
    let top = found.nodes.iter().map(|node| node.derived.path.len()).min().unwrap_or(0);
    let line = |found: &Node| {
        let indent = "  ".repeat(found.derived.path.len() - top);
        format!("{indent}{}", node(found, arguments.full))
    };
    Ok(with_warnings(found.nodes.iter().map(line).collect(), found.warnings))
}

pub(super) fn select(
    workspace: &Workspace,
    arguments: &arguments::Select,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let request = SelectRequest::new(&arguments.selector);
    let response = select::select(workspace, &request, control)?;
    let entries = match response.found {
        Found::Nodes(nodes) if nodes.is_empty() => vec!["no node matches".to_owned()],
        Found::Nodes(nodes) => nodes.iter().map(|found| node(found, arguments.full)).collect(),
        Found::Ids(ids) => ids,
        Found::Count(count) => vec![count.to_string()],
        Found::Range(Value::Array(entries)) => entries.iter().map(json).collect(),
        Found::Range(Value::Object(entries)) => {
            entries.iter().map(|(name, value)| format!("{name}: {}", json(value))).collect()
        }
        Found::Range(value) => vec![json(&value)],
    };
    Ok(with_warnings(entries, response.warnings))
}

pub(super) fn diff(
    workspace: &Workspace,
    arguments: &arguments::Diff,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let (from, to) = (arguments.from.clone(), arguments.to.clone());
    let request = DiffRequest { from, to, detail: true, ..DiffRequest::default() };
    let response = diff::diff(workspace, &request, control)?;
    let (older, newer) = (&response.older.label, &response.newer.label);
    let mut entries = vec![format!("{older} -> {newer}")];
    let Some(detail) = response.detail else { return Ok(entries) };
    for removed in &detail.removed {
        let why = detail.reports.iter().find_map(|report| reason(report, removed.id()));
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        entries.push(format!("-{why} {}", node(removed, arguments.full)));
    }
    entries.extend(detail.added.iter().map(|added| format!("+ {}", node(added, arguments.full))));
    for changed in &response.diff.changed {
        entries.push(format!("~ {} {}", changed.id, changed.fields.join(", ")));
    }
    if response.diff.is_empty() {
        entries.push("no difference".to_owned());
    }
    Ok(entries)
}

/// Returns why a commit removed a node.
fn reason(report: &Report, id: &str) -> Option<&'static str> {
    let has = |ids: &[String]| ids.iter().any(|other| other == id);
    if has(&report.expired) {
        return Some("expired");
    }
    let is_pruned = report.pruned.iter().any(|pruned| pruned.id == id || has(&pruned.along));
    is_pruned.then_some("pruned")
}

pub(super) fn log(
    workspace: &Workspace,
    arguments: &arguments::Log,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let limit = arguments.calls.unwrap_or(CALLS).max(1) as usize;
    let found = timeline::timeline(workspace, &TimelineRequest { limit: Some(limit) }, control)?;
    let mut entries = Vec::new();
    let mut serves = None;
    for call in found.calls.iter().rev() {
        if call.serves != serves {
            serves = call.serves;
            let message = serves.and_then(|index| found.messages.get(index));
            if let Some(message) = message {
                let excerpt = message.excerpt.as_deref().unwrap_or_default();
                entries.push(format!("for {}: {excerpt}", message.node));
            }
        }
        entries.push(call_line(call));
    }
    if found.left_out > 0 {
        entries.push(format!("{} older calls are not listed", found.left_out));
    }
    Ok(entries)
}

fn call_line(call: &TimelineCall) -> String {
    let mut line = format!("@c{}", call.cycle);
    if let Some(attempt) = call.attempts.last() {
        line.push_str(&format!("  {} {}", attempt.model, attempt.status.word()));
        if let Some(tokens) = attempt.token_in {
            line.push_str(&format!(", {tokens} tokens in"));
            if let Some(cached) = attempt.cache_read {
                line.push_str(&format!(" ({} cached)", percent(cached, tokens)));
            }
        }
        if let Some(tokens) = attempt.token_out {
            line.push_str(&format!(", {tokens} out"));
        }
        if let Some(reason) = &attempt.stop_reason {
            line.push_str(&format!(", {reason}"));
        }
    }
    if let Some(changes) = &call.changes {
        line.push_str(&format!("  +{} -{} ~{}", changes.added, changes.removed, changes.changed));
    }
    for (number, word) in [(call.expired, "expired"), (call.pruned, "pruned")] {
        if number > 0 {
            line.push_str(&format!(", {number} {word}"));
        }
    }
    line
}

pub(super) fn tokens(
    workspace: &Workspace,
    arguments: &arguments::Tokens,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let by = match &arguments.by {
        None => Word(By::Region),
        Some(word) => contextree_json::from_value(Value::from(word.as_str()))
            .map_err(|error| Error::usage(format!("`by`: {error}")))?,
    };
    let request = TokensRequest { at: arguments.at, by, ..TokensRequest::default() };
    let response = tokens::tokens(workspace, &request, control)?;
    let mut entries = Vec::new();
    for count in &response.counts {
        let sign =
            if count.exact { String::new() } else { format!(" ±{} %", count.error_percent) };
        let (state, by) = (&response.state, &count.tokenizer);
        entries.push(format!("{state}: {} tokens{sign}, counted as {by}", count.tokens));
        for group in &count.groups {
            let name = group.name.as_deref().unwrap_or("(none)");
            entries.push(format!("{name}: {} tokens in {} blocks", group.tokens, group.blocks));
        }
    }
    Ok(entries)
}

pub(super) fn cache(
    workspace: &Workspace,
    arguments: &arguments::Cache,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let response = cache::cache(workspace, &CacheRequest::default(), control)?;
    let share = percent(response.cached, response.tokens);
    let calls = response.calls.len();
    let mut entries = vec![format!(
        "{calls} calls, {} input tokens, {share} predicted from the cache ({})",
        response.tokens, response.rules
    )];
    if let Some(billed) = &response.billed {
        let share = billed.per_mille.map(|share| format!(", {} % from the cache", share / 10));
        let share = share.unwrap_or_default();
        entries.push(format!("billed: {} input tokens{share}", billed.tokens));
    }
    for reason in &response.reasons {
        let (calls, tokens) = (reason.calls, reason.tokens);
        entries.push(format!("{}: {calls} calls, {tokens} tokens", reason.reason));
    }
    let is_listed = |call: &&CacheCall| !arguments.misses_only || call.miss.is_some();
    entries.extend(response.calls.iter().filter(is_listed).map(cache_line));
    Ok(entries)
}

fn cache_line(call: &CacheCall) -> String {
    let share = percent(call.cached, call.tokens);
    let mut line = format!("{}  {} tokens, {share} predicted", call.state, call.tokens);
    if let Some(billed) = &call.billed
        && let Some(cached) = billed.cached
    {
        line.push_str(&format!(", {} billed", percent(cached, billed.tokens)));
    }
    if let Some(miss) = &call.miss {
        line.push_str(&format!("; {}", miss.message));
        if !miss.advice.is_empty() {
            line.push_str(&format!("; {}", miss.advice));
        }
    }
    line
}

fn json(value: &Value) -> String {
    String::from_utf8_lossy(&value.to_canonical()).into_owned()
}

fn with_warnings(mut entries: Vec<String>, warnings: Vec<String>) -> Vec<String> {
    entries.extend(warnings.into_iter().map(|warning| format!("warning: {warning}")));
    entries
}
