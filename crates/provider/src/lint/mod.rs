//! Finds what a provider would refuse, before the request is sent.
//!
//! The rules are in `docs/providers.md`, each with its code. Each provider has a file; shared rules
//! are in [`report`]. Rules about the conversation are [passes](pass) over its messages, which
//! [`RequestLinter`] resumes where the conversation grew.

mod anthropic;
mod finding;
mod gemini;
mod incremental;
mod openai;
mod openai_chat;
mod openai_responses;
mod pairing;
mod pass;
mod report;

pub use finding::{Finding, Severity};
pub(crate) use incremental::RequestLinter;

use contextree_json::{Object, Value};

use self::pass::{AnyPass, Facts};
use self::report::Report;
use crate::{Provider, Rendered};

/// Lints a rendered request; findings name the node that causes them.
#[must_use]
pub fn lint(rendered: &Rendered) -> Vec<Finding> {
    let mut findings = lint_value(&rendered.value(), rendered.provider);
    name_nodes(&mut findings, rendered);
    findings
}

/// Lints any request of a provider, or a list of its messages; findings do not name nodes. A list has no model and no settings, so these are
/// not missed.
#[must_use]
pub fn lint_value(request: &Value, provider: Provider) -> Vec<Finding> {
    if request.as_array().is_some() {
        let messages = Object::from_iter([(provider.messages_field(), request.clone())]);
        let mut findings = lint_value(&Value::Object(messages), provider);
        findings.retain(|finding| finding.code != "required_field");
        return findings;
    }
    let messages = request.get(provider.messages_field());
    let messages = match provider {
        Provider::Gemini => messages.and_then(gemini::contents),
        _ => messages.and_then(Value::as_array),
    };
    let messages = messages.unwrap_or_default();
    let mut passes = passes(provider, request);
    for (index, message) in messages.iter().enumerate() {
        passes.iter_mut().for_each(|pass| pass.message(message, index));
    }
    findings(&passes, request, provider, messages.len())
}

/// Returns the passes over the messages of a request.
fn passes(provider: Provider, request: &Value) -> Vec<Box<dyn AnyPass>> {
    let report = || Report::new(provider);
    match provider {
        Provider::OpenAiChat => openai_chat::passes(report),
        Provider::OpenAiResponses => openai_responses::passes(report, request),
        Provider::Anthropic => anthropic::passes(report, request),
        Provider::Gemini => gemini::passes(report),
    }
}

/// Returns what was found: first in everything but the conversation, then by the passes.
fn findings(
    passes: &[Box<dyn AnyPass>],
    request: &Value,
    provider: Provider,
    messages: usize,
) -> Vec<Finding> {
    let mut facts = Facts::default();
    passes.iter().for_each(|pass| pass.note(&mut facts));
    let mut report = Report::new(provider);
    report.settings(request);
    match provider {
        Provider::OpenAiResponses => {
            openai_responses::lint(&mut report, request, &facts, messages);
        }
        _ if messages == 0 => report.whole("no_messages", "the request has no messages"),
        Provider::OpenAiChat => openai_chat::lint(&mut report, request, &facts),
        Provider::Anthropic => anthropic::lint(&mut report, request, &facts),
        Provider::Gemini => gemini::lint(&mut report, request),
    }
    let mut findings = report.into_findings();
    if messages > 0 {
        findings.extend(passes.iter().flat_map(|pass| pass.findings(request)));
    }
    findings
}

/// Names the nodes that cause findings.
fn name_nodes(findings: &mut [Finding], rendered: &Rendered) {
    for finding in findings.iter_mut().filter(|finding| finding.node.is_none()) {
        let span = finding.slot.and_then(|slot| rendered.span_of(slot));
        finding.node = span.map(|span| span.node.to_string());
    }
}
