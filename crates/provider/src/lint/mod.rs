//! Finds what a provider would refuse, before the request is sent.
//!
//! The rules are in `docs/providers.md`, each with its code. Each provider has a file; shared rules
//! are in [`report`].

mod anthropic;
mod finding;
mod gemini;
mod openai;
mod openai_chat;
mod openai_responses;
mod pairing;
mod report;

pub use finding::{Finding, Severity};

use contextree_json::Value;

use self::report::Report;
use crate::{Provider, Rendered};

/// Lints a rendered request; findings name the node that causes them.
#[must_use]
pub fn lint(rendered: &Rendered) -> Vec<Finding> {
    let mut findings = lint_value(&rendered.value(), rendered.provider);
    for finding in &mut findings {
        let span = finding.slot.and_then(|slot| rendered.span_of(slot));
        finding.node = span.map(|span| span.node.to_string());
    }
    findings
}

/// Lints any request of a provider; findings do not name nodes.
#[must_use]
pub fn lint_value(request: &Value, provider: Provider) -> Vec<Finding> {
    let mut report = Report::new(provider);
    report.settings(request);
    let messages = request.get(provider.messages_field());
    let messages = match provider {
        Provider::Gemini => messages.and_then(gemini::contents),
        _ => messages.and_then(Value::as_array),
    };
    match messages {
        None | Some([]) if provider == Provider::OpenAiResponses => {
            openai_responses::lint(&mut report, request, &[]);
        }
        None | Some([]) => report.whole("no_messages", "the request has no messages"),
        Some(messages) => match provider {
            Provider::OpenAiChat => openai_chat::lint(&mut report, request, messages),
            Provider::OpenAiResponses => openai_responses::lint(&mut report, request, messages),
            Provider::Anthropic => anthropic::lint(&mut report, request, messages),
            Provider::Gemini => gemini::lint(&mut report, request, messages),
        },
    }
    report.findings
}
