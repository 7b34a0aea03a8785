//! Whether a result agrees with an expectation. The results themselves are never adjusted: what a
//! runner reports is what the program returned.

use contextree_json::{Object, Value};

/// Keys that are remarks for the reader of a case.
const REMARKS: [(&str, &str); 4] = [
    ("select", "golden_text"),
    ("flat_log", "compare"),
    ("content_hash", "log"),
    ("rag_insert", "placement"),
];

/// Returns whether a result agrees with one key of the expectation of a case of this kind.
pub(crate) fn agrees(kind: &str, key: &str, expected: &Value, got: Option<&Value>) -> bool {
    if REMARKS.contains(&(kind, key)) {
        return true;
    }
    match (kind, key, got) {
        // An absent content diff is expected as null.
        ("content_diff", "content_diff", got) => is_content_diff(expected, got),
        ("range", _, Some(got)) | ("import", "export", Some(got)) => is_part(expected, got),
        ("flat_log", "tree_before_commit", Some(got))
        | ("flat_log_commit", "seq_shape" | "thread", Some(got)) => has_shape(expected, got),
        (_, _, got) => got == Some(expected),
    }
}

/// Returns whether `got` contains `expected`: objects may have more keys, lists must be as long.
fn is_part(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            expected.iter().all(|(key, value)| got.get(key).is_some_and(|got| is_part(value, got)))
        }
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len()
                && expected.iter().zip(got).all(|(expected, got)| is_part(expected, got))
        }
        _ => expected == got,
    }
}

/// `has` names a key that must be present; other keys must be equal.
fn is_content_diff(expected: &Value, got: Option<&Value>) -> bool {
    match (expected, got) {
        (Value::Object(expected), Some(got)) => expected.iter().all(|(key, value)| match key {
            "has" => value.as_str().is_some_and(|name| got.get(name).is_some()),
            _ => got.get(key) == Some(value),
        }),
        (Value::Null, got) => got.is_none_or(Value::is_null),
        _ => false,
    }
}

/// Returns whether nodes have the keys and children that are expected. Ids are illustrative, and a
/// document may omit empty regions.
fn has_shape(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            expected.iter().all(|(key, value)| match (key, value, got.get(key)) {
                ("id", _, _) => true,
                ("children", Value::Array(expected), Some(Value::Array(got))) => {
                    let got: Vec<&Value> =
                        got.iter().filter(|child| !is_omitted(child, expected)).collect();
                    have_shapes(expected, &got)
                }
                (_, value, Some(got)) => has_shape(value, got),
                // Null means absent.
                (_, value, None) => value.is_null(),
            })
        }
        (Value::Array(expected), Value::Array(got)) => {
            have_shapes(expected, &got.iter().collect::<Vec<_>>())
        }
        _ => expected == got,
    }
}

fn have_shapes(expected: &[Value], got: &[&Value]) -> bool {
    expected.len() == got.len()
        && expected.iter().zip(got).all(|(expected, got)| has_shape(expected, got))
}

/// Returns whether a child is an empty region that the expectation leaves out.
fn is_omitted(child: &Value, expected: &[Value]) -> bool {
    let node_type =
        |value: &Value| value.get("nodeType").and_then(Value::as_str).map(str::to_owned);
    let is_empty = child.get("children").and_then(Value::as_array).is_none_or(<[Value]>::is_empty);
    let own = node_type(child);
    own.as_deref().is_some_and(|own| own.starts_with('^'))
        && is_empty
        && !expected.iter().any(|expected| node_type(expected) == own)
}

/// Returns the keys of an expectation that a result does not agree with.
pub(crate) fn differing(kind: &str, expect: &Object, got: &Object) -> Vec<String> {
    let differs = |(key, expected): &(&str, &Value)| !agrees(kind, key, expected, got.get(key));
    expect.iter().filter(differs).map(|(key, _)| key.to_owned()).collect()
}
