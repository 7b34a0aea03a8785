//! Request logs: the bodies of requests, alone or each with its response.

use serde_json::Value;

use super::{Kind, Reading};

pub(super) fn read(values: &[Value]) -> Reading {
    let mut reading = Reading::new(Kind::Requests);
    reading.requests = values.iter().filter_map(request).cloned().collect();
    reading
}

/// Returns whether a value is, or contains, a request.
pub(super) fn is_request(value: &Value) -> bool {
    request(value).is_some()
}

fn request(value: &Value) -> Option<&Value> {
    let value = value.get("request").unwrap_or(value);
    let value = value.get("body").unwrap_or(value);
    let has = |name: &str| value.get(name).is_some();
    let is_sent = has("model") && (has("messages") || has("input"));
    (is_sent || has("contents")).then_some(value)
}
