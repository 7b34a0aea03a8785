//! Anthropic: results first in the message behind the calls, a user at the beginning, whole thinking, at most four breakpoints.

use contextree_json::Value;

use super::pairing::Pairing;
use super::report::{Report, at, list, text, within};
use crate::render::wire::safe_call_id;
use crate::{List, Slot};

/// How many breakpoints a request may have; one at the top counts.
const BREAKPOINTS: usize = 4;

pub(super) fn lint(report: &mut Report, request: &Value, messages: &[Value]) {
    let mut pairing = Pairing::default();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        content(report, message, index, index + 1 == messages.len());
        match role {
            "user" => user(report, message, index, &mut pairing),
            "assistant" => {
                pairing.close(report);
                if index == 0 {
                    let message = "the first message is not the user's";
                    report.error("first_role", at(0), message);
                }
                assistant(report, message, index, &mut pairing);
            }
            "system" => system(report, messages, index),
            _ => report.error("unknown_role", at(index), format!("`{role}` is no role")),
        }
    }
    pairing.close(report);
    let last = messages.len() - 1;
    if text(&messages[last], "role") == Some("assistant") {
        let message = "the request ends with the model's message; newer models refuse that";
        report.warning("trailing_assistant", at(last), message);
    }
    let thinks = request.get("thinking").and_then(|it| text(it, "type")) == Some("enabled");
    if thinks {
        thinking_first(report, messages);
    }
    breakpoints(report, request, messages);
}

fn blocks(message: &Value) -> &[Value] {
    list(message, "content")
}

fn content(report: &mut Report, message: &Value, index: usize, is_last: bool) {
    match message.get("content") {
        Some(Value::String(text)) => {
            let may_be_empty =
                is_last && message.get("role").and_then(Value::as_str) == Some("assistant");
            if text.trim().is_empty() && !may_be_empty {
                report.error("empty_content", at(index), "the message has no content");
            }
        }
        Some(Value::Array(blocks)) if !blocks.is_empty() => {
            for (inner, block) in blocks.iter().enumerate() {
                let is_text = text(block, "type") == Some("text");
                if is_text && text(block, "text").is_none_or(|it| it.trim().is_empty()) {
                    let slot = within(index, "content", inner);
                    report.error("empty_content", slot, "the text is empty");
                }
            }
        }
        _ => report.error("empty_content", at(index), "the message has no content"),
    }
}

fn user<'a>(report: &mut Report, message: &'a Value, index: usize, pairing: &mut Pairing<'a>) {
    let mut other = false;
    for (inner, block) in blocks(message).iter().enumerate() {
        let slot = within(index, "content", inner);
        match text(block, "type") {
            Some("tool_result") => {
                let id = text(block, "tool_use_id").unwrap_or_default();
                if other {
                    let message = "results stand before everything else";
                    report.error("result_order", slot, message);
                }
                pairing.result(report, id, slot);
            }
            Some("tool_use" | "thinking" | "redacted_thinking") => {
                report.error("content_type", slot, "only the model can say this");
            }
            _ => other = true,
        }
    }
    pairing.close(report);
}

fn assistant<'a>(report: &mut Report, message: &'a Value, index: usize, pairing: &mut Pairing<'a>) {
    let blocks = blocks(message);
    for (inner, block) in blocks.iter().enumerate() {
        let slot = within(index, "content", inner);
        match text(block, "type") {
            Some("tool_use") => {
                let id = text(block, "id").unwrap_or_default();
                if safe_call_id(id) != id {
                    let message = format!("`{id}` is no id of a call");
                    report.error("call_id", slot, message);
                }
                if block.get("input").and_then(Value::as_object).is_none() {
                    report.error("arguments", slot, "`input` is an object");
                }
                pairing.call(report, id, slot);
            }
            Some("thinking") if text(block, "signature").is_none_or(str::is_empty) => {
                let message = "the thinking has no signature";
                report.error("thinking_signature", slot, message);
            }
            Some("redacted_thinking") if text(block, "data").is_none_or(str::is_empty) => {
                let message = "the redacted thinking has no data";
                report.error("thinking_signature", slot, message);
            }
            Some("tool_result") => {
                report.error("content_type", slot, "only the user can answer a call");
            }
            _ => {}
        }
    }
    if let Some(last) = blocks.last()
        && matches!(text(last, "type"), Some("thinking" | "redacted_thinking"))
    {
        let slot = within(index, "content", blocks.len() - 1);
        report.error("thinking_last", slot, "a message cannot end with thinking");
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

/// While tools are used, the model's last message has to begin with its thinking.
fn thinking_first(report: &mut Report, messages: &[Value]) {
    let last = messages.iter().rposition(|it| text(it, "role") == Some("assistant"));
    let Some(index) = last else { return };
    let blocks = blocks(&messages[index]);
    let calls = blocks.iter().any(|block| text(block, "type") == Some("tool_use"));
    let thinks = blocks.first().and_then(|block| text(block, "type"));
    if calls && !matches!(thinks, Some("thinking" | "redacted_thinking")) {
        let message = "with thinking enabled, a message with calls begins with thinking";
        report.warning("thinking_first", at(index), message);
    }
}

fn breakpoints(report: &mut Report, request: &Value, messages: &[Value]) {
    let mut found: Vec<(&Value, Slot)> = Vec::new();
    for (list_name, list_kind) in [("tools", List::Tools), ("system", List::System)] {
        for (index, entry) in list(request, list_name).iter().enumerate() {
            found.push((entry, Slot { list: list_kind, index: index as u32, inner: None }));
        }
    }
    for (index, message) in messages.iter().enumerate() {
        for (inner, block) in blocks(message).iter().enumerate() {
            let slot = within(index, "content", inner);
            found.push((block, slot));
            found.extend(list(block, "content").iter().map(|nested| (nested, slot)));
        }
    }
    let found: Vec<(&Value, Slot)> = found
        .into_iter()
        .filter_map(|(holder, slot)| Some((holder.get("cache_control")?, slot)))
        .filter(|(control, _)| !control.is_null())
        .collect();
    let top = request.get("cache_control").filter(|it| !it.is_null());
    let count = found.len() + usize::from(top.is_some());
    if count > BREAKPOINTS {
        let slot = found.get(BREAKPOINTS).or(found.last()).map(|(_, slot)| *slot);
        let message = format!("{count} cache breakpoints; at most {BREAKPOINTS} are allowed");
        if let Some(slot) = slot {
            report.error("cache_breakpoints", slot, message);
        }
    }
    let hour = |control: &Value| text(control, "ttl") == Some("1h");
    let mut short = false;
    for (control, slot) in found {
        if hour(control) && short {
            let message = "a breakpoint of one hour stands behind one of five minutes";
            report.error("cache_ttl_order", slot, message);
        }
        short |= !hour(control);
    }
}
