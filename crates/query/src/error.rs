//! What can go wrong between a parsed selector and its result, and what is merely suspicious.

use std::fmt;

use contextree_selector::{SelectorErrors, Span};

/// Why a query gives no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryError {
    /// The text is no selector of its edition: `.cb[role=`.
    Selector(SelectorErrors),
    /// It is one, but addresses something that is not there: `@t-99 ^root`.
    Resolve(ResolveError),
    /// It addresses a part of the history that is only in a store. Whoever has the store loads it and asks again.
    NotLoaded,
}

impl QueryError {
    /// Returns the stable code of the specification.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Selector(errors) => errors.code().as_str(),
            Self::Resolve(error) => error.code(),
            Self::NotLoaded => "E_NOT_LOADED",
        }
    }

    /// Returns the error with the text and a caret under the faulty part.
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        match self {
            Self::Selector(errors) => errors.draw(text),
            Self::Resolve(error) => error.draw(text),
            Self::NotLoaded => self.to_string(),
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selector(errors) => errors.fmt(formatter),
            Self::Resolve(error) => error.fmt(formatter),
            Self::NotLoaded => formatter.write_str(
                "a snapshot that the selector addresses is in the store and was not loaded",
            ),
        }
    }
}

impl std::error::Error for QueryError {}

impl From<SelectorErrors> for QueryError {
    fn from(errors: SelectorErrors) -> Self {
        Self::Selector(errors)
    }
}

impl From<ResolveError> for QueryError {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(error)
    }
}

/// A selector that is well formed and cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolveError {
    /// What is wrong.
    pub kind: ResolveErrorKind,
    /// Where it is wrong, in bytes of the text.
    pub span: Span,
}

/// What a selector can fail to resolve to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolveErrorKind {
    /// There is no such snapshot: `@t-99`, `@c999`, `@t+1`. The present is never given in place of the past.
    SnapshotNotFound {
        /// The address as it was understood, `@t-99`.
        address: String,
        /// The cycle of the oldest snapshot there is.
        oldest: Option<u32>,
        /// The cycle of the newest snapshot there is.
        newest: Option<u32>,
        /// How many snapshots there are.
        count: usize,
    },
    /// The selector has no time and the history has no working state.
    NoWorkingState,
    /// A time prefix where the tree is given: in `where`, and in a diff of two trees.
    TimeNotAllowed,
}

impl ResolveError {
    pub(crate) fn new(kind: ResolveErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.kind {
            ResolveErrorKind::SnapshotNotFound { .. } | ResolveErrorKind::NoWorkingState => {
                "E_SNAPSHOT_NOT_FOUND"
            }
            ResolveErrorKind::TimeNotAllowed => "E_SELECTOR_INVALID",
        }
    }

    /// Returns a way out.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            ResolveErrorKind::SnapshotNotFound {
                oldest: Some(oldest),
                newest: Some(newest),
                count,
                ..
            } => {
                let back = count.saturating_sub(1);
                let oldest_turn = if back == 0 { "@t0".to_owned() } else { format!("@t-{back}") };
                Some(format!(
                    "there are `{oldest_turn}` to `@t0`, that is `@c{oldest}` to `@c{newest}`"
                ))
            }
            ResolveErrorKind::SnapshotNotFound { .. } => {
                Some("there is no snapshot yet, commit first".to_owned())
            }
            ResolveErrorKind::NoWorkingState => {
                Some("put `@t0` before the selector to read the latest commit".to_owned())
            }
            ResolveErrorKind::TimeNotAllowed => None,
        }
    }

    /// Returns the error as several lines with a caret, in the manner of
    /// [`SelectorError::draw`](contextree_selector::SelectorError::draw).
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        let code = self.code();
        let mut drawing = format!("error[{code}]: {self}");
        let range = self.span.range();
        if let (Some(before), Some(fault)) = (text.get(..range.start), text.get(range)) {
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let number = before.matches('\n').count() + 1;
            let line = text[line_start..].lines().next().unwrap_or_default();
            let margin = " ".repeat(number.to_string().len());
            let lead = " ".repeat(before[line_start..].chars().count());
            let carets = "^".repeat(fault.chars().count().max(1));
            drawing
                .push_str(&format!("\n{margin} |\n{number} | {line}\n{margin} | {lead}{carets}"));
        }
        if let Some(help) = self.help() {
            drawing.push_str(&format!("\n  = help: {help}"));
        }
        drawing
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ResolveErrorKind::SnapshotNotFound { address, .. } => {
                write!(formatter, "there is no snapshot `{address}`")
            }
            ResolveErrorKind::NoWorkingState => {
                formatter.write_str("there is no working state, only snapshots")
            }
            ResolveErrorKind::TimeNotAllowed => {
                formatter.write_str("a time prefix has no meaning here, the tree is given")
            }
        }
    }
}

impl std::error::Error for ResolveError {}

/// Something about a selector that is legal and probably not meant. Data beside the result, never an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// What is suspicious.
    pub kind: WarningKind,
    /// Where, in bytes of the text.
    pub span: Span,
}

/// What a warning is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// `.bloc` is legal, but no node of the tree has this type.
    UnknownType {
        /// The type as written.
        written: String,
        /// A type that the tree has, if one is near.
        suggestion: Option<String>,
    },
}

impl WarningKind {
    /// Returns the kind's stable name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::UnknownType { .. } => "unknown_type",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            WarningKind::UnknownType { written, suggestion } => {
                write!(formatter, "`.{written}` matches no type in this tree")?;
                match suggestion {
                    Some(near) => write!(formatter, ": did you mean `.{near}`?"),
                    None => Ok(()),
                }
            }
        }
    }
}
