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
    /// A store is busy or cannot be reached. Try again later.
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
    ($($(#[doc = $meaning:literal])+ $name:ident $code:literal $kind:ident $remedy:literal;)*) => {
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

            /// Returns what to do about it, in one sentence. The hint of an error is more specific.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Code::$name => $remedy,)*
                }
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
    Ambiguous "E_AMBIGUOUS" Usage
        "Name one node by its id, or add `:first` to the selector.";
    /// The document is an error that the provider returned, not an answer.
    AnswerError "E_ANSWER_ERROR" Usage
        "Fail or cancel the call, then begin it again.";
    /// The stream of an answer ended before the answer was complete.
    AnswerIncomplete "E_ANSWER_INCOMPLETE" Usage
        "Complete the call with the whole body, or cancel it and keep what arrived.";
    /// The document is not an answer: not JSON, or of an unknown shape.
    AnswerInvalid "E_ANSWER_INVALID" Usage
        "Pass the body of the response as the provider returned it.";
    /// The answer comes from another provider than the one that was asked.
    AnswerProvider "E_ANSWER_PROVIDER" Usage
        "Pass the response to the request that was sent, or name the provider that wrote it.";
    /// The answer was already recorded, for this call or for another one.
    AnswerRepeated "E_ANSWER_REPEATED" Usage
        "Complete each call with the response to its own request.";
    /// The attempt has ended: it cannot be completed, failed or canceled again.
    AttemptEnded "E_ATTEMPT_ENDED" Sealed
        "Begin another call; `ctx attempt list` shows how this one ended.";
    /// There is no attempt with this id.
    AttemptNotFound "E_ATTEMPT_NOT_FOUND" NotFound
        "`ctx attempt list` lists the attempts; `ctx request` begins a call.";
    /// The attempt was recorded without a request, so there is none to render again.
    AttemptNoRequest "E_ATTEMPT_NO_REQUEST" Usage
        "Render the snapshot with `ctx render`, which needs no attempt.";
    /// A model call is running: what it was sent cannot be changed until it ends.
    AttemptRunning "E_ATTEMPT_RUNNING" Sealed
        "Complete the call with `ctx answer`, or end it with `ctx cancel`.";
    /// The body of a request is larger than the server accepts.
    BodyLimit "E_BODY_LIMIT" Limit
        "Send less at once, or start the server with a larger limit.";
    /// A budget file or value is invalid.
    BudgetInvalid "E_BUDGET_INVALID" Usage
        "`ctx help budget` lists the keys; the error names the line.";
    /// The caller canceled the command before it was done.
    Canceled "E_CANCELED" Usage
        "Run the command again; nothing has changed.";
    /// Another writer changed the context since it was read.
    Conflict "E_CONFLICT" Conflict
        "Read the context again and repeat the change.";
    /// There is a context of this name already.
    ContextExists "E_CONTEXT_EXISTS" Exists
        "Choose another name, or use the context that exists.";
    /// The name of a new context is empty, too long, not one line of visible text, or without a prefix of the token.
    ContextName "E_CONTEXT_NAME" Usage
        "Choose one line of visible text of at most 1,024 bytes.";
    /// There is no context of this name.
    ContextNotFound "E_CONTEXT_NOT_FOUND" NotFound
        "`ctx contexts` lists the contexts; the error names the nearest one.";
    /// Data that is part of the program is damaged.
    Corrupt "E_CORRUPT" Corrupt
        "Install the program again, and report it.";
    /// The cursor of a page is invalid, or belongs to another list.
    Cursor "E_CURSOR" Usage
        "Begin with the first page of the list.";
    /// The command took longer than the server allows.
    Deadline "E_DEADLINE" Limit
        "Ask for less, or start the server with a longer deadline.";
    /// A document does not have the digest that it states.
    DigestMismatch "E_DIGEST_MISMATCH" Corrupt
        "Get the document again from its source: this one was changed.";
    /// A document is JSON, but not a valid tree.
    DocumentInvalid "E_DOCUMENT_INVALID" Usage
        "Correct the nodes that the error lists, or import without `--strict`.";
    /// The token does not give the right to do this.
    Forbidden "E_FORBIDDEN" Denied
        "Use a token with this right.";
    /// The request names a host that the server does not answer for.
    Host "E_HOST" Denied
        "Use the address that the server prints, or allow the host when it is started.";
    /// The header is fixed when the node is created.
    Immutable "E_IMMUTABLE" Sealed
        "Remove the node and add another one with the header.";
    /// What was imported of a log has changed since, or it is a different log.
    ImportChanged "E_IMPORT_CHANGED" Usage
        "Import the log into a new context.";
    /// A context that was imported from a log was changed since, so that the log cannot be continued.
    ImportDiverged "E_IMPORT_DIVERGED" Usage
        "Import the log into a new context.";
    /// The imported input has no messages.
    ImportEmpty "E_IMPORT_EMPTY" Usage
        "Pass a file with at least one message.";
    /// The format of the imported input is unknown.
    ImportFormat "E_IMPORT_FORMAT" Usage
        "Name the format with `--from`.";
    /// The imported input does not have the shape of its format.
    ImportShape "E_IMPORT_SHAPE" Usage
        "Correct the place that the error names, or name another format with `--from`.";
    /// A log is shorter than what was imported of it.
    ImportShrank "E_IMPORT_SHRANK" Usage
        "Import the log into a new context.";
    /// A bug in Contextree. Please report it.
    Internal "E_INTERNAL" Internal
        "Report it, with the commands that lead to it.";
    /// A node cannot be placed there, or not with these headers.
    InvalidPlacement "E_INVALID_PLACEMENT" Usage
        "Follow the hint of the error: it names the rule, and what is allowed.";
    /// A file or stream could not be read or written.
    Io "E_IO" Io
        "Check the name and the permissions of the file.";
    /// The text is not JSON.
    JsonInvalid "E_JSON_INVALID" Usage
        "Correct the line and column that the error names.";
    /// The JSON does not have the expected shape.
    JsonShape "E_JSON_SHAPE" Usage
        "Compare the request with the schema, which `ctx serve` has at `/openapi.json`; the error names the field.";
    /// A limit of size or count would be exceeded.
    Limit "E_LIMIT" Limit
        "Send less at once, or raise the limit where it can be set.";
    /// The media type of the body, or every one that the caller accepts, is not supported.
    MediaType "E_MEDIA_TYPE" Usage
        "Send and accept `application/json`.";
    /// The route does not have this method.
    Method "E_METHOD" Usage
        "Use the method that the documentation of the route names.";
    /// There is no node with this id in the working tree.
    NodeNotFound "E_NODE_NOT_FOUND" NotFound
        "`ctx show` draws the tree with all ids; `ctx select \"@* …\"` looks into every snapshot.";
    /// There is no operation to undo or redo, or the last step is not in the operation log.
    NothingToUndo "E_NOTHING_TO_UNDO" NotFound
        "`ctx operations` lists what can be undone; `ctx reset @c5` returns to any snapshot.";
    /// The snapshot is in the store and was not loaded; read it through the session.
    NotLoaded "E_NOT_LOADED" Usage
        "Read the snapshot with `Session::snapshot`.";
    /// An object of an agent framework cannot be serialized. The call stored no part of it.
    NotSerializable "E_NOT_SERIALIZABLE" Usage
        "Convert the object, or leave it out; the exception names its cause.";
    /// The selector matches no node.
    NoMatch "E_NO_MATCH" NotFound
        "`ctx explain` shows what each step of the selector matches.";
    /// The request comes from a page of another origin.
    Origin "E_ORIGIN" Denied
        "Open the page from the address of the server itself.";
    /// The server is overloaded.
    Overloaded "E_OVERLOADED" Unavailable
        "Try again in a moment.";
    /// A pruning policy is invalid.
    PolicyInvalid "E_POLICY_INVALID" Usage
        "`ctx help policy` shows a policy with every key.";
    /// A request does not begin with the bytes of the one before it, so a prompt cache cannot reuse them.
    PrefixBroken "E_PREFIX_BROKEN" Usage
        "Render the whole request again: what was sent before has changed.";
    /// A price file is invalid.
    PricesInvalid "E_PRICES_INVALID" Usage
        "Correct the line that the error names; docs/cache.md has an example.";
    /// The kind or the key of a side record is invalid, or its change contradicts itself.
    Record "E_RECORD" Usage
        "Name the program and the purpose: `my-agent.cursor`.";
    /// The stored request renders to other bytes than those that were sent: content was redacted, or another version began it.
    RequestChanged "E_REQUEST_CHANGED" Corrupt
        "Render the snapshot with a provider; `ctx verify` checks whether anything was damaged.";
    /// The request would have no messages.
    RequestEmpty "E_REQUEST_EMPTY" Usage
        "Add a user message first.";
    /// The result is larger than the server returns at once.
    ResultLimit "E_RESULT_LIMIT" Limit
        "Ask for a page, or for less of each node.";
    /// There is no such route.
    Route "E_ROUTE" NotFound
        "`GET /openapi.json` lists the routes.";
    /// The node is sealed: the past does not change.
    Sealed "E_SEALED" Sealed
        "Add a new node, for example as post-context of the turn; `ctx redact` is for secrets.";
    /// The text is not a valid selector of its edition.
    SelectorInvalid "E_SELECTOR_INVALID" Usage
        "Correct the place that the caret marks; `ctx help selectors` shows every form.";
    /// A request setting has the name of a field that the tree provides.
    SettingReserved "E_SETTING_RESERVED" Usage
        "Change the tree instead: the field is made of its nodes.";
    /// There is no snapshot at this address.
    SnapshotNotFound "E_SNAPSHOT_NOT_FOUND" NotFound
        "`ctx log` lists the snapshots.";
    /// A range mixes `@t` and `@c`.
    SnapshotRangeKindMismatch "E_SNAPSHOT_RANGE_KIND_MISMATCH" Usage
        "Write both ends as `@t`, or both as `@c`.";
    /// A range has more snapshots, nodes or bytes than allowed.
    SnapshotRangeLimit "E_SNAPSHOT_RANGE_LIMIT" Limit
        "Compare fewer snapshots, or raise the limit of the range.";
    /// A range begins or ends with a wildcard.
    SnapshotRangeWildcard "E_SNAPSHOT_RANGE_WILDCARD" Usage
        "Name both ends, or use `@*` alone.";
    /// Retention removed the snapshot at this address.
    SnapshotRetired "E_SNAPSHOT_RETIRED" NotFound
        "`ctx log` lists the snapshots that are left; a backup may have this one.";
    /// A span of a rendered request overlaps another one, or is outside of the request.
    SpanInvalid "E_SPAN_INVALID" Usage
        "Render the request again, with its spans.";
    /// The database of the store failed in an unexpected way.
    Store "E_STORE" Io
        "Read the message of the database; the store is unchanged.";
    /// Another process holds the store.
    StoreBusy "E_STORE_BUSY" Unavailable
        "Try again, or wait longer.";
    /// The store was closed by this program.
    StoreClosed "E_STORE_CLOSED" Usage
        "Open the store again.";
    /// A stored record is damaged.
    StoreCorrupt "E_STORE_CORRUPT" Corrupt
        "`ctx verify` names the damage; `ctx export --salvage` writes what is intact.";
    /// A backup or a restored store would replace a file.
    StoreExists "E_STORE_EXISTS" Exists
        "Name another file, or move this one away first.";
    /// The file or database is not a Contextree store.
    StoreForeign "E_STORE_FOREIGN" Io
        "Name the file of a store; one that does not exist can be created.";
    /// The store was opened before the process forked; a connection cannot be shared with the child.
    StoreForked "E_STORE_FORKED" Usage
        "Open the store in the child process.";
    /// There is no space left for the store.
    StoreFull "E_STORE_FULL" Io
        "Free some space; no acknowledged step is lost.";
    /// The store could not be read or written.
    StoreIo "E_STORE_IO" Io
        "Read what the system says, and check the disk and the folder.";
    /// There is no store at this path.
    StoreNotFound "E_STORE_NOT_FOUND" NotFound
        "`ctx new` creates a store; `--store` names another one.";
    /// The system denies access to the file of the store, or to its folder.
    StorePermission "E_STORE_PERMISSION" Io
        "Change the permissions of the file and its folder, or choose another location.";
    /// The store is read-only.
    StoreReadOnly "E_STORE_READ_ONLY" Io
        "Copy the store to a place that can be written.";
    /// The store's server cannot be reached.
    StoreUnavailable "E_STORE_UNAVAILABLE" Unavailable
        "Try again when the server answers.";
    /// The URL of a store is invalid, or its backend is not part of this program.
    StoreUrl "E_STORE_URL" Usage
        "Write `memory:`, `sqlite:PATH` or `postgres://…`.";
    /// A newer version of Contextree wrote the store.
    StoreVersion "E_STORE_VERSION" Io
        "Use a newer version of Contextree for this store.";
    /// The summarizer failed, or returned no text.
    SummaryFailed "E_SUMMARY_FAILED" Usage
        "Run the summarizer by hand to see what it says, or begin the call without it.";
    /// The summary is of other nodes than those that the budget prunes now.
    SummaryStale "E_SUMMARY_STALE" Usage
        "Summarize again what the budget prunes now.";
    /// With its summary the request would be over the budget again.
    SummaryTooLong "E_SUMMARY_TOO_LONG" Limit
        "Write a shorter summary, or raise the budget.";
    /// The token is missing or unknown.
    Token "E_TOKEN" Denied
        "Pass `Authorization: Bearer TOKEN`.";
    /// A policy counts in a measure that the context does not have.
    UnknownMeasure "E_UNKNOWN_MEASURE" Usage
        "Use `nodes` or `bytes`, or register the measure.";
    /// The model or tokenizer is unknown.
    UnknownTokenizer "E_UNKNOWN_TOKENIZER" Usage
        "The error names the nearest models; `other` estimates any model.";
    /// An argument is invalid.
    Usage "E_USAGE" Usage
        "Correct the argument that the error names; `ctx COMMAND --help` shows examples.";
    /// A document has a format version that cannot be read.
    Version "E_VERSION" Usage
        "Use a newer version of Contextree, or export the document again.";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
