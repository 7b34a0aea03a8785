//! Lints requests for Anthropic: the first message is the user's, tool results come first in the
//! message after the calls, thinking is unmodified, and there are at most four breakpoints.
//!
//! A rule is an error if the API is known to enforce it, by its documentation or its error
//! messages, and a warning if only some models or settings do.

mod blocks;
mod cache;
mod server;
mod settings;

use contextree_json::Value;

use super::finding::{Finding, Severity};
use super::pairing::Pairing;
use super::report::{Report, at, list, text, within};

pub(super) fn lint(report: &mut Report, request: &Value, messages: &[Value]) {
    settings::lint(report, request, messages);
    blocks::system(report, request);
    let mut conversation = Conversation::default();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        content(report, message, index, index + 1 == messages.len());
        match role {
            "user" => conversation.user(report, message, index),
            "assistant" => conversation.assistant(report, message, index),
            "system" => system(report, messages, index),
            _ => report.error("unknown_role", at(index), format!("unknown role `{role}`")),
        }
        for (inner, block) in content_of(message).iter().enumerate() {
            blocks::block(report, role, block, within(index, "content", inner));
        }
    }
    conversation.pairing.close(report);
    last(report, request, messages);
    server::lint(report, messages);
    cache::lint(report, request, messages);
}

/// Reports a problem of the whole request that only some models refuse.
fn whole_warning(report: &mut Report, code: &'static str, message: &str) {
    let (message, path) = (message.to_owned(), String::new());
    let severity = Severity::Warning;
    report.findings.push(Finding { code, severity, message, node: None, path, slot: None });
}

/// Returns the blocks of a message.
fn content_of(message: &Value) -> &[Value] {
    list(message, "content")
}

/// Returns a field that is present and not null.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|it| !it.is_null())
}

fn is_thinking(block: &Value) -> bool {
    matches!(text(block, "type"), Some("thinking" | "redacted_thinking"))
}

/// Lints the content of a message: it must not be empty. A system message may merely change
/// settings (beta).
fn content(report: &mut Report, message: &Value, index: usize, is_last: bool) {
    let role = text(message, "role");
    match message.get("content") {
        Some(Value::String(text)) => {
            let may_be_empty = is_last && role == Some("assistant");
            if text.trim().is_empty() && !may_be_empty {
                report.error("empty_content", at(index), "the message has no content");
            }
        }
        Some(Value::Array(blocks)) if !blocks.is_empty() => {}
        None | Some(Value::Null) if role == Some("system") => {
            let fields = message.as_object().into_iter().flatten();
            if !fields.into_iter().any(|(name, it)| name != "role" && !it.is_null()) {
                report.error("empty_content", at(index), "the message has no content");
            }
        }
        _ => report.error("empty_content", at(index), "the message has no content"),
    }
}

/// The state of the conversation so far.
#[derive(Default)]
struct Conversation<'a> {
    pairing: Pairing<'a>,
    /// Whether the last assistant message has tool calls.
    called: bool,
    /// Whether anything but a tool result followed those calls. To the API, consecutive user
    /// messages are one message.
    other: bool,
}

impl<'a> Conversation<'a> {
    fn user(&mut self, report: &mut Report, message: &'a Value, index: usize) {
        self.other = self.called && (self.other || text(message, "content").is_some());
        for (inner, block) in content_of(message).iter().enumerate() {
            let slot = within(index, "content", inner);
            if text(block, "type") != Some("tool_result") {
                self.other = true;
                continue;
            }
            if self.other {
                report.error("result_order", slot, "tool results must come first in the message");
            }
            let id = text(block, "tool_use_id").unwrap_or_default();
            self.pairing.result(report, id, slot);
        }
    }

    fn assistant(&mut self, report: &mut Report, message: &'a Value, index: usize) {
        self.pairing.close(report);
        self.other = false;
        self.called = false;
        if index == 0 {
            report.error("first_role", at(0), "the first message must be a user message");
        }
        let blocks = content_of(message);
        for (inner, block) in blocks.iter().enumerate() {
            if text(block, "type") == Some("tool_use") {
                let slot = within(index, "content", inner);
                self.pairing.call(report, text(block, "id").unwrap_or_default(), slot);
                self.called = true;
            }
        }
        if blocks.last().is_some_and(is_thinking) {
            let slot = within(index, "content", blocks.len() - 1);
            report.error("thinking_last", slot, "an assistant message cannot end with thinking");
        }
    }
}

/// Lints mid-conversation system text: it must follow a user message, and precede an assistant
/// message or end the request.
fn system(report: &mut Report, messages: &[Value], index: usize) {
    let role = |index: usize| messages.get(index).and_then(|it| text(it, "role"));
    if index == 0 {
        let message = "system text at the beginning belongs in `system`";
        report.error("system_place", at(index), message);
    } else if role(index - 1) != Some("user")
        || !matches!(role(index + 1), None | Some("assistant"))
    {
        let message = "system text must be between a user message and an assistant message";
        report.error("system_place", at(index), message);
    } else {
        let message = "only some models accept system text between messages";
        report.warning("system_inline", at(index), message);
    }
}

/// Lints a trailing assistant message, which prefills the answer.
fn last(report: &mut Report, request: &Value, messages: &[Value]) {
    let index = messages.len() - 1;
    let thinks = field(request, "thinking").and_then(|it| text(it, "type")) == Some("enabled");
    if thinks {
        thinking_first(report, messages);
    }
    let message = &messages[index];
    if text(message, "role") != Some("assistant") {
        return;
    }
    report.warning(
        "trailing_assistant",
        at(index),
        "the request ends with an assistant message; newer models refuse that",
    );
    let blocks = content_of(message);
    let end = blocks.last().filter(|block| text(block, "type") == Some("text"));
    let said = text(message, "content").or_else(|| end.and_then(|block| text(block, "text")));
    // "final assistant content cannot end with trailing whitespace"
    if said.is_some_and(|said| said.ends_with(char::is_whitespace)) {
        let message = "the text to continue ends with whitespace";
        report.error("trailing_whitespace", at(index), message);
    }
    // "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    if thinks && said.is_some() && !blocks.first().is_some_and(is_thinking) {
        let message = "with thinking enabled, the answer cannot be prefilled";
        report.error("thinking_prefill", at(index), message);
    }
}

/// During tool use, the last assistant message must begin with thinking.
fn thinking_first(report: &mut Report, messages: &[Value]) {
    let last = messages.iter().rposition(|it| text(it, "role") == Some("assistant"));
    let Some(index) = last else { return };
    let blocks = content_of(&messages[index]);
    let calls = blocks.iter().any(|block| text(block, "type") == Some("tool_use"));
    if calls && !blocks.first().is_some_and(is_thinking) {
        let message = "with thinking enabled, a message with tool calls must begin with thinking";
        report.warning("thinking_first", at(index), message);
    }
}
