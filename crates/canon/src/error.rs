//! What can be wrong with a document.

use std::fmt;

use contextree_json::{ParseError, ParseErrorKind};

/// One thing that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The stable code.
    pub code: &'static str,
    /// The finer reason, in snake case: `missing_header`, `duplicate_id` …
    pub reason: &'static str,
    /// What is wrong, in words.
    pub message: String,
    /// The id of the node at fault, or where it stands if it has none.
    pub node: String,
    /// The byte at which the node begins.
    pub offset: usize,
}

impl fmt::Display for Issue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (node `{}`, byte {})", self.message, self.node, self.offset)
    }
}

/// Why a document was not imported. Nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is not JSON, or not JSON of the expected shape.
    Json(ParseError),
    /// It is JSON, but not a tree that may be imported: everything that is wrong, in document order, up to a hundred
    /// things.
    Invalid(Vec<Issue>),
}

impl DocumentError {
    /// Returns the stable code of the (first) problem.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            DocumentError::Json(error) if is_wrong_type(error) => codes::DOCUMENT,
            DocumentError::Json(error) => error.code(),
            DocumentError::Invalid(issues) => {
                issues.first().map_or(codes::DOCUMENT, |issue| issue.code)
            }
        }
    }

    /// Returns the finer reason of the (first) problem.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            DocumentError::Json(error) if is_wrong_type(error) => "wrong_type",
            DocumentError::Json(_) => "not_json",
            DocumentError::Invalid(issues) => issues.first().map_or("", |issue| issue.reason),
        }
    }

    pub(crate) fn one(code: &'static str, reason: &'static str, message: String) -> Self {
        DocumentError::Invalid(vec![Issue {
            code,
            reason,
            message,
            node: String::new(),
            offset: 0,
        }])
    }
}

/// JSON it is, but not the value that belongs there.
fn is_wrong_type(error: &ParseError) -> bool {
    matches!(error.kind(), ParseErrorKind::UnexpectedType { .. })
}

impl fmt::Display for DocumentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentError::Json(error) => write!(formatter, "{error}"),
            DocumentError::Invalid(issues) => {
                match issues.first() {
                    Some(first) if first.node.is_empty() => formatter.write_str(&first.message)?,
                    Some(first) => write!(formatter, "{first}")?,
                    None => {}
                }
                match issues.len() {
                    0 | 1 => Ok(()),
                    more => write!(formatter, ", and {} more", more - 1),
                }
            }
        }
    }
}

impl std::error::Error for DocumentError {}

impl From<ParseError> for DocumentError {
    fn from(error: ParseError) -> Self {
        DocumentError::Json(error)
    }
}

/// Stable codes.
pub(crate) mod codes {
    pub(crate) const DOCUMENT: &str = "E_DOCUMENT_INVALID";
    pub(crate) const PLACEMENT: &str = "E_INVALID_PLACEMENT";
    pub(crate) const LIMIT: &str = "E_LIMIT";
    pub(crate) const VERSION: &str = "E_VERSION";
    pub(crate) const DIGEST: &str = "E_DIGEST_MISMATCH";
}
