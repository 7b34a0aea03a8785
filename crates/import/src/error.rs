//! Why something was not imported, and where.

use std::fmt;

use contextree_engine::{CommitError, OpError};
use contextree_json::ParseError;
use contextree_provider::read::Shape;

/// Why a document or a line was not imported.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    /// The number of the line, from 1; nothing for a document.
    pub line: Option<u64>,
    /// Why.
    pub kind: ImportErrorKind,
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// It is not JSON.
    Json(
        /// Where, and why not.
        ParseError,
    ),
    /// It is not what the format has there.
    Shape {
        /// Where: `messages[2].tool_calls[0]`.
        at: String,
        /// What was expected.
        expected: &'static str,
    },
    /// It looks like no format that is known.
    UnknownFormat {
        /// The first keys of the first entry, if it has any.
        keys: Vec<String>,
    },
    /// There is not one message in it.
    Empty {
        /// The types of the entries that are no messages.
        skipped: Vec<String>,
        /// How many lines were bad, and passed over.
        bad: u64,
    },
    /// The engine refused a node.
    Refused(
        /// Why.
        Box<OpError>,
    ),
    /// A turn could not be committed.
    Commit(
        /// Why.
        Box<CommitError>,
    ),
}

impl ImportErrorKind {
    /// Puts a step before the place of something that has another shape.
    pub(crate) fn within(self, step: &str) -> Self {
        match self {
            ImportErrorKind::Shape { at, expected } => Shape { at, expected }.within(step).into(),
            other => other,
        }
    }
}

impl ImportError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.kind {
            ImportErrorKind::Json(error) => error.code(),
            ImportErrorKind::Shape { .. } => "E_IMPORT_SHAPE",
            ImportErrorKind::UnknownFormat { .. } => "E_IMPORT_FORMAT",
            ImportErrorKind::Empty { .. } => "E_IMPORT_EMPTY",
            ImportErrorKind::Refused(error) => error.code(),
            ImportErrorKind::Commit(error) => error.code(),
        }
    }

    /// Returns a way out, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match &self.kind {
            ImportErrorKind::UnknownFormat { keys } => Some(match looks_like(keys) {
                Some(_) => "write each row as `{\"messages\":[{\"role\":…,\"content\":…},…]}`",
                None => "name the format",
            }),
            ImportErrorKind::Shape { .. } | ImportErrorKind::Empty { .. } => {
                Some("check that the format is the right one")
            }
            _ => None,
        }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        match &self.kind {
            ImportErrorKind::Json(error) if self.line.is_some() => {
                write!(formatter, "{}", error.in_line())
            }
            ImportErrorKind::Json(error) => write!(formatter, "{error}"),
            ImportErrorKind::Shape { at, expected } if at.is_empty() => {
                write!(formatter, "expected {expected}")
            }
            ImportErrorKind::Shape { at, expected } => {
                write!(formatter, "expected {expected} at `{at}`")
            }
            ImportErrorKind::UnknownFormat { keys } => {
                formatter.write_str("no known format")?;
                match looks_like(keys) {
                    Some(name) => write!(formatter, "; it looks like {name}"),
                    None if keys.is_empty() => Ok(()),
                    None => write!(formatter, "; it begins with `{}`", keys.join("`, `")),
                }
            }
            ImportErrorKind::Empty { skipped, bad } => {
                formatter.write_str("not one message")?;
                if !skipped.is_empty() {
                    write!(formatter, "; there are only entries of `{}`", skipped.join("`, `"))?;
                }
                match bad {
                    0 => Ok(()),
                    bad => write!(formatter, "; {bad} lines are bad"),
                }
            }
            ImportErrorKind::Refused(error) => write!(formatter, "{error}"),
            ImportErrorKind::Commit(error) => write!(formatter, "{error}"),
        }
    }
}

impl std::error::Error for ImportError {}

/// Returns what other programs call rows of these keys, which are no conversations.
fn looks_like(keys: &[String]) -> Option<&'static str> {
    let has = |name: &str| keys.iter().any(|key| key == name);
    if has("instruction") && has("output") {
        return Some("a data set of instructions (Alpaca)");
    }
    (has("prompt") && has("completion")).then_some("a data set of prompts and completions")
}

impl From<Shape> for ImportErrorKind {
    fn from(shape: Shape) -> Self {
        ImportErrorKind::Shape { at: shape.at, expected: shape.expected }
    }
}
