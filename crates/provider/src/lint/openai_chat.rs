//! Lints Chat Completions: tool results directly follow their calls, and content fits its role.

use contextree_json::Value;

use super::openai::{self, Breakpoints};
use super::pairing::Pairing;
use super::pass::{AnyPass, Facts, Pass, Resumable};
use super::report::{Report, at, list, text, within};
use crate::Slot;

/// Lints everything but the conversation.
pub(super) fn lint(report: &mut Report, request: &Value, facts: &Facts) {
    openai::tools(report, request);
    openai::choice(report, request, facts);
}

pub(super) fn passes(report: impl Fn() -> Report) -> Vec<Box<dyn AnyPass>> {
    let pairing = Pairing::with_reuse(false);
    let conversation = Conversation { pairing, breakpoints: Breakpoints::default() };
    vec![Box::new(Resumable::new(conversation, report()))]
}

/// The state of a pass over the messages.
#[derive(Clone)]
struct Conversation {
    pairing: Pairing,
    breakpoints: Breakpoints,
}

impl Pass for Conversation {
    fn message(&mut self, report: &mut Report, message: &Value, index: usize) {
        let role = text(message, "role").unwrap_or_default();
        if role == "tool" {
            let id = text(message, "tool_call_id").unwrap_or_default();
            self.pairing.result(report, id, at(index));
        } else {
            self.pairing.close(report);
        }
        match role {
            "assistant" => assistant(report, message, index, &mut self.pairing),
            "system" | "developer" | "user" | "tool" => content(report, message, index, role),
            "function" => {
                report.warning("deprecated", at(index), "the role `function` is deprecated");
            }
            _ => report.error("unknown_role", at(index), format!("unknown role `{role}`")),
        }
        name(report, message, index);
        for (inner, part) in list(message, "content").iter().enumerate() {
            let slot = within(index, "content", inner);
            self.breakpoints.part(report, part, slot);
            data(report, part, slot);
        }
    }

    fn end(mut self, report: &mut Report, _request: &Value) {
        self.pairing.close(report);
    }
}

/// Lints the name of a participant: 1 to 64 characters, without whitespace or `<|\/>`.
fn name(report: &mut Report, message: &Value, index: usize) {
    let Some(name) = message.get("name").filter(|it| !it.is_null()) else { return };
    let bad = |it: char| it.is_whitespace() || "<|\\/>".contains(it);
    let fits = |name: &str| !name.is_empty() && name.chars().count() <= 64 && !name.contains(bad);
    if !name.as_str().is_some_and(fits) {
        let message = "`name` must have 1 to 64 characters, without whitespace or `<|\\/>`";
        report.error("message_name", at(index), message);
    }
}

fn content(report: &mut Report, message: &Value, index: usize, role: &str) {
    let allowed: &[&str] = match role {
        "user" => &["text", "image_url", "input_audio", "file"],
        _ => &["text"],
    };
    match message.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) if !parts.is_empty() => {
            for (inner, part) in parts.iter().enumerate() {
                let kind = text(part, "type").unwrap_or_default();
                if !allowed.contains(&kind) {
                    let slot = within(index, "content", inner);
                    let message = format!("a `{role}` message cannot contain `{kind}`");
                    report.error("content_type", slot, message);
                }
            }
        }
        None | Some(Value::Null | Value::Array(_)) => {
            report.error("empty_content", at(index), "the message has no content");
        }
        Some(_) => report.error("content_type", at(index), "`content` must be a string or a list"),
    }
}

/// Lints a content part: it has the data that its type requires.
fn data(report: &mut Report, part: &Value, slot: Slot) {
    let inner = |object: &str, field: &str| part.get(object).and_then(|it| text(it, field));
    let there = match text(part, "type").unwrap_or_default() {
        "text" => text(part, "text").is_some(),
        "refusal" => text(part, "refusal").is_some(),
        "image_url" => {
            if let Some(image) = part.get("image_url") {
                openai::detail(report, image, slot);
            }
            inner("image_url", "url").is_some()
        }
        "input_audio" => {
            let format = inner("input_audio", "format");
            if format.is_some_and(|format| !matches!(format, "wav" | "mp3")) {
                report.error("part_data", slot, "the audio format must be `wav` or `mp3`");
            }
            inner("input_audio", "data").is_some() && format.is_some()
        }
        "file" => inner("file", "file_id").or(inner("file", "file_data")).is_some(),
        _ => true,
    };
    if !there {
        report.error("part_data", slot, "the part lacks the data that its type requires");
    }
}

fn assistant(report: &mut Report, message: &Value, index: usize, pairing: &mut Pairing) {
    let calls = list(message, "tool_calls");
    for (inner, call) in calls.iter().enumerate() {
        let slot = within(index, "tool_calls", inner);
        called(report, call, slot);
        if let Some(id) = text(call, "id") {
            pairing.call(report, id, slot);
        }
    }
    if calls.is_empty() && message.get("tool_calls").is_some_and(|it| it.as_array().is_some()) {
        report.error("empty_list", at(index), "`tool_calls` is empty; leave it out");
    }
    let said = match message.get("content") {
        None | Some(Value::Null) => false,
        Some(Value::Array(parts)) => !parts.is_empty(),
        Some(Value::String(_)) => true,
        Some(_) => {
            report.error("content_type", at(index), "`content` must be a string or a list");
            true
        }
    };
    let other = ["refusal", "audio", "function_call"]
        .iter()
        .any(|name| message.get(name).is_some_and(|it| !it.is_null()));
    if !said && calls.is_empty() && !other {
        report.error("empty_content", at(index), "the message has neither content nor tool calls");
    }
    for (inner, part) in list(message, "content").iter().enumerate() {
        let kind = text(part, "type").unwrap_or_default();
        if !matches!(kind, "text" | "refusal") {
            let slot = within(index, "content", inner);
            report.error(
                "content_type",
                slot,
                format!("an assistant message cannot contain `{kind}`"),
            );
        }
    }
}

/// Lints a tool call: it has a type, and a matching field with the name and the arguments.
fn called(report: &mut Report, call: &Value, slot: Slot) {
    let kind = text(call, "type").unwrap_or_default();
    let field = match kind {
        "function" => "arguments",
        "custom" => "input",
        _ => {
            report.error(
                "call_type",
                slot,
                "the type of a tool call must be `function` or `custom`",
            );
            return;
        }
    };
    let inner = call.get(kind);
    if inner.is_none() {
        report.error("call_type", slot, format!("a tool call of this type needs `{kind}`"));
    } else if inner.and_then(|inner| text(inner, field)).is_none() {
        report.error("arguments", slot, format!("`{field}` must be a string"));
    }
    let name = inner.and_then(|inner| text(inner, "name"));
    openai::call(report, text(call, "id"), name.or(inner.is_none().then_some("f")), slot);
}
