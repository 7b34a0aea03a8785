//! What came of a case.

use std::fmt;

use contextree_json::{Object, Value};

use super::case::Case;

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Everything that the case expects was got.
    Pass,
    /// Something else was got: the keys of `expect` that differ, with both values.
    Fail {
        /// What the case expects.
        expected: Value,
        /// What was got.
        got: Value,
    },
    /// Nobody has plugged in a check for this.
    Unsupported(
        /// The kind, or the part of a kind: `diff(selector)`.
        String,
    ),
}

impl Verdict {
    /// True if the case passed.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        matches!(self, Verdict::Pass)
    }

    /// Compares what was got with what a case expects. A key that the check said nothing about is a failure: nothing in
    /// `expect` is passed over.
    pub(crate) fn of(case: &Case, got: &Object) -> Verdict {
        let (mut expected_part, mut got_part) = (Object::new(), Object::new());
        for (name, expected) in case.expect() {
            let found = got.get(name);
            if found != Some(expected) {
                expected_part.insert(name, expected.clone());
                let silence = || Value::from("(the check does not know this key)");
                got_part.insert(name, found.cloned().unwrap_or_else(silence));
            }
        }
        if expected_part.is_empty() {
            Verdict::Pass
        } else {
            Verdict::Fail { expected: expected_part.into(), got: got_part.into() }
        }
    }

    /// A failure before anything could be compared.
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
