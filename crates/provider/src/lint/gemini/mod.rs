//! Lints requests for Gemini: the first content is the user's, calls are followed by as many
//! responses, and no part is empty.
//!
//! Names are read in either spelling, and null fields count as missing, as in the API.

mod parts;
mod responses;
mod settings;

use contextree_json::Value;

use self::responses::Responses;
use super::pass::{AnyPass, Pass, Resumable};
use super::report::{Report, at, within};
use crate::Slot;
use crate::gemini::get;

/// Returns the conversation. The SDK accepts a single content in place of a list.
pub(super) fn contents(contents: &Value) -> Option<&[Value]> {
    match contents {
        Value::Array(contents) => Some(contents),
        Value::String(_) | Value::Object(_) => Some(std::slice::from_ref(contents)),
        _ => None,
    }
}

/// Lints everything but the conversation.
pub(super) fn lint(report: &mut Report, request: &Value) {
    settings::lint(report, request);
}

pub(super) fn passes(report: impl Fn() -> Report) -> Vec<Box<dyn AnyPass>> {
    vec![Box::new(Resumable::new(Conversation::default(), report()))]
}

/// The state of a pass over the contents.
#[derive(Clone, Default)]
struct Conversation {
    contents: usize,
    /// Whether the last content is the model's.
    is_model: bool,
    responses: Responses,
    /// Calls of the current turn that lack a signature: the first of each content.
    unsigned: Vec<Slot>,
}

impl Pass for Conversation {
    fn message(&mut self, report: &mut Report, content: &Value, index: usize) {
        let role = role_of(content);
        if !matches!(role, "user" | "model" | "function" | "tool") {
            report.error("unknown_role", at(index), format!("unknown role `{role}`"));
        }
        let parts = parts_of(content);
        if parts.is_empty() && content.as_str().is_none_or(str::is_empty) {
            report.error("empty_content", at(index), "the content has no parts");
        }
        if role == "model" {
            self.responses.close(report);
            let calls = parts.iter().any(|part| field(part, "functionCall").is_some());
            if self.contents == 0 {
                report.error("first_role", at(0), "the first content must be the user's");
            } else if self.is_model && calls {
                let message = "a function call must directly follow a user content";
                report.error("alternation", at(index), message);
            } else if self.is_model {
                report.warning("alternation", at(index), "two model contents in a row");
            }
        }
        for (inner, part) in parts.iter().enumerate() {
            let slot = within(index, "parts", inner);
            parts::part(report, role, part, slot);
            self.responses.part(report, part, index, slot);
        }
        if role != "model" {
            self.responses.end_of_content(report, index);
        }
        self.note_signature(role, parts, index);
        self.contents += 1;
        self.is_model = role == "model";
    }

    fn end(mut self, report: &mut Report, request: &Value) {
        self.responses.close(report);
        if self.is_model {
            let message = "the request ends with a model content; some models refuse that";
            report.warning("trailing_assistant", at(self.contents - 1), message);
        }
        // "Function call is missing a thought_signature in functionCall parts". Models before
        // Gemini 3 do not need one.
        if text(request, "model").is_some_and(|model| model.contains("gemini-3")) {
            for slot in self.unsigned {
                let message = "the function call has no `thoughtSignature`";
                report.warning("thought_signature", slot, message);
            }
        }
    }
}

impl Conversation {
    /// Notes calls without a signature: in the current turn, the first call of each step needs one
    /// (envoyproxy/ai-gateway#2366). A turn begins after a content of the user that answers no call.
    fn note_signature(&mut self, role: &str, parts: &[Value], index: usize) {
        let is_response = |part: &Value| field(part, "functionResponse").is_some();
        if role != "model" && !parts.iter().any(is_response) {
            self.unsigned.clear();
            return;
        }
        let first = parts.iter().position(|part| field(part, "functionCall").is_some());
        if let Some(inner) = first
            && field(&parts[inner], "thoughtSignature").is_none()
        {
            self.unsigned.push(within(index, "parts", inner));
        }
    }
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
