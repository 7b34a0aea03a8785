//! Anthropic: results first in the message behind the calls, a user at the beginning, whole thinking, at most four breakpoints.
//!
//! A rule is an error if the API is known to answer with it, by its documentation or its error messages; where only some models or some
//! settings do, it is a warning.

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
            _ => report.error("unknown_role", at(index), format!("`{role}` is no role")),
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

/// Notes something about the request as a whole that only some models refuse.
fn whole_warning(report: &mut Report, code: &'static str, message: &str) {
    let (message, path) = (message.to_owned(), String::new());
    let severity = Severity::Warning;
    report.findings.push(Finding { code, severity, message, node: None, path, slot: None });
}

/// Returns the blocks of a message.
fn content_of(message: &Value) -> &[Value] {
    list(message, "content")
}

/// Returns a field that is there and not null.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|it| !it.is_null())
}

fn is_thinking(block: &Value) -> bool {
    matches!(text(block, "type"), Some("thinking" | "redacted_thinking"))
}

/// A message says something. A system message may merely change settings (beta).
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

/// What was said so far.
#[derive(Default)]
struct Conversation<'a> {
    pairing: Pairing<'a>,
    /// The model's last message has calls.
    called: bool,
    /// Something else than a result was said since then. Messages of the user in a row are one to the API.
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
                report.error("result_order", slot, "results stand before everything else");
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
            report.error("first_role", at(0), "the first message is not the user's");
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
            report.error("thinking_last", slot, "a message cannot end with thinking");
        }
    }
}

/// System text among messages stands behind the user's, and before the model's or at the end.
fn system(report: &mut Report, messages: &[Value], index: usize) {
    let role = |index: usize| messages.get(index).and_then(|it| text(it, "role"));
    if index == 0 {
        let message = "system text at the beginning belongs into `system`";
        report.error("system_place", at(index), message);
    } else if role(index - 1) != Some("user")
        || !matches!(role(index + 1), None | Some("assistant"))
    {
        let message = "system text stands between the user's message and the model's";
        report.error("system_place", at(index), message);
    } else {
        let message = "only some models read system text among messages";
        report.warning("system_inline", at(index), message);
    }
}

/// The model's message at the end is the beginning of its answer.
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
        "the request ends with the model's message; newer models refuse that",
    );
    let blocks = content_of(message);
    let end = blocks.last().filter(|block| text(block, "type") == Some("text"));
    let said = text(message, "content").or_else(|| end.and_then(|block| text(block, "text")));
    // "final assistant content cannot end with trailing whitespace"
    if said.is_some_and(|said| said.ends_with(char::is_whitespace)) {
        let message = "the text that the model is to go on with ends with white space";
        report.error("trailing_whitespace", at(index), message);
    }
    // "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    if thinks && said.is_some() && !blocks.first().is_some_and(is_thinking) {
        let message = "with thinking enabled, the model's answer cannot be begun for it";
        report.error("thinking_prefill", at(index), message);
    }
}

/// While tools are used, the model's last message has to begin with its thinking.
fn thinking_first(report: &mut Report, messages: &[Value]) {
    let last = messages.iter().rposition(|it| text(it, "role") == Some("assistant"));
    let Some(index) = last else { return };
    let blocks = content_of(&messages[index]);
    let calls = blocks.iter().any(|block| text(block, "type") == Some("tool_use"));
    if calls && !blocks.first().is_some_and(is_thinking) {
        let message = "with thinking enabled, a message with calls begins with thinking";
        report.warning("thinking_first", at(index), message);
    }
}
