//! Chat Completions: results directly behind their calls; content that the role may have.

use contextree_json::Value;

use super::pairing::Pairing;
use super::report::{Report, at, list, text, within};

pub(super) fn lint(report: &mut Report, messages: &[Value]) {
    let mut pairing = Pairing::default();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        if role == "tool" {
            let id = text(message, "tool_call_id").unwrap_or_default();
            pairing.result(report, id, at(index));
        } else {
            pairing.close(report);
        }
        match role {
            "assistant" => assistant(report, message, index, &mut pairing),
            "system" | "developer" | "user" | "tool" => content(report, message, index, role),
            "function" => {
                report.warning("deprecated", at(index), "the role `function` is deprecated");
            }
            _ => report.error("unknown_role", at(index), format!("`{role}` is no role")),
        }
    }
    pairing.close(report);
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
                    let message = format!("a message of `{role}` cannot have `{kind}`");
                    report.error("content_type", slot, message);
                }
            }
        }
        _ => report.error("empty_content", at(index), "the message has no content"),
    }
}

fn assistant<'a>(report: &mut Report, message: &'a Value, index: usize, pairing: &mut Pairing<'a>) {
    let calls = list(message, "tool_calls");
    for (inner, call) in calls.iter().enumerate() {
        let slot = within(index, "tool_calls", inner);
        let function = call.get("function").or_else(|| call.get("custom"));
        let arguments = function.and_then(|it| it.get("arguments").or_else(|| it.get("input")));
        if function.is_none() || arguments.is_some_and(|it| it.as_str().is_none()) {
            report.error("arguments", slot, "arguments are a text");
        }
        match text(call, "id") {
            Some(id) => pairing.call(report, id, slot),
            None => report.error("call_id", slot, "the call has no id"),
        }
    }
    let said = match message.get("content") {
        None | Some(Value::Null) => false,
        Some(Value::Array(parts)) => !parts.is_empty(),
        Some(_) => true,
    };
    let other = ["refusal", "audio", "function_call"]
        .iter()
        .any(|name| message.get(name).is_some_and(|it| !it.is_null()));
    if !said && calls.is_empty() && !other {
        report.error("empty_content", at(index), "the message says and calls nothing");
    }
    for (inner, part) in list(message, "content").iter().enumerate() {
        let kind = text(part, "type").unwrap_or_default();
        if !matches!(kind, "text" | "refusal") {
            let slot = within(index, "content", inner);
            report.error("content_type", slot, format!("the model cannot say `{kind}`"));
        }
    }
}
