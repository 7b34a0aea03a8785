//! What a caller can do next, as data: each door words it with its own commands.

/// A hint; see [`Error::hints`](crate::Error::hints).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A hint that holds for every door.
    Text(String),
    /// A hint that names a command or an option, which the door words.
    Advice(Advice),
}

/// What a caller can do next: which command helps, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// List the snapshots.
    ListSnapshots,
    /// Commit: there is no snapshot yet.
    FirstCommit,
    /// Export the working state.
    ExportWorking,
    /// Read how selectors are written.
    SelectorHelp,
    /// Show the tree with all ids.
    ShowTree,
    /// Explain this selector.
    Explain(String),
    /// Look for this node in every snapshot.
    FindEverywhere(String),
    /// Show what changed since this commit.
    DiffSince(u32),
    /// Show what changed between these two states.
    DiffStates(String),
    /// Select in this range.
    SelectRange(String),
    /// Name two states, for this command.
    TwoStates(&'static str),
    /// Show this context, or create one of another name.
    ShowContext(String),
    /// Import into another context than this one, or append to it.
    ImportElsewhere(String),
    /// List the contexts.
    ListContexts,
    /// Name this context: the one that is written like it.
    SimilarContext(String),
    /// Name this context: the only one.
    OnlyContext(String),
    /// Create this context.
    NewContext(String),
    /// Create the store.
    NewStore,
    /// Name another store, or read a file.
    OtherStore,
    /// Check the store, and export the intact snapshots.
    Salvage,
    /// Restore a backup: the file cannot be read at all.
    RestoreBackup,
    /// Export contexts one by one: the store is not a file.
    ExportHistory,
    /// Import the document, which can only be read.
    ImportDocument,
    /// Export a document that can be read.
    ExportDocument,
    /// Show the fixture, or export it as a history.
    ReadFixture,
    /// Convert the document with this program and import its output.
    Convert(&'static str),
    /// Go on after bad lines.
    KeepGoing,
    /// List the formats that can be imported.
    ListFormats,
    /// Name the provider of messages.
    NameMessages,
    /// Name the provider.
    NameProvider,
    /// List the attempts.
    ListAttempts,
    /// Start an attempt.
    StartAttempt,
    /// Name this attempt, or another one that is running.
    NameAttempt(String),
}
