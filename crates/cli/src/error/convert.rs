//! The errors of the engine as failures of a command, with the command to run next.

use std::io;

use contextree::query::{QueryError, ResolveError, ResolveErrorKind};
use contextree::{CommitError, DocumentError, HistoryError, OpError, SnapshotError, WriteError};
use contextree_json::{Object, Value};
use contextree_selector::{SelectorError, SelectorErrors};

use super::Failure;

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::io("standard output", &error)
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            SnapshotError::NotFound { address, oldest, newest } => {
                let number = |number: Option<u32>| number.map_or(Value::Null, Value::from);
                failure
                    .detail("address", address)
                    .detail("oldest", number(oldest))
                    .detail("newest", number(newest))
                    .hint(match newest {
                        Some(_) => "`ctx log` lists the snapshots there are",
                        None => "there is no snapshot yet: `ctx commit` makes the first",
                    })
            }
            _ => failure.hint("`@` is the working state, `12` the snapshot of commit 12"),
        }
    }
}

impl Failure {
    /// A selector that is none, or that names a snapshot that is not there.
    pub(crate) fn query(error: &QueryError, text: &str) -> Self {
        match error {
            QueryError::Selector(errors) => Failure::selector(errors, text),
            QueryError::Resolve(error) => resolve(error, text),
            other => Failure::new(other.code(), other.to_string()),
        }
    }

    /// A text that is no selector.
    pub(crate) fn selector(errors: &SelectorErrors, text: &str) -> Self {
        let failure = Failure::new(errors.code().as_str(), errors.to_string());
        let list = errors.errors().iter().map(selector_error).collect();
        failure
            .drawing(errors.draw(text))
            .detail("selector", text)
            .detail("errors", Value::Array(list))
            .hint("`ctx help selectors` shows every form with an example")
    }

    /// A document that cannot be read.
    pub(crate) fn document(place: &str, error: &DocumentError) -> Self {
        let failure = Failure::new(error.code(), format!("{place}: {error}"));
        let failure = failure.detail("place", place).detail("reason", error.reason());
        let DocumentError::Invalid(issues) = error else { return failure };
        let list = issues.iter().map(|issue| {
            Value::Object(Object::from_iter([
                ("code", Value::from(issue.code)),
                ("reason", issue.reason.into()),
                ("message", issue.message.as_str().into()),
                ("node", issue.node.as_str().into()),
                ("offset", (issue.offset as u64).into()),
            ]))
        });
        failure.detail("issues", Value::Array(list.collect()))
    }

    /// A line of a history that cannot be read.
    pub(crate) fn history(place: &str, error: &HistoryError) -> Self {
        let place = format!("{place}: line {}", error.line);
        Failure::document(&place, &error.error).detail("line", error.line as u64)
    }

    /// An operation that was refused.
    pub(crate) fn refused(error: &OpError) -> Self {
        let failure = Failure::new(error.code(), error.to_string())
            .detail("reason", error.reason())
            .detail("place", error.place())
            .hint(error.hint());
        match error {
            OpError::NodeNotFound { .. } => failure.hint("`ctx show` draws the tree with all ids"),
            _ => failure,
        }
    }

    /// A write by selector that was refused. `text` is what the caller wrote.
    pub(crate) fn write(error: &WriteError, text: &str) -> Self {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            WriteError::Selector(errors) => Failure::selector(errors, text),
            WriteError::Refused(error) => Failure::refused(error),
            WriteError::NoMatch(selector) => failure
                .detail("selector", selector.as_str())
                .hint(format!("`ctx explain \"{selector}\"` shows what each step matches")),
            WriteError::Ambiguous { selector, ids } => {
                let ids = ids.iter().map(|id| Value::from(id.as_str())).collect();
                failure
                    .detail("selector", selector.as_str())
                    .detail("ids", Value::Array(ids))
                    .hint("name one of them, or add `:first`")
            }
            _ => failure,
        }
    }

    /// A commit that failed.
    pub(crate) fn commit(error: &CommitError) -> Self {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            CommitError::UnknownMeasure(_) => failure.hint("`nodes` and `bytes` are always there"),
            _ => failure,
        }
    }
}

fn selector_error(error: &SelectorError) -> Value {
    let span = vec![Value::from(error.span.start), Value::from(error.span.end)];
    let mut object = Object::from_iter([
        ("code", Value::from(error.code.as_str())),
        ("kind", error.kind.as_str().into()),
        ("message", error.to_string().into()),
        ("span", Value::Array(span)),
        ("found", error.found.clone().into()),
        ("expected", error.expected.clone().into()),
    ]);
    if let Some(help) = &error.help {
        object.insert("help", help.clone().into());
    }
    object.into()
}

fn resolve(error: &ResolveError, text: &str) -> Failure {
    let span = vec![Value::from(error.span.start), Value::from(error.span.end)];
    let failure = Failure::new(error.code(), error.to_string())
        .drawing(error.draw(text))
        .detail("selector", text)
        .detail("span", Value::Array(span));
    let failure = match error.help() {
        Some(help) => failure.detail("help", help),
        None => failure,
    };
    match &error.kind {
        ResolveErrorKind::SnapshotNotFound { newest: Some(_), .. } => {
            failure.hint("`ctx log` lists the snapshots there are")
        }
        _ => failure,
    }
}
