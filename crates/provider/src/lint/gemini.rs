//! Gemini: a user at the beginning, as many responses as calls directly behind them, no empty part.

use contextree_json::Value;

use super::report::{Report, at, list, text, within};

pub(super) fn lint(report: &mut Report, contents: &[Value]) {
    let mut before: Option<&str> = None;
    let mut open: Vec<(Option<&str>, &str, usize)> = Vec::new();
    let mut calls_at = 0;
    let mut seen = std::collections::BTreeSet::new();
    for (index, content) in contents.iter().enumerate() {
        let role = text(content, "role").unwrap_or("user");
        if !matches!(role, "user" | "model" | "function") {
            report.error("unknown_role", at(index), format!("`{role}` is no role"));
        }
        let parts = list(content, "parts");
        if parts.is_empty() {
            report.error("empty_content", at(index), "the content has no part");
        }
        let calls = parts.iter().any(|part| part.get("functionCall").is_some());
        if role == "model" {
            close(report, &mut open, calls_at);
            match before {
                None => report.error("first_role", at(0), "the first content is not the user's"),
                Some("model") if calls => {
                    let message = "a call comes directly behind a message of the user";
                    report.error("alternation", at(index), message);
                }
                Some("model") => {
                    report.warning("alternation", at(index), "two contents of the model in a row");
                }
                _ => {}
            }
        }
        for (inner, part) in parts.iter().enumerate() {
            let slot = within(index, "parts", inner);
            let empty = part.as_object().is_none_or(|part| {
                let text = part.get("text").and_then(Value::as_str);
                part.is_empty() || (text == Some("") && !part.contains_key("thoughtSignature"))
            });
            if empty {
                report.error("empty_content", slot, "the part is empty");
            }
            if let Some(call) = part.get("functionCall") {
                let id = text(call, "id");
                if role != "model" {
                    report.error("content_type", slot, "only the model can call");
                }
                if id.is_some_and(|id| !seen.insert(id)) {
                    let message = format!("the id `{}` was used before", id.unwrap_or_default());
                    report.error("duplicate_call_id", slot, message);
                }
                if call.get("args").is_some_and(|it| it.as_object().is_none()) {
                    report.error("arguments", slot, "`args` is an object");
                }
                calls_at = index;
                open.push((id, text(call, "name").unwrap_or_default(), inner));
            }
            if let Some(response) = part.get("functionResponse") {
                let (id, name) = (text(response, "id"), text(response, "name").unwrap_or_default());
                let found = open.iter().position(|(call, called, _)| match (id, call) {
                    (Some(id), Some(call)) => id == *call,
                    _ => name == *called,
                });
                match found {
                    Some(found) => {
                        open.remove(found);
                    }
                    None => {
                        let message = format!("no call of `{name}` waits for this response");
                        report.error("orphan_result", slot, message);
                    }
                }
                if response.get("response").is_none_or(|it| it.as_object().is_none()) {
                    report.error("arguments", slot, "`response` is an object");
                }
            }
        }
        if role != "model" {
            close(report, &mut open, calls_at);
        }
        before = Some(role);
    }
    close(report, &mut open, calls_at);
    if before == Some("model") {
        let last = contents.len() - 1;
        let message = "the request ends with the model's content; some models refuse that";
        report.warning("trailing_assistant", at(last), message);
    }
}

fn close(report: &mut Report, open: &mut Vec<(Option<&str>, &str, usize)>, index: usize) {
    for (_, name, inner) in open.drain(..) {
        let slot = within(index, "parts", inner);
        let message = format!("the call of `{name}` has no response behind it");
        report.error("missing_result", slot, message);
    }
}
