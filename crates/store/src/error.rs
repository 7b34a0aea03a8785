//! Why a store could not do what it was asked.

use std::fmt;

use contextree_engine::SnapshotError;
use contextree_query::QueryError;

use crate::rows::Head;

/// The result of everything that a store does.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store could not do what it was asked. Nothing has changed, except where a variant says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else wrote to the context since it was read. Nothing of the step is stored.
    Conflict {
        /// The context.
        context: String,
        /// The revision that the writer knew.
        expected: u64,
        /// The revision that there is. The same one if it was not the context that changed, but who needs its snapshots: a fork, a pin.
        found: u64,
        /// The newest snapshot now.
        head: Option<Head>,
    },
    /// There is no such context.
    NotFound {
        /// Its name.
        context: String,
    },
    /// There is a context of this name already.
    Exists {
        /// Its name.
        context: String,
    },
    /// The store is locked by somebody else for longer than was to be waited.
    Busy {
        /// What was waited for.
        message: String,
    },
    /// There is no space left.
    Full {
        /// What the system says.
        message: String,
    },
    /// The store, or the file it is in, may only be read.
    ReadOnly {
        /// What the system says.
        message: String,
    },
    /// The file or server could not be read or written.
    Io {
        /// What the system says.
        message: String,
    },
    /// The server cannot be reached, or went away.
    Unavailable {
        /// What the client says.
        message: String,
        /// True if the step may have landed. Giving the same step again, with its key, is safe.
        unknown: bool,
    },
    /// A record is not what was written.
    Corrupt {
        /// Which one: `context main, commit @c12`.
        record: String,
        /// What is wrong with it.
        message: String,
    },
    /// The store was written by a newer version.
    Version {
        /// The version of its format.
        found: u32,
        /// The newest version that can be read.
        supported: u32,
    },
    /// It is no store: a file of somebody else.
    Foreign {
        /// What it is.
        message: String,
    },
    /// The address of the store is none.
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        message: String,
    },
    /// The engine below says something that was not foreseen.
    Backend {
        /// What it says.
        message: String,
    },
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
            StoreError::Io { .. } => "E_STORE_IO",
            StoreError::Unavailable { .. } => "E_STORE_UNAVAILABLE",
            StoreError::Corrupt { .. } => "E_STORE_CORRUPT",
            StoreError::Version { .. } => "E_STORE_VERSION",
            StoreError::Foreign { .. } => "E_STORE_FOREIGN",
            StoreError::Url { .. } => "E_STORE_URL",
            StoreError::Backend { .. } => "E_STORE",
        }
    }

    /// Returns what to do about it, where that can be said.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            StoreError::Conflict { .. } => "read the context again and repeat the change",
            StoreError::Busy { .. } => "another process holds the store: try again, or wait longer",
            StoreError::Full { .. } => "free some space; nothing that was acknowledged is lost",
            StoreError::ReadOnly { .. } => "the store can be read; open it where it may be written",
            StoreError::Unavailable { .. } => "try again when the server answers",
            StoreError::Corrupt { .. } => "verify the store; it names what is sound and exports it",
            StoreError::Version { .. } => "use a newer version of Contextree for this store",
            StoreError::Url { .. } => "write `memory:`, `sqlite:PATH` or `postgres://…`",
            _ => return None,
        })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Conflict { context, expected, found, .. } if expected == found => {
                write!(formatter, "a snapshot of `{context}` was forked or pinned meanwhile")
            }
            StoreError::Conflict { context, expected, found, head } => {
                write!(
                    formatter,
                    "`{context}` was written meanwhile: revision {found} instead of {expected}"
                )?;
                match head {
                    Some(head) => write!(formatter, ", head @c{}", head.cycle),
                    None => Ok(()),
                }
            }
            StoreError::NotFound { context } => {
                write!(formatter, "there is no context `{context}`")
            }
            StoreError::Exists { context } => {
                write!(formatter, "there is a context `{context}` already")
            }
            StoreError::Busy { message } => write!(formatter, "the store is busy: {message}"),
            StoreError::Full { message } => write!(formatter, "no space left: {message}"),
            StoreError::ReadOnly { message } => {
                write!(formatter, "the store may only be read: {message}")
            }
            StoreError::Io { message } => write!(formatter, "the store failed: {message}"),
            StoreError::Unavailable { message, unknown: false } => {
                write!(formatter, "the store cannot be reached: {message}")
            }
            StoreError::Unavailable { message, unknown: true } => {
                write!(formatter, "the store went away before it answered: {message}")
            }
            StoreError::Corrupt { record, message } => {
                write!(formatter, "{record} is damaged: {message}")
            }
            StoreError::Version { found, supported } => write!(
                formatter,
                "the store has format {found}; this version reads up to {supported}"
            ),
            StoreError::Foreign { message } => write!(formatter, "this is no store: {message}"),
            StoreError::Url { url, message } => {
                write!(formatter, "`{url}` is no address of a store: {message}")
            }
            StoreError::Backend { message } => formatter.write_str(message),
        }
    }
}

impl std::error::Error for StoreError {}

/// Why something could not be read of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The store could not do it.
    Store(StoreError),
    /// There is no such snapshot.
    Snapshot(SnapshotError),
    /// The selector is none, or addresses something that is not there.
    Query(QueryError),
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

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Store(error) => error.fmt(formatter),
            ReadError::Snapshot(error) => error.fmt(formatter),
            ReadError::Query(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> Self {
        ReadError::Store(error)
    }
}

impl From<SnapshotError> for ReadError {
    fn from(error: SnapshotError) -> Self {
        ReadError::Snapshot(error)
    }
}

impl From<QueryError> for ReadError {
    fn from(error: QueryError) -> Self {
        ReadError::Query(error)
    }
}
