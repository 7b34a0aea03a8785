//! Every stable error code of Contextree, with its kind and its meaning.

use std::fmt;

/// What sort of failure a [`Code`] is: what a program does about it, and which exit code or HTTP status it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// The request is wrong: an argument, a selector, a document, a rule of the tree. Repeating it does not help.
    Usage,
    /// Something that was named does not exist.
    NotFound,
    /// Something of this name exists already.
    Exists,
    /// Another writer was faster. Read again and repeat.
    Conflict,
    /// The past, or a call in flight, does not change.
    Sealed,
    /// The caller may not do this.
    Denied,
    /// A limit of size or count would be exceeded.
    Limit,
    /// Stored or imported bytes are damaged, or of a version that cannot be read.
    Corrupt,
    /// A file, a stream or a store could not be read or written.
    Io,
    /// A store is busy or out of reach. Try again later.
    Unavailable,
    /// A bug in Contextree.
    Internal,
}

impl Kind {
    /// Returns the stable name, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::NotFound => "not_found",
            Kind::Exists => "exists",
            Kind::Conflict => "conflict",
            Kind::Sealed => "sealed",
            Kind::Denied => "denied",
            Kind::Limit => "limit",
            Kind::Corrupt => "corrupt",
            Kind::Io => "io",
            Kind::Unavailable => "unavailable",
            Kind::Internal => "internal",
        }
    }

    /// Returns true if the same request may succeed when it is repeated.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Kind::Conflict | Kind::Unavailable)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One list for the enum, its texts, its kinds and `docs/errors.md`.
macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $name:ident $code:literal $kind:ident;)*) => {
        /// A stable error code. The texts never change; new ones are added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $meaning])+ $name,)*
        }

        impl Code {
            /// All codes, in alphabetical order of their texts.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// Returns the stable text: `E_SEALED`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $code,)*
                }
            }

            /// Returns what sort of failure it is.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self {
                    $(Code::$name => Kind::$kind,)*
                }
            }

            /// Returns what it means, in one sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Code::$name => concat!($($meaning),+),)*
                }
                .trim_start()
            }

            /// Returns the code with this text.
            #[must_use]
            pub fn from_text(text: &str) -> Option<Code> {
                match text {
                    $($code => Some(Code::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// A selector matches several nodes where one is needed.
    Ambiguous "E_AMBIGUOUS" Usage;
    /// The document is an error that the provider returned, not an answer.
    AnswerError "E_ANSWER_ERROR" Usage;
    /// The stream of an answer ended before the answer was complete.
    AnswerIncomplete "E_ANSWER_INCOMPLETE" Usage;
    /// The document is not an answer: not JSON, or of an unknown shape.
    AnswerInvalid "E_ANSWER_INVALID" Usage;
    /// The answer comes from another provider than the one that was asked.
    AnswerProvider "E_ANSWER_PROVIDER" Usage;
    /// The answer was already recorded for another call.
    AnswerRepeated "E_ANSWER_REPEATED" Usage;
    /// The attempt has ended: it cannot be completed, failed or cancelled again.
    AttemptEnded "E_ATTEMPT_ENDED" Sealed;
    /// There is no attempt with this id.
    AttemptNotFound "E_ATTEMPT_NOT_FOUND" NotFound;
    /// The attempt was recorded without a request, so there is none to render again.
    AttemptNoRequest "E_ATTEMPT_NO_REQUEST" Usage;
    /// A model call is running: what it was sent cannot be changed until it ends.
    AttemptRunning "E_ATTEMPT_RUNNING" Sealed;
    /// The body of a request is larger than the server accepts.
    BodyLimit "E_BODY_LIMIT" Limit;
    /// A budget file or value is invalid.
    BudgetInvalid "E_BUDGET_INVALID" Usage;
    /// The caller canceled the command before it was done.
    Canceled "E_CANCELED" Usage;
    /// Another writer changed the context since it was read.
    Conflict "E_CONFLICT" Conflict;
    /// There is a context of this name already.
    ContextExists "E_CONTEXT_EXISTS" Exists;
    /// The name of a new context is empty, too long, not one line of visible text, or without a prefix of the token.
    ContextName "E_CONTEXT_NAME" Usage;
    /// There is no context of this name.
    ContextNotFound "E_CONTEXT_NOT_FOUND" NotFound;
    /// Data that is part of the program is damaged.
    Corrupt "E_CORRUPT" Corrupt;
    /// The cursor of a page is invalid, or belongs to another list.
    Cursor "E_CURSOR" Usage;
    /// The command took longer than the server allows.
    Deadline "E_DEADLINE" Limit;
    /// A document does not have the digest that it states.
    DigestMismatch "E_DIGEST_MISMATCH" Corrupt;
    /// A document is JSON, but not a valid tree.
    DocumentInvalid "E_DOCUMENT_INVALID" Usage;
    /// The token does not give the right to do this.
    Forbidden "E_FORBIDDEN" Denied;
    /// The request names a host that the server does not answer for.
    Host "E_HOST" Denied;
    /// The header is fixed when the node is created.
    Immutable "E_IMMUTABLE" Sealed;
    /// What was imported of a log has changed since, or it is a different log.
    ImportChanged "E_IMPORT_CHANGED" Usage;
    /// A context that was imported from a log was changed since, so that the log cannot be continued.
    ImportDiverged "E_IMPORT_DIVERGED" Usage;
    /// The imported input has no messages.
    ImportEmpty "E_IMPORT_EMPTY" Usage;
    /// The format of the imported input is unknown.
    ImportFormat "E_IMPORT_FORMAT" Usage;
    /// The imported input does not have the shape of its format.
    ImportShape "E_IMPORT_SHAPE" Usage;
    /// A log is shorter than what was imported of it.
    ImportShrank "E_IMPORT_SHRANK" Usage;
    /// A bug in Contextree. Please report it.
    Internal "E_INTERNAL" Internal;
    /// A node cannot be placed there, or not with these headers.
    InvalidPlacement "E_INVALID_PLACEMENT" Usage;
    /// A file or stream could not be read or written.
    Io "E_IO" Io;
    /// The text is not JSON.
    JsonInvalid "E_JSON_INVALID" Usage;
    /// The JSON does not have the expected shape.
    JsonShape "E_JSON_SHAPE" Usage;
    /// A limit of size or count would be exceeded.
    Limit "E_LIMIT" Limit;
    /// The media type of the body, or every one that the caller accepts, is not supported.
    MediaType "E_MEDIA_TYPE" Usage;
    /// The route does not have this method.
    Method "E_METHOD" Usage;
    /// There is no node with this id in the working tree.
    NodeNotFound "E_NODE_NOT_FOUND" NotFound;
    /// There is no operation to undo or redo, or the last step is not in the operation log.
    NothingToUndo "E_NOTHING_TO_UNDO" NotFound;
    /// The snapshot is in the store and was not loaded; read it through the session.
    NotLoaded "E_NOT_LOADED" Usage;
    /// The selector matches no node.
    NoMatch "E_NO_MATCH" NotFound;
    /// The request comes from a page of another origin.
    Origin "E_ORIGIN" Denied;
    /// The server has too much to do.
    Overloaded "E_OVERLOADED" Unavailable;
    /// A pruning policy is invalid.
    PolicyInvalid "E_POLICY_INVALID" Usage;
    /// A request does not begin with the bytes of the one before it, so a prompt cache cannot reuse them.
    PrefixBroken "E_PREFIX_BROKEN" Usage;
    /// A price file is invalid.
    PricesInvalid "E_PRICES_INVALID" Usage;
    /// The kind or the key of a side record is invalid, or its change contradicts itself.
    Record "E_RECORD" Usage;
    /// The stored request renders to other bytes than those that were sent.
    RequestChanged "E_REQUEST_CHANGED" Corrupt;
    /// The request would have no messages.
    RequestEmpty "E_REQUEST_EMPTY" Usage;
    /// The result is larger than the server returns at once.
    ResultLimit "E_RESULT_LIMIT" Limit;
    /// There is no such route.
    Route "E_ROUTE" NotFound;
    /// The node is sealed: the past does not change.
    Sealed "E_SEALED" Sealed;
    /// Evaluating the selector takes more work than the server allows.
    SelectorCost "E_SELECTOR_COST" Limit;
    /// The text is not a valid selector of its edition.
    SelectorInvalid "E_SELECTOR_INVALID" Usage;
    /// A request setting has the name of a field that the tree provides.
    SettingReserved "E_SETTING_RESERVED" Usage;
    /// There is no snapshot at this address.
    SnapshotNotFound "E_SNAPSHOT_NOT_FOUND" NotFound;
    /// A range mixes `@t` and `@c`.
    SnapshotRangeKindMismatch "E_SNAPSHOT_RANGE_KIND_MISMATCH" Usage;
    /// A range has more snapshots, nodes or bytes than allowed.
    SnapshotRangeLimit "E_SNAPSHOT_RANGE_LIMIT" Limit;
    /// A range begins or ends with a wildcard.
    SnapshotRangeWildcard "E_SNAPSHOT_RANGE_WILDCARD" Usage;
    /// Retention removed the snapshot at this address.
    SnapshotRetired "E_SNAPSHOT_RETIRED" NotFound;
    /// A span of a rendered request overlaps another one, or is outside of the request.
    SpanInvalid "E_SPAN_INVALID" Usage;
    /// The database of the store failed in an unexpected way.
    Store "E_STORE" Io;
    /// Another process holds the store.
    StoreBusy "E_STORE_BUSY" Unavailable;
    /// The store was closed by this program.
    StoreClosed "E_STORE_CLOSED" Usage;
    /// A stored record is damaged.
    StoreCorrupt "E_STORE_CORRUPT" Corrupt;
    /// The file or database is not a Contextree store.
    StoreForeign "E_STORE_FOREIGN" Io;
    /// The store was opened before the process forked; a connection cannot be shared with the child.
    StoreForked "E_STORE_FORKED" Usage;
    /// There is no space left for the store.
    StoreFull "E_STORE_FULL" Io;
    /// The store could not be read or written.
    StoreIo "E_STORE_IO" Io;
    /// There is no store at this path.
    StoreNotFound "E_STORE_NOT_FOUND" NotFound;
    /// The store is read-only.
    StoreReadOnly "E_STORE_READ_ONLY" Io;
    /// The store's server cannot be reached.
    StoreUnavailable "E_STORE_UNAVAILABLE" Unavailable;
    /// The URL of a store is invalid, or its backend is not part of this program.
    StoreUrl "E_STORE_URL" Usage;
    /// A newer version of Contextree wrote the store.
    StoreVersion "E_STORE_VERSION" Io;
    /// The token is missing or unknown.
    Token "E_TOKEN" Denied;
    /// A policy counts in a measure that the context does not have.
    UnknownMeasure "E_UNKNOWN_MEASURE" Usage;
    /// The model or tokenizer is unknown.
    UnknownTokenizer "E_UNKNOWN_TOKENIZER" Usage;
    /// An argument is invalid.
    Usage "E_USAGE" Usage;
    /// A document has a format version that cannot be read.
    Version "E_VERSION" Usage;
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
