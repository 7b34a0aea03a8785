//! Why a store could not do what it was asked.

use contextree_engine::SnapshotError;
use contextree_query::QueryError;
use thiserror::Error;

use crate::rows::{Head, Revision};

/// The result of everything that a store does.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store could not do what it was asked. Nothing has changed, except where a variant says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another writer changed the context since it was read. Nothing of the step is stored.
    #[error("{}", conflict(context, *expected, *found, *head))]
    Conflict {
        /// The context.
        context: String,
        /// The revision that the writer knew.
        expected: Revision,
        /// The revision that is stored. Equal to `expected` if not the context changed, but what needs its snapshots: a
        /// fork or a pin.
        found: Revision,
        /// The newest snapshot now.
        head: Option<Head>,
    },
    /// There is no such context.
    #[error("there is no context `{context}`")]
    NotFound {
        /// Its name.
        context: String,
    },
    /// There is a context of this name already.
    #[error("there is a context `{context}` already")]
    Exists {
        /// Its name.
        context: String,
    },
    /// Another process holds the store for longer than the time to wait.
    #[error("the store is busy: {message}")]
    Busy {
        /// What was waited for.
        message: String,
    },
    /// There is no space left.
    #[error("no space left: {message}")]
    Full {
        /// What the system says.
        message: String,
    },
    /// The store, or the file it is in, is read-only.
    #[error("the store is read-only: {message}")]
    ReadOnly {
        /// What the system says.
        message: String,
    },
    /// The system denies access to the file, or to the folder it is in.
    #[error("no permission for `{path}`: {message}")]
    Denied {
        /// The file or folder.
        path: String,
        /// What the system says.
        message: String,
    },
    /// A copy would replace a file.
    #[error("there is a file `{path}` already")]
    FileExists {
        /// The file.
        path: String,
    },
    /// The file or server could not be read or written.
    #[error("the store failed: {message}")]
    Io {
        /// What the system says.
        message: String,
    },
    /// The server cannot be reached, or the connection to it was lost.
    #[error("{}: {message}", unavailable(*unknown))]
    Unavailable {
        /// What the client says.
        message: String,
        /// True if the step may have been stored. Taking the same step again, with its key, is safe.
        unknown: bool,
    },
    /// A record differs from what was written.
    #[error("{record} is damaged: {message}")]
    Corrupt {
        /// Which one: `context main, commit @c12`.
        record: String,
        /// What is wrong with it.
        message: String,
    },
    /// The store was written by a newer version.
    #[error("the store has format {found}; this version reads up to {supported}")]
    Version {
        /// The version of its format.
        found: u32,
        /// The newest version that can be read.
        supported: u32,
    },
    /// There is no store at this place: no file, an empty one, or a database without its tables.
    #[error("there is no store `{place}`{}", because(message))]
    Missing {
        /// The path, or the name of the schema.
        place: String,
        /// What is there instead; may be empty.
        message: String,
    },
    /// The file or database belongs to another program.
    #[error("not a Contextree store: {message}")]
    Foreign {
        /// What it is.
        message: String,
    },
    /// The URL of the store is invalid.
    #[error("`{url}` is not the URL of a store: {message}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        message: String,
    },
    /// A new context cannot have this name.
    #[error("a context cannot have the name {name:?}: {message}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// A model call is running that has what was to be redacted.
    #[error("a call is running in `{context}`: complete or cancel it first")]
    Calling {
        /// The context.
        context: String,
    },
    /// The backend reports something that was not foreseen.
    #[error("{message}")]
    Backend {
        /// What it says.
        message: String,
    },
}

fn conflict(context: &str, expected: Revision, found: Revision, head: Option<Head>) -> String {
    if expected == found {
        return format!("a snapshot of `{context}` was forked or pinned meanwhile");
    }
    let head = head.map(|head| format!(", head @c{}", head.cycle)).unwrap_or_default();
    format!("`{context}` was written meanwhile: revision {found} instead of {expected}{head}")
}

fn because(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

fn unavailable(unknown: bool) -> &'static str {
    if unknown {
        "the connection was lost before the store answered"
    } else {
        "the store cannot be reached"
    }
}

impl StoreError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Conflict { .. } => "E_CONFLICT",
            StoreError::NotFound { .. } => "E_CONTEXT_NOT_FOUND",
            StoreError::Exists { .. } => "E_CONTEXT_EXISTS",
            StoreError::Busy { .. } => "E_STORE_BUSY",
            StoreError::Full { .. } => "E_STORE_FULL",
            StoreError::ReadOnly { .. } => "E_STORE_READ_ONLY",
            StoreError::Denied { .. } => "E_STORE_PERMISSION",
            StoreError::FileExists { .. } => "E_STORE_EXISTS",
            StoreError::Io { .. } => "E_STORE_IO",
            StoreError::Unavailable { .. } => "E_STORE_UNAVAILABLE",
            StoreError::Corrupt { .. } => "E_STORE_CORRUPT",
            StoreError::Version { .. } => "E_STORE_VERSION",
            StoreError::Missing { .. } => "E_STORE_NOT_FOUND",
            StoreError::Foreign { .. } => "E_STORE_FOREIGN",
            StoreError::Url { .. } => "E_STORE_URL",
            StoreError::Name { .. } => "E_CONTEXT_NAME",
            StoreError::Calling { .. } => "E_ATTEMPT_RUNNING",
            StoreError::Backend { .. } => "E_STORE",
        }
    }

    /// Returns a hint what to do about it, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            StoreError::Conflict { .. } => "read the context again and repeat the change",
            StoreError::Busy { .. } => "another process holds the store: try again, or wait longer",
            StoreError::Full { .. } => "free some space; no acknowledged step is lost",
            StoreError::ReadOnly { .. } => {
                "the store can only be read; choose one that you may write"
            }
            StoreError::Denied { .. } => {
                "change the permissions of the file and its folder, or choose another location"
            }
            StoreError::FileExists { .. } => "name another file, or move this one away first",
            StoreError::Foreign { .. } => {
                "name the file of a store; a file that does not exist can be created"
            }
            StoreError::Unavailable { .. } => "try again when the server answers",
            StoreError::Corrupt { .. } => {
                "verify the store to see what is intact, then export that"
            }
            StoreError::Version { .. } => "use a newer version of Contextree for this store",
            StoreError::Url { .. } => "write `memory:`, `sqlite:PATH` or `postgres://…`",
            _ => return None,
        })
    }
}

/// Why something of a context could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The selector is invalid, or addresses something that does not exist.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl ReadError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            ReadError::Store(error) => error.code(),
            ReadError::Snapshot(error) => error.code(),
            ReadError::Query(error) => error.code(),
        }
    }
}
