//! The errors of the rooms below as errors of a command, with details and hints.

use super::{Advice, Error};
use crate::control::CANCELED;
use contextree::query::{QueryError, ResolveError, ResolveErrorKind};
use contextree::selector::{ErrorKind, SelectorError, SelectorErrors, draw_caret};
use contextree::store::{ReadError, StoreError};
use contextree::{
    CommitError, Cycle, DocumentError, HistoryError, Location, OpError, SnapshotError, WriteError,
};
use contextree_json::{Object, Value};

impl From<SnapshotError> for Error {
    fn from(error: SnapshotError) -> Self {
        let failure = Error::new(error.code(), error.to_string());
        match error {
            SnapshotError::NotFound { address, oldest, newest }
            | SnapshotError::Retired { address, oldest, newest } => {
                let number =
                    |cycle: Option<Cycle>| cycle.map_or(Value::Null, |it| Value::from(it.get()));
                failure
                    .with_detail("address", address)
                    .with_detail("oldest", number(oldest))
                    .with_detail("newest", number(newest))
                    .with_advice(match newest {
                        Some(_) => Advice::ListSnapshots,
                        None => Advice::FirstCommit,
                    })
            }
            _ => failure.with_hint("`@` is the working state, `12` the snapshot of commit 12"),
        }
    }
}

/// What to do about a selector that is too much work.
const SIMPLER: &str = "use fewer conditions and alternatives, address fewer snapshots, or raise the limit where it can be set";

impl Error {
    /// Returns the error of a command that was canceled.
    pub(crate) fn canceled() -> Self {
        Error::new("E_CANCELED", "the command was canceled")
    }

    /// Returns the error for a selector that is invalid or names a missing snapshot. `text` is what the caller wrote.
    pub(crate) fn query(error: &QueryError, text: &str) -> Self {
        match error {
            QueryError::Selector(errors) => Error::selector(errors, text),
            QueryError::Resolve(error) => resolve(error, text),
            QueryError::Limit { limit, .. } if *limit == CANCELED => Error::canceled(),
            QueryError::Limit { limit, .. } => Error::new(error.code(), error.to_string())
                .with_detail("limit", *limit)
                .with_hint(SIMPLER),
            other => Error::new(other.code(), other.to_string()),
        }
    }

    /// Returns the error for an invalid selector.
    pub(crate) fn selector(errors: &SelectorErrors, text: &str) -> Self {
        let failure = Error::new(errors.code().as_str(), errors.to_string());
        let list = errors.errors().iter().map(selector_error).collect();
        failure
            .with_drawing(errors.draw(text))
            .with_detail("selector", text)
            .with_detail("errors", Value::Array(list))
            .with_advice(Advice::SelectorHelp)
    }

    /// Like [`Error::selector`], for a selector whose tree is given: `help` says where facets exist.
    pub(crate) fn facets(errors: &SelectorErrors, text: &str, help: &str) -> Self {
        let facets = errors.errors().iter().all(|error| error.kind == ErrorKind::NeedsSnapshot);
        let failure = Error::selector(errors, text);
        if !facets {
            return failure;
        }
        // The usual help, a prefix for the selector, would be refused next.
        let drawing = errors.errors().first().map(|error| {
            let headline = format!("error[{}]: {error}", error.code);
            draw_caret(&headline, text, error.span, Some(help))
        });
        failure.with_drawing(drawing.unwrap_or_default())
    }

    /// Returns the error for a document that cannot be read.
    pub(crate) fn document(place: &str, error: &DocumentError) -> Self {
        let failure = Error::new(error.code(), format!("{place}: {error}"));
        let failure = failure.with_detail("place", place).with_detail("reason", error.reason());
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
        failure.with_detail("issues", Value::Array(list.collect()))
    }

    /// Returns the error for a line of a history that cannot be read.
    pub(crate) fn history(place: &str, error: &HistoryError) -> Self {
        let place = format!("{place}: line {}", error.line);
        Error::document(&place, &error.error).with_detail("line", error.line as u64)
    }

    /// Returns the error for a refused operation.
    pub(crate) fn refused(error: &OpError) -> Self {
        // A rule without a place ends in an empty one.
        let message = error.to_string();
        let failure = Error::new(error.code(), message.trim_end_matches(": ``"))
            .with_detail("reason", error.reason())
            .with_detail("place", error.place())
            .with_hint(error.hint());
        match error {
            OpError::NodeNotFound { .. } => failure.with_advice(Advice::ShowTree),
            _ => failure,
        }
    }

    /// Returns the error for a refused write by selector. `text` is what the caller wrote.
    pub(crate) fn write(error: &WriteError, text: &str) -> Self {
        let failure = Error::new(error.code(), error.to_string());
        match error {
            WriteError::Selector(errors) => Error::selector(errors, text),
            WriteError::Query(error) => Error::query(error, text),
            WriteError::Refused(error) => Error::refused(error),
            WriteError::NoMatch(selector) => failure
                .with_detail("selector", selector.as_str())
                .with_advice(Advice::Explain(selector.clone())),
            WriteError::Ambiguous { selector, ids } => {
                let ids = ids.iter().map(|id| Value::from(id.as_str())).collect();
                failure
                    .with_detail("selector", selector.as_str())
                    .with_detail("ids", Value::Array(ids))
                    .with_hint("name one of them, or add `:first`")
            }
            _ => failure,
        }
    }

    /// Returns the error for a failed commit.
    pub(crate) fn commit(error: &CommitError) -> Self {
        let failure = Error::new(error.code(), error.to_string());
        match error {
            CommitError::Selector { error: QueryError::Limit { limit, .. }, .. }
                if *limit == CANCELED =>
            {
                Error::canceled()
            }
            CommitError::Selector { selector, error: QueryError::Limit { limit, .. }, .. } => {
                failure
                    .with_detail("limit", *limit)
                    .with_detail("selector", selector.as_str())
                    .with_hint(SIMPLER)
            }
            CommitError::UnknownMeasure(_) => {
                failure.with_hint("`nodes` and `bytes` are always available")
            }
            CommitError::AttemptRunning { .. } => {
                failure.with_hint("complete or cancel the running call first")
            }
            CommitError::StaleSummary { .. } => {
                failure.with_hint("ask again what would be pruned, and summarize that")
            }
            CommitError::SummaryTooLong { .. } => failure
                .with_hint("write a shorter summary, or raise `summary_tokens` of the budget"),
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

fn resolve(error: &ResolveError, text: &str) -> Error {
    let span = vec![Value::from(error.span.start), Value::from(error.span.end)];
    let failure = Error::new(error.code(), error.to_string())
        .with_drawing(error.draw(text))
        .with_detail("selector", text)
        .with_detail("span", Value::Array(span));
    let failure = match error.help() {
        Some(help) => failure.with_detail("help", help),
        None => failure,
    };
    match &error.kind {
        ResolveErrorKind::SnapshotNotFound { newest: Some(_), .. } => {
            failure.with_advice(Advice::ListSnapshots)
        }
        _ => failure,
    }
}

impl From<contextree::Error> for Error {
    fn from(error: contextree::Error) -> Self {
        if let Some(found @ CommitError::Selector { error: QueryError::Limit { .. }, .. }) =
            error.downcast_ref()
        {
            return Error::commit(found);
        }
        let mut failure = Error::new(error.code().as_str(), error.to_string());
        if let Some(hint) = error.hint() {
            failure = failure.with_hint(hint);
        }
        failure = match error.location() {
            Some(Location::Span { start, end }) => {
                let span = [*start, *end].map(|at| Value::from(at as u64));
                failure.with_detail("span", span.to_vec())
            }
            Some(Location::Line { line, column }) => {
                let failure = failure.with_detail("line", *line);
                match column {
                    Some(column) => failure.with_detail("column", *column),
                    None => failure,
                }
            }
            Some(Location::Path(place) | Location::Node(place)) => {
                failure.with_detail("place", place.as_str())
            }
            _ => failure,
        };
        if let Some(StoreError::Url { url, .. }) = error.downcast_ref() {
            failure = failure.with_detail("store", url.as_str());
        }
        failure.with_source(error)
    }
}

impl From<OpError> for Error {
    fn from(error: OpError) -> Self {
        Error::refused(&error)
    }
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        Error::commit(&error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let failure = Error::new(error.code(), error.to_string());
        // Records can be salvaged one by one, but not if the file itself, or the list of contexts, cannot be read.
        let is_whole = matches!(&error, StoreError::Corrupt { record, .. } if record == "the file" || record == "the list of contexts");
        let failure = match error.hint() {
            Some(hint) if !is_whole => failure.with_hint(hint),
            _ => failure,
        };
        match error {
            StoreError::Corrupt { record, .. } if is_whole => {
                failure.with_detail("record", record).with_advice(Advice::RestoreBackup)
            }
            StoreError::Io { ref message } if message.contains("No such file or directory") => {
                failure.with_hint("create the folder first")
            }
            StoreError::Conflict { context, expected, found, head } => failure
                .with_detail("context", context)
                .with_detail("expected", expected.get())
                .with_detail("found", found.get())
                .with_detail(
                    "head",
                    head.map_or(Value::Null, |head| Value::from(head.cycle.get())),
                ),
            StoreError::Exists { context } => failure
                .with_advice(Advice::ShowContext(context.clone()))
                .with_detail("context", context),
            StoreError::NotFound { context } => {
                failure.with_advice(Advice::ListContexts).with_detail("context", context)
            }
            StoreError::Corrupt { record, .. } => {
                failure.with_detail("record", record).with_advice(Advice::Salvage)
            }
            StoreError::Url { url, .. } => failure.with_detail("store", url),
            StoreError::Calling { context } => {
                failure.with_detail("context", context).with_advice(Advice::ListAttempts)
            }
            _ => failure,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => error.into(),
            ReadError::Snapshot(error) => error.into(),
            other => Error::new(other.code(), other.to_string()),
        }
    }
}
