//! Lints requests for Gemini: the first content is the user's, calls are followed by as many
//! responses, and no part is empty.
//!
//! Names are read in either spelling, and null fields count as missing, as in the API.

mod parts;
mod responses;
mod settings;

use contextree_json::Value;

use self::responses::Responses;
use super::finding::{Finding, Severity};
use super::report::{Report, at, within};
use crate::gemini::get;

/// Returns the conversation. The SDK accepts a single content in place of a list.
pub(super) fn contents(contents: &Value) -> Option<&[Value]> {
    match contents {
        Value::Array(contents) => Some(contents),
        Value::String(_) | Value::Object(_) => Some(std::slice::from_ref(contents)),
        _ => None,
    }
}

pub(super) fn lint(report: &mut Report, request: &Value, contents: &[Value]) {
    settings::lint(report, request);
    let mut before: Option<&str> = None;
    let mut responses = Responses::default();
    for (index, content) in contents.iter().enumerate() {
        let role = role_of(content);
        if !matches!(role, "user" | "model" | "function" | "tool") {
            report.error("unknown_role", at(index), format!("unknown role `{role}`"));
        }
        let parts = parts_of(content);
        if parts.is_empty() && content.as_str().is_none_or(str::is_empty) {
            report.error("empty_content", at(index), "the content has no parts");
        }
        let calls = parts.iter().any(|part| field(part, "functionCall").is_some());
        if role == "model" {
            responses.close(report);
            match before {
                None => report.error("first_role", at(0), "the first content must be the user's"),
                Some("model") if calls => {
                    let message = "a function call must directly follow a user content";
                    report.error("alternation", at(index), message);
                }
                Some("model") => {
                    report.warning("alternation", at(index), "two model contents in a row");
                }
                _ => {}
            }
        }
        for (inner, part) in parts.iter().enumerate() {
            let slot = within(index, "parts", inner);
            parts::part(report, role, part, slot);
            responses.part(report, part, index, slot);
        }
        if role != "model" {
            responses.end_of_content(report, index);
        }
        before = Some(role);
    }
    responses.close(report);
    if before == Some("model") {
        let last = contents.len() - 1;
        let message = "the request ends with a model content; some models refuse that";
        report.warning("trailing_assistant", at(last), message);
    }
    signatures(report, request, contents);
}

/// Returns a field in either spelling, unless it is null.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.as_object().and_then(|object| get(object, name))
}

/// Returns a string field in either spelling.
fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    field(value, name)?.as_str()
}

/// Returns a list in either spelling; a single value is a list of one.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    match field(value, name) {
        Some(Value::Array(list)) => list,
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        _ => &[],
    }
}

/// Reports a problem of the whole request that only some models refuse.
fn whole_warning(report: &mut Report, code: &'static str, message: &str) {
    let (message, path) = (message.to_owned(), String::new());
    let severity = Severity::Warning;
    report.findings.push(Finding { code, severity, message, node: None, path, slot: None });
}

fn role_of(content: &Value) -> &str {
    text(content, "role").unwrap_or("user")
}

/// Returns the parts of a content; a single part may replace the list.
fn parts_of(content: &Value) -> &[Value] {
    let Some(object) = content.as_object() else { return &[] };
    match object.contains_key("parts") || object.contains_key("role") {
        true => list(content, "parts"),
        false => std::slice::from_ref(content),
    }
}

/// "Function call is missing a thought_signature in functionCall parts": in the current turn, the
/// first call of each step needs one (envoyproxy/ai-gateway#2366). Models before Gemini 3 do not.
fn signatures(report: &mut Report, request: &Value, contents: &[Value]) {
    if !text(request, "model").is_some_and(|model| model.contains("gemini-3")) {
        return;
    }
    let asks = |content: &Value| {
        let response = |part: &Value| field(part, "functionResponse").is_some();
        role_of(content) != "model" && !parts_of(content).iter().any(response)
    };
    let first = contents.iter().rposition(asks).map_or(0, |index| index + 1);
    for (index, content) in contents.iter().enumerate().skip(first) {
        let is_call = |part: &Value| field(part, "functionCall").is_some();
        let parts = parts_of(content);
        let Some(inner) = parts.iter().position(is_call) else { continue };
        if field(&parts[inner], "thoughtSignature").is_none() {
            let slot = within(index, "parts", inner);
            report.warning(
                "thought_signature",
                slot,
                "the function call has no `thoughtSignature`",
            );
        }
    }
}
