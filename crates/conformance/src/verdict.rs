//! The result of running a case.

use std::fmt;

use contextree_json::{Object, Value};

use super::agree::differing;
use super::case::Case;

/// The result of running a case, with what the program returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every expectation was met.
    Pass {
        /// Everything that the program returned.
        got: Object,
    },
    /// Some expectations were not met.
    Fail {
        /// The expected values of the keys that differ.
        expected: Object,
        /// Everything that the program returned. Keys that it has no result for are missing: an
        /// answer where an error was expected, for example.
        got: Object,
    },
    /// The case could not be run to its end.
    Broken(
        /// Why.
        String,
    ),
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
        matches!(self, Verdict::Pass { .. })
    }

    /// Returns what the program returned, or why it returned nothing.
    #[must_use]
    pub fn got(&self) -> Value {
        match self {
            Verdict::Pass { got } | Verdict::Fail { got, .. } => Value::Object(got.clone()),
            Verdict::Broken(why) => Value::from(why.as_str()),
            Verdict::Unsupported(kind) => Value::from(format!("there is no check for `{kind}`")),
        }
    }

    /// Compares the results with the expectation. A key without a result is a failure: nothing in
    /// `expect` is skipped.
    pub(crate) fn of(case: &Case, got: Object) -> Verdict {
        let differing = differing(&case.kind, case.expect(), &got);
        if differing.is_empty() {
            return Verdict::Pass { got };
        }
        let expected = differing.iter().map(|key| (key.as_str(), case.expected(key).clone()));
        Verdict::Fail { expected: expected.collect(), got }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Object| {
            let bytes = Value::Object(value.clone()).to_canonical();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        match self {
            Verdict::Pass { .. } => formatter.write_str("pass"),
            Verdict::Unsupported(kind) => write!(formatter, "no check for `{kind}`"),
            Verdict::Broken(why) => write!(formatter, "could not be run: {why}"),
            Verdict::Fail { expected, got } => {
                // What belongs to the keys that differ; everything if there is no such key.
                let part: Object = expected
                    .keys()
                    .filter_map(|key| Some((key.to_owned(), got.get(key)?.clone())))
                    .collect();
                let got = if part.is_empty() { got } else { &part };
                write!(formatter, "expected {}\n     got {}", text(expected), text(got))
            }
        }
    }
}
