//! What can go wrong between a parsed selector and its result, and what is merely suspicious.

use std::fmt;

use contextree_json::{Object, Value};
use contextree_selector::{SelectorErrors, Span, draw_caret};

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
    /// Returns all errors as a list of JSON objects: `code`, `kind`, `start` and `end` in bytes of the text, `message`, where it is known
    /// `found` and `expected`, and `help` where there is a way out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let errors = match self {
            Self::Selector(errors) => errors
                .into_iter()
                .map(|error| {
                    let (code, kind) = (error.code.as_str(), error.kind.as_str());
                    let mut object = problem(code, kind, error.span, error, error.help.as_deref());
                    object.insert("found", error.found.as_ref().into());
                    object.insert("expected", error.expected.as_ref().into());
                    object.into()
                })
                .collect(),
            Self::Resolve(error) => {
                let (code, kind) = (error.code(), error.kind.as_str());
                let help = error.help();
                vec![problem(code, kind, error.span, error, help.as_deref()).into()]
            }
            Self::NotLoaded => {
                vec![problem(self.code(), "not_loaded", Span::NONE, self, None).into()]
            }
        };
        Value::Array(errors)
    }

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

/// One error or warning as an object for programs.
fn problem(
    code: &str,
    kind: &str,
    span: Span,
    message: &dyn fmt::Display,
    help: Option<&str>,
) -> Object {
    let mut object = Object::new();
    object.insert("code", code.into());
    object.insert("kind", kind.into());
    object.insert("start", span.start.into());
    object.insert("end", span.end.into());
    object.insert("message", message.to_string().into());
    if let Some(help) = help {
        object.insert("help", help.into());
    }
    object
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

impl ResolveErrorKind {
    /// Returns the kind's stable name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SnapshotNotFound { .. } => "snapshot_not_found",
            Self::NoWorkingState => "no_working_state",
            Self::TimeNotAllowed => "time_not_allowed",
        }
    }
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
            ResolveErrorKind::TimeNotAllowed => Some("remove the prefix".to_owned()),
        }
    }

    /// Returns the error as several lines with a caret, see [`draw_caret`].
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        let headline = format!("error[{}]: {self}", self.code());
        draw_caret(&headline, text, self.span, self.help().as_deref())
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

impl Warning {
    /// Returns a way out.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            WarningKind::UnknownType { suggestion, .. } => {
                suggestion.as_ref().map(|near| format!("did you mean `.{near}`?"))
            }
        }
    }

    /// Returns the warning as several lines with a caret, see [`draw_caret`].
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        let headline = format!("warning[{}]: {}", self.kind.as_str(), self.kind);
        draw_caret(&headline, text, self.span, self.help().as_deref())
    }

    /// Returns the warning as a JSON object: `kind`, `start` and `end` in bytes of the text, `message`, and `help` where there is a way out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let (kind, help) = (self.kind.as_str(), self.help());
        let mut object = problem("", kind, self.span, &self.kind, help.as_deref());
        object.remove("code");
        object.into()
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType { written, .. } => {
                write!(formatter, "`.{written}` matches no type in this tree")
            }
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(formatter)?;
        match self.help() {
            Some(help) => write!(formatter, ": {help}"),
            None => Ok(()),
        }
    }
}
