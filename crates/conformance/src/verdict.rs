//! The result of running a case.

use std::fmt;

use contextree_json::{Object, Value};

use super::case::Case;

/// The result of running a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every expectation was met.
    Pass,
    /// Some expectations were not met: the keys of `expect` that differ, with both values.
    Fail {
        /// The expected values.
        expected: Value,
        /// The actual values.
        got: Value,
    },
    /// No check was supplied for this.
    Unsupported(
        /// The kind, or the part of a kind: `diff(selector)`.
        String,
    ),
}

impl Verdict {
    /// Returns whether the case passed.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        matches!(self, Verdict::Pass)
    }

    /// Compares the results with the expectation. A key without a result is a failure: nothing in
    /// `expect` is skipped.
    pub(crate) fn of(case: &Case, got: &Object) -> Verdict {
        let (mut expected_part, mut got_part) = (Object::new(), Object::new());
        for (name, expected) in case.expect() {
            let found = got.get(name);
            if found != Some(expected) {
                expected_part.insert(name, expected.clone());
                let silence = || Value::from("(the check does not support this key)");
                got_part.insert(name, found.cloned().unwrap_or_else(silence));
            }
        }
        if expected_part.is_empty() {
            Verdict::Pass
        } else {
            Verdict::Fail { expected: expected_part.into(), got: got_part.into() }
        }
    }

    /// Returns a failure from before anything could be compared.
    pub(crate) fn broken(case: &Case, why: &str) -> Verdict {
        let expected = Value::Object(case.expect().clone());
        Verdict::Fail { expected, got: Value::from(why) }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| String::from_utf8_lossy(&value.to_canonical()).into_owned();
        match self {
            Verdict::Pass => formatter.write_str("pass"),
            Verdict::Unsupported(kind) => write!(formatter, "no check for `{kind}`"),
            Verdict::Fail { expected, got } => {
                write!(formatter, "expected {}\n     got {}", text(expected), text(got))
            }
        }
    }
}
