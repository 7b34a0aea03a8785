//! Errors between a parsed selector and its result, and warnings.

use std::fmt;

use contextree_json::{Object, Value};
use contextree_selector::{SelectorErrors, Span, draw_caret};
use contextree_tree::Cycle;

/// Why a query has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The selector is invalid in its edition: `.cb[role=`.
    #[error(transparent)]
    Selector(#[from] SelectorErrors),
    /// The selector is valid, but addresses something that does not exist: `@t-99 ^root`.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The selector addresses a part of the history that is only in a store. The owner of the store
    /// loads it and retries.
    #[error("a snapshot that the selector addresses is in the store and was not loaded")]
    NotLoaded,
    /// The query is more work than its [`QueryLimits`](crate::QueryLimits) allow: some thousand alternatives over a large tree.
    #[error("{}", beyond(limit, *most))]
    Limit {
        /// The limit: `steps_per_snapshot`, `steps`, or the name that an interrupt returned.
        limit: &'static str,
        /// The highest number that it allows; 0 for an interrupt.
        most: u64,
    },
}

impl QueryError {
    /// Returns all errors as a list of JSON objects: `code`, `kind`, `start` and `end` in bytes of
    /// the text, `message`, `found` and `expected` where known, and `help` if there is a hint.
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
            Self::Limit { limit, .. } => {
                let help = Some("use fewer conditions and alternatives, or raise the limit");
                vec![problem(self.code(), limit, Span::NONE, self, help).into()]
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
            Self::Limit { .. } => "E_LIMIT",
        }
    }

    /// Returns the error with the text and a caret under the invalid part.
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        match self {
            Self::Selector(errors) => errors.draw(text),
            Self::Resolve(error) => error.draw(text),
            Self::NotLoaded | Self::Limit { .. } => self.to_string(),
        }
    }
}

fn beyond(limit: &str, most: u64) -> String {
    match limit {
        "steps_per_snapshot" => {
            format!("the selector takes more than {most} steps in one snapshot (limit `{limit}`)")
        }
        "steps" => format!("the selector takes more than {most} steps (limit `{limit}`)"),
        _ => format!("the query was stopped (limit `{limit}`)"),
    }
}

/// Returns one error or warning as an object for programs.
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

/// A valid selector that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct ResolveError {
    /// The problem.
    pub kind: ResolveErrorKind,
    /// The location, in bytes of the text.
    pub span: Span,
}

/// Why a selector cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveErrorKind {
    /// No such snapshot exists: `@t-99`, `@c999`, `@t+1`. The present is never returned in place of
    /// the past.
    #[error("{}", missing(address, *.retired))]
    SnapshotNotFound {
        /// The address as it was understood, `@t-99`.
        address: String,
        /// The cycle of the oldest snapshot.
        oldest: Option<Cycle>,
        /// The cycle of the newest snapshot.
        newest: Option<Cycle>,
        /// The number of snapshots.
        count: usize,
        /// True if retention removed it.
        retired: bool,
    },
    /// The selector has no time prefix and the history has no working state.
    #[error("there is no working state, only snapshots")]
    NoWorkingState,
    /// A time prefix where the tree is fixed: in `where`, and in a diff of two trees.
    #[error("a time prefix is not allowed here, because the tree is fixed")]
    TimeNotAllowed,
}

fn missing(address: &str, retired: bool) -> String {
    match retired {
        true => format!("the snapshot `{address}` was removed by retention"),
        false => format!("no snapshot `{address}`"),
    }
}

impl ResolveErrorKind {
    /// Returns the kind's stable name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SnapshotNotFound { retired: true, .. } => "snapshot_retired",
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
            ResolveErrorKind::SnapshotNotFound { retired: true, .. } => "E_SNAPSHOT_RETIRED",
            ResolveErrorKind::SnapshotNotFound { .. } | ResolveErrorKind::NoWorkingState => {
                "E_SNAPSHOT_NOT_FOUND"
            }
            ResolveErrorKind::TimeNotAllowed => "E_SELECTOR_INVALID",
        }
    }

    /// Returns a hint.
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
                    "existing snapshots: `{oldest_turn}` to `@t0`, or `@c{oldest}` to `@c{newest}`"
                ))
            }
            ResolveErrorKind::SnapshotNotFound { .. } => {
                Some("there are no snapshots yet; commit first".to_owned())
            }
            ResolveErrorKind::NoWorkingState => {
                Some("add `@t0` before the selector to read the latest commit".to_owned())
            }
            ResolveErrorKind::TimeNotAllowed => {
                Some("remove the prefix; facets such as `age` work without it".to_owned())
            }
        }
    }

    /// Returns the error as several lines with a caret; see [`draw_caret`].
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        let headline = format!("error[{}]: {self}", self.code());
        draw_caret(&headline, text, self.span, self.help().as_deref())
    }
}

/// Something in a selector that is valid but probably a mistake. Part of the result, never an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The kind.
    pub kind: WarningKind,
    /// The location, in bytes of the text.
    pub span: Span,
}

/// The kind of a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// `.bloc` is valid, but no node of the tree has this type.
    UnknownType {
        /// The type as written.
        written: String,
        /// A similar type that the tree has.
        suggestion: Option<String>,
    },
    /// `[roel=user]` is valid, but no node of the tree has this attribute.
    UnknownAttribute {
        /// The attribute as written.
        written: String,
        /// A similar header, or attribute that the tree has.
        suggestion: Option<String>,
    },
    /// `[role=usr]` is valid, but no node of the tree has this value, and some have a similar one.
    UnknownValue {
        /// `role`, `kind`, `key` or `tag`.
        header: &'static str,
        /// The value as written.
        written: String,
        /// A similar value that the tree has.
        suggestion: String,
    },
    /// `(seg, cont)` matches nothing in any tree.
    TurnHopFirst,
}

impl WarningKind {
    /// Returns the kind's stable name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::UnknownType { .. } => "unknown_type",
            Self::UnknownAttribute { .. } => "unknown_attribute",
            Self::UnknownValue { .. } => "unknown_value",
            Self::TurnHopFirst => "turn_hop_first",
        }
    }
}

impl Warning {
    /// Returns a hint.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            WarningKind::UnknownType { suggestion, .. } => {
                suggestion.as_ref().map(|near| format!("did you mean `.{near}`?"))
            }
            WarningKind::UnknownAttribute { suggestion, .. } => {
                suggestion.as_ref().map(|near| format!("did you mean `{near}`?"))
            }
            WarningKind::UnknownValue { suggestion, .. } => {
                Some(format!("did you mean `{suggestion}`?"))
            }
            WarningKind::TurnHopFirst => {
                Some("begin with a depth, as in `(d1, seg, …)`".to_owned())
            }
        }
    }

    /// Returns the warning as several lines with a caret; see [`draw_caret`].
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        let headline = format!("warning[{}]: {}", self.kind.as_str(), self.kind);
        draw_caret(&headline, text, self.span, self.help().as_deref())
    }

    /// Returns the warning as a JSON object: `kind`, `start` and `end` in bytes of the text,
    /// `message`, and `help` if there is a hint.
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
                write!(formatter, "no node in this tree has the type `.{written}`")
            }
            Self::UnknownAttribute { written, .. } => {
                write!(formatter, "no node in this tree has the attribute `{written}`")
            }
            Self::UnknownValue { header, written, .. } => {
                write!(formatter, "no node in this tree has the {header} `{written}`")
            }
            Self::TurnHopFirst => formatter
                .write_str("`seg` as the first hop matches nothing, because it does not move"),
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
