//! Every error type of the crates below, as an [`Error`].

use contextree_canon::record::RecordError;
use contextree_canon::{DocumentError, NotAHash};
use contextree_engine::{
    AttemptError, BatchError, CallError, CommitError, DiffError, FlatLogError, HistoryError,
    OpError, PolicyError, SnapshotError, WriteError,
};
use contextree_json::{NotFinite, ParseError};
use contextree_query::{QueryError, ResolveError, UnknownContentMode};
use contextree_selector::{SelectorError, SelectorErrors, Span, UnknownEdition};
use contextree_store::{ReadError, StepError, StoreError, UndoError};

use super::{Code, Error, Location};

impl Error {
    fn at(self, location: Option<Location>) -> Self {
        match location {
            Some(location) => self.with_location(location),
            None => self,
        }
    }

    fn hinted(self, hint: Option<impl Into<std::borrow::Cow<'static, str>>>) -> Self {
        match hint {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }
}

fn span(span: Span) -> Location {
    Location::Span { start: span.range().start, end: span.range().end }
}

fn node(id: &str) -> Option<Location> {
    (!id.is_empty()).then(|| Location::Node(id.to_owned()))
}

fn path(path: &str) -> Option<Location> {
    (!path.is_empty()).then(|| Location::Path(path.to_owned()))
}

fn line(line: usize, column: Option<usize>) -> Location {
    Location::Line { line: line as u64, column: column.map(|column| column as u64) }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        Error::typed(error.code(), error).hinted(hint)
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => error.into(),
            ReadError::Snapshot(error) => error.into(),
            ReadError::Query(error) => error.into(),
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<SnapshotError> for Error {
    fn from(error: SnapshotError) -> Self {
        Error::typed(error.code(), error)
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Selector(errors) => errors.into(),
            QueryError::Resolve(error) => error.into(),
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<SelectorErrors> for Error {
    fn from(errors: SelectorErrors) -> Self {
        let first = errors.errors().first();
        let location = first.map(|error| span(error.span));
        let hint = first.and_then(|error| error.help.clone());
        Error::typed(errors.code().as_str(), errors).at(location).hinted(hint)
    }
}

impl From<SelectorError> for Error {
    fn from(error: SelectorError) -> Self {
        let (location, hint) = (span(error.span), error.help.clone());
        Error::typed(error.code.as_str(), error).with_location(location).hinted(hint)
    }
}

impl From<ResolveError> for Error {
    fn from(error: ResolveError) -> Self {
        let (location, hint) = (span(error.span), error.help());
        Error::typed(error.code(), error).with_location(location).hinted(hint)
    }
}

impl From<OpError> for Error {
    fn from(error: OpError) -> Self {
        let (location, hint) = (node(error.place()), error.hint());
        Error::typed(error.code(), error).at(location).with_hint(hint)
    }
}

impl From<BatchError> for Error {
    fn from(error: BatchError) -> Self {
        let (location, hint) = (node(error.error.place()), error.error.hint());
        Error::typed(error.error.code(), error).at(location).with_hint(hint)
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Selector(errors) => errors.into(),
            WriteError::Query(error) => error.into(),
            WriteError::Refused(error) => error.into(),
            WriteError::Property { span: at, .. } => {
                Error::typed(error.code(), error).with_location(span(at))
            }
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        let (location, hint) = match &error {
            CommitError::Compaction(batch) => (node(batch.error.place()), Some(batch.error.hint())),
            CommitError::AttemptRunning { .. } => {
                (None, Some("complete, cancel or fail the running call first"))
            }
            CommitError::StaleSummary { .. } => {
                (None, Some("preview again, and summarize what is pruned now"))
            }
            CommitError::SummaryTooLong { .. } => {
                (None, Some("write a shorter summary, or raise `summary_tokens` of the budget"))
            }
            CommitError::StalePreview => (None, Some("preview again and repeat the commit")),
            _ => (None, None),
        };
        Error::typed(error.code(), error).at(location).hinted(hint)
    }
}

impl From<DiffError> for Error {
    fn from(error: DiffError) -> Self {
        match error {
            DiffError::Snapshot(error) => error.into(),
            DiffError::Query(error) => error.into(),
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<AttemptError> for Error {
    fn from(error: AttemptError) -> Self {
        Error::typed(error.code(), error)
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Commit(error) => error.into(),
            CallError::Attempt(error) => error.into(),
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<StepError> for Error {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Call(error) => error.into(),
            StepError::Store(error) => error.into(),
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<UndoError> for Error {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Read(error) => error.into(),
            other => Error::typed(other.code(), other),
        }
    }
}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        let location = path(&error.at);
        Error::typed(error.code(), error).at(location)
    }
}

impl From<FlatLogError> for Error {
    fn from(error: FlatLogError) -> Self {
        let location = match &error {
            FlatLogError::Shape { message, .. } | FlatLogError::Refused { message, .. } => {
                Some(Location::Path(format!("[{message}]")))
            }
            _ => None,
        };
        Error::typed(error.code(), error).at(location)
    }
}

impl From<DocumentError> for Error {
    fn from(error: DocumentError) -> Self {
        let location = match &error {
            DocumentError::Json(error) => Some(line(error.line(), Some(error.column()))),
            DocumentError::Invalid(issues) => issues.first().and_then(|issue| node(&issue.node)),
            _ => None,
        };
        Error::typed(error.code(), error).at(location)
    }
}

impl From<HistoryError> for Error {
    fn from(error: HistoryError) -> Self {
        let location = line(error.line, None);
        Error::typed(error.error.code(), error).with_location(location)
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        let location = line(error.line(), Some(error.column()));
        Error::typed(error.code(), error).with_location(location)
    }
}

/// Types that have no code of their own, because a value of another type was expected.
macro_rules! uncoded {
    ($($(#[$gate:meta])? $error:ty => $code:ident;)*) => {
        $($(#[$gate])? impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::typed(Code::$code.as_str(), error)
            }
        })*
    };
}

uncoded! {
    NotAHash => Usage;
    NotFinite => JsonInvalid;
    RecordError => StoreCorrupt;
    UnknownContentMode => Usage;
    UnknownEdition => Usage;
    #[cfg(feature = "providers")] contextree_provider::UnknownProvider => Usage;
    #[cfg(feature = "import")] contextree_import::UnknownFormat => Usage;
}

#[cfg(feature = "providers")]
impl From<contextree_provider::RenderError> for Error {
    fn from(error: contextree_provider::RenderError) -> Self {
        let hint = error.hint();
        Error::typed(error.code(), error).with_hint(hint)
    }
}

#[cfg(feature = "providers")]
impl From<contextree_provider::read::Shape> for Error {
    fn from(error: contextree_provider::read::Shape) -> Self {
        let location = path(&error.at);
        Error::typed(Code::ImportShape.as_str(), error).at(location)
    }
}

#[cfg(feature = "providers")]
impl From<contextree_provider::StreamError> for Error {
    fn from(error: contextree_provider::StreamError) -> Self {
        use contextree_provider::StreamError;

        let hint = match &error {
            StreamError::Incomplete { .. } => Some(
                "cancel or fail the call, keep what arrived as its partial answer, and begin again",
            ),
            StreamError::Provider { .. } => Some("fail or cancel the call, then begin again"),
            StreamError::NotJson { .. } | StreamError::Shape { .. } => {
                Some("pass the body of the response as the provider returned it")
            }
            _ => None,
        };
        Error::typed(error.code(), error).hinted(hint)
    }
}

#[cfg(feature = "import")]
impl From<contextree_import::ImportError> for Error {
    fn from(error: contextree_import::ImportError) -> Self {
        use contextree_import::ImportErrorKind;

        let location = match (error.line, &error.kind) {
            (Some(line), _) => Some(Location::Line { line, column: None }),
            (None, ImportErrorKind::Shape { at, .. }) => path(at),
            (None, ImportErrorKind::Json(error)) => Some(line(error.line(), Some(error.column()))),
            _ => None,
        };
        let hint = error.hint();
        Error::typed(error.code(), error).at(location).hinted(hint)
    }
}

#[cfg(feature = "tokens")]
impl From<contextree_tokens::UnknownTokenizer> for Error {
    fn from(error: contextree_tokens::UnknownTokenizer) -> Self {
        let hint = error.hint();
        Error::typed(error.code(), error).with_hint(hint)
    }
}

#[cfg(feature = "tokens")]
impl From<contextree_budget::BudgetError> for Error {
    fn from(error: contextree_budget::BudgetError) -> Self {
        let location = line(error.line, Some(error.column));
        let hint = error.hint.clone();
        Error::typed(error.code(), error).with_location(location).with_hint(hint)
    }
}

#[cfg(feature = "tokens")]
impl From<contextree_cache::PrefixBroken> for Error {
    fn from(error: contextree_cache::PrefixBroken) -> Self {
        let location = error.after.0.clone().map(Location::Node);
        Error::typed(error.code(), error).at(location)
    }
}

#[cfg(feature = "tokens")]
impl From<contextree_cache::SpanError> for Error {
    fn from(error: contextree_cache::SpanError) -> Self {
        let location = node(&error.node);
        Error::typed(error.code(), error).at(location)
    }
}
