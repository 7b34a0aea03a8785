//! Describes why an import failed, and where.

use std::fmt;

use contextree_engine::{AttemptError, CallError, CommitError, OpError};
use contextree_json::ParseError;
use contextree_provider::read::Shape;

use crate::format::Format;

/// Why a document or a line was not imported.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    /// The number of the line, from 1; `None` for a document.
    pub line: Option<u64>,
    /// The cause.
    pub kind: ImportErrorKind,
    /// The format, if it was detected: another one may fit better.
    pub detected: Option<Format>,
}

/// The cause of a failed import.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// The text is not JSON.
    Json(
        /// The syntax error.
        ParseError,
    ),
    /// A value does not have the shape that the format requires.
    Shape {
        /// The path: `messages[2].tool_calls[0]`.
        at: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The format could not be detected.
    UnknownFormat {
        /// The first keys of the first entry, if it has any.
        keys: Vec<String>,
    },
    /// The import has no messages.
    Empty {
        /// The types of the skipped entries.
        skipped: Vec<String>,
        /// The number of bad lines that were skipped.
        bad: u64,
    },
    /// The engine refused a node.
    Refused(
        /// The cause.
        Box<OpError>,
    ),
    /// A turn could not be committed.
    Commit(
        /// The cause.
        Box<CommitError>,
    ),
    /// A call could not be recorded.
    Call(
        /// The cause.
        Box<CallError>,
    ),
}

impl ImportErrorKind {
    /// Prepends a step to the path of a shape error.
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
            ImportErrorKind::Call(error) => error.code(),
        }
    }

    /// Returns a hint, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match &self.kind {
            ImportErrorKind::UnknownFormat { keys } => Some(match looks_like(keys) {
                Some((_, hint)) => hint,
                None => "name the format explicitly",
            }),
            ImportErrorKind::Shape { .. } | ImportErrorKind::Empty { .. } => {
                Some(match self.detected {
                    Some(_) => "name the format explicitly if this is not the right one",
                    None => "check that this is the right format",
                })
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
            ImportErrorKind::Json(error) => {
                if error.code() == "E_JSON_INVALID" {
                    formatter.write_str("not JSON: ")?;
                }
                match self.line {
                    Some(_) => write!(formatter, "{}", error.in_line()),
                    None => write!(formatter, "{error}"),
                }
            }
            ImportErrorKind::Shape { at, expected } if at.is_empty() => {
                write!(formatter, "expected {expected}")
            }
            ImportErrorKind::Shape { at, expected } => {
                write!(formatter, "expected {expected} at `{at}`")
            }
            ImportErrorKind::UnknownFormat { keys } => {
                formatter.write_str("unknown format")?;
                match looks_like(keys) {
                    Some((name, _)) => write!(formatter, "; this looks like {name}"),
                    None if keys.is_empty() => Ok(()),
                    None => {
                        write!(formatter, "; the first entry has the keys `{}`", keys.join("`, `"))
                    }
                }
            }
            ImportErrorKind::Empty { skipped, bad } => {
                formatter.write_str("no messages")?;
                if !skipped.is_empty() {
                    write!(formatter, "; found only entries of type `{}`", skipped.join("`, `"))?;
                }
                match bad {
                    0 => Ok(()),
                    1 => formatter.write_str("; skipped 1 bad line"),
                    bad => write!(formatter, "; skipped {bad} bad lines"),
                }
            }
            ImportErrorKind::Refused(error) => write!(formatter, "{error}"),
            ImportErrorKind::Commit(error) => write!(formatter, "{error}"),
            ImportErrorKind::Call(error) => write!(formatter, "{error}"),
        }?;
        match (self.detected, &self.kind) {
            (Some(format), ImportErrorKind::Shape { .. } | ImportErrorKind::Empty { .. }) => {
                write!(formatter, "; the format was detected as `{format}`")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ImportError {}

/// Returns the common name of documents with these keys, which are not read, and what to do.
fn looks_like(keys: &[String]) -> Option<(&'static str, &'static str)> {
    const ROWS: &str = "write each row as `{\"messages\":[{\"role\":…,\"content\":…},…]}`";
    const LIST: &str = "write it as `{\"messages\":[{\"role\":…,\"content\":…},…]}`";
    let has = |name: &str| keys.iter().any(|key| key == name);
    let is_event = has("source") && (has("action") || has("observation"));
    let known = [
        (has("instruction") && has("output"), "an instruction data set (Alpaca)", ROWS),
        (has("prompt") && has("completion"), "a data set of prompts and completions", ROWS),
        (has("schema_version") && has("steps"), "a trajectory of Harbor (ATIF)", LIST),
        (is_event || (has("history") && keys.len() < 8), "a session of OpenHands", LIST),
        (
            has("sessionId") && has("messageId"),
            "the list of prompts of Gemini CLI, which has no answers",
            "import the session itself: Gemini CLI keeps it in `chats`, beside this file",
        ),
    ];
    known.into_iter().find(|(is, ..)| *is).map(|(_, name, hint)| (name, hint))
}

impl From<CallError> for ImportErrorKind {
    fn from(error: CallError) -> Self {
        ImportErrorKind::Call(Box::new(error))
    }
}

impl From<AttemptError> for ImportErrorKind {
    fn from(error: AttemptError) -> Self {
        CallError::from(error).into()
    }
}

impl From<Shape> for ImportErrorKind {
    fn from(shape: Shape) -> Self {
        ImportErrorKind::Shape { at: shape.at, expected: shape.expected }
    }
}
