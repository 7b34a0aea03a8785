//! Errors in documents.

use contextree_json::{ParseError, ParseErrorKind};

/// One problem in a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (node `{node}`, byte {offset})")]
pub struct Issue {
    /// The stable code.
    pub code: &'static str,
    /// The detailed reason, in snake case: `missing_header`, `duplicate_id` …
    pub reason: &'static str,
    /// A message for humans.
    pub message: String,
    /// The id of the affected node, or its position if it has no id.
    pub node: String,
    /// The byte at which the node begins.
    pub offset: usize,
}

/// Why a document was not imported. No part of it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Not JSON, or not JSON of the expected shape.
    #[error(transparent)]
    Json(#[from] ParseError),
    /// Valid JSON, but not a valid tree: all problems in document order, at most a hundred.
    #[error("{}", summary(.0))]
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

    /// Returns the detailed reason of the (first) problem.
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

/// Returns whether the text is valid JSON but has a value of the wrong type.
fn is_wrong_type(error: &ParseError) -> bool {
    matches!(error.kind(), ParseErrorKind::UnexpectedType { .. })
}

/// Formats the first issue and the number of the others.
fn summary(issues: &[Issue]) -> String {
    let first = match issues.first() {
        Some(first) if first.node.is_empty() => first.message.clone(),
        Some(first) => first.to_string(),
        None => String::new(),
    };
    match issues.len() {
        0 | 1 => first,
        more => format!("{first}, and {} more", more - 1),
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
