//! Responses: every call has its output somewhere behind it, every reasoning item what it led to.

use contextree_json::Value;

use super::pairing::Pairing;
use super::report::{Report, at, list, text};

pub(super) fn lint(report: &mut Report, items: &[Value]) {
    let mut pairing = Pairing::default();
    for (index, item) in items.iter().enumerate() {
        let kind = text(item, "type").unwrap_or("message");
        match kind {
            "function_call" | "custom_tool_call" => {
                let field = if kind == "function_call" { "arguments" } else { "input" };
                if text(item, field).is_none() {
                    report.error("arguments", at(index), "arguments are a text");
                }
                match text(item, "call_id") {
                    Some(id) => pairing.call(report, id, at(index)),
                    None => report.error("call_id", at(index), "the call has no id"),
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = text(item, "call_id").unwrap_or_default();
                pairing.result(report, id, at(index));
                let empty = match item.get("output") {
                    Some(Value::String(_)) => false,
                    Some(Value::Array(parts)) => parts.is_empty(),
                    _ => true,
                };
                if empty {
                    report.error("empty_content", at(index), "the output is missing");
                }
            }
            "reasoning" => {
                let next =
                    items[index + 1..].iter().find(|it| text(it, "type") != Some("reasoning"));
                if !next.is_some_and(is_of_model) {
                    let message = "the reasoning is not followed by what it led to";
                    report.error("reasoning_alone", at(index), message);
                }
                if text(item, "id").is_none() {
                    let message = "the reasoning has no id; the types of the SDK want one";
                    report.warning("reasoning_id", at(index), message);
                }
                if item.get("summary").and_then(Value::as_array).is_none() {
                    report.error("reasoning_summary", at(index), "`summary` is a list");
                }
            }
            "message" => message(report, item, index),
            _ => {}
        }
    }
    pairing.close(report);
}

fn is_of_model(item: &Value) -> bool {
    match text(item, "type").unwrap_or("message") {
        "message" => text(item, "role") == Some("assistant"),
        kind => !kind.ends_with("_output") && !kind.ends_with("_response"),
    }
}

fn message(report: &mut Report, item: &Value, index: usize) {
    let role = text(item, "role").unwrap_or_default();
    if !matches!(role, "user" | "assistant" | "system" | "developer") {
        report.error("unknown_role", at(index), format!("`{role}` is no role"));
    }
    let empty = match item.get("content") {
        Some(Value::String(_)) => false,
        Some(Value::Array(_)) => list(item, "content").is_empty(),
        _ => true,
    };
    if empty {
        report.error("empty_content", at(index), "the message has no content");
    }
}
