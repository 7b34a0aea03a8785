//! What the client and the server say, in the words of the store.

use std::error::Error as _;
use std::io;

use contextree_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why one attempt failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The client or the server says no; [`classify`] knows what to do.
    Client(Error),
    /// The store says no. Another attempt would hear the same.
    Store(StoreError),
    /// Another writer was faster; the next attempt finds out more.
    Again,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Client(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

/// What to do about an error of the client.
#[derive(Debug)]
pub(crate) enum Class {
    /// Another writer was faster. Nothing has happened; try again.
    Again,
    /// The connection is lost, or the server is shutting down. A step that was under way may have been stored.
    Lost,
    /// The server cannot do it now; another one, or the same a little later, may. Nothing has happened.
    Away,
    /// Final.
    Final,
}

/// Decides what to do about an error.
pub(crate) fn classify(error: &Error) -> Class {
    let Some(code) = error.code() else {
        let broken = error.is_closed()
            || error.source().is_some_and(|source| source.downcast_ref::<io::Error>().is_some());
        return if broken { Class::Lost } else { Class::Final };
    };
    match *code {
        // A foreign key is violated only if a content, branch or context vanished in between: the next attempt sees that.
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::FOREIGN_KEY_VIOLATION => Class::Again,
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | SqlState::IDLE_SESSION_TIMEOUT => Class::Lost,
        // After a failover an old connection may lead to a server that takes no writes any more.
        SqlState::CANNOT_CONNECT_NOW
        | SqlState::TOO_MANY_CONNECTIONS
        | SqlState::READ_ONLY_SQL_TRANSACTION => Class::Away,
        // Connection exceptions.
        _ if code.code().starts_with("08") => Class::Lost,
        _ => Class::Final,
    }
}

/// Returns an error in the words of the store, as if no other attempt were to follow. Nothing of a step has landed.
pub(crate) fn told(error: &Error) -> StoreError {
    let message = text(error);
    match (classify(error), error.code()) {
        (_, Some(&SqlState::READ_ONLY_SQL_TRANSACTION)) => StoreError::ReadOnly { message },
        (Class::Lost | Class::Away, _) => StoreError::Unavailable { message, unknown: false },
        (Class::Again, _) => StoreError::Busy { message },
        (Class::Final, Some(code)) => match *code {
            SqlState::DISK_FULL | SqlState::OUT_OF_MEMORY => StoreError::Full { message },
            SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => StoreError::Busy { message },
            SqlState::INSUFFICIENT_PRIVILEGE => StoreError::ReadOnly { message },
            SqlState::IO_ERROR => StoreError::Io { message },
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
                StoreError::Corrupt { record: "a page of the server".to_owned(), message }
            }
            _ => StoreError::Backend { message },
        },
        (Class::Final, None) => StoreError::Backend { message },
    }
}

/// Returns true if the server says that something is not there: a schema, a table.
pub(crate) fn is_missing(error: &Error) -> bool {
    [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME]
        .iter()
        .any(|code| error.code() == Some(code))
}

/// Returns true if the server does not know what it was asked for: another engine that speaks the same protocol.
pub(crate) fn is_unsupported(error: &Error) -> bool {
    [SqlState::FEATURE_NOT_SUPPORTED, SqlState::SYNTAX_ERROR, SqlState::UNDEFINED_FUNCTION]
        .iter()
        .any(|code| error.code() == Some(code))
}

/// Returns an error with its reasons, in one line, with the server's code.
pub(crate) fn text(error: &Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return format!("{} ({})", answer.message(), answer.code().code());
    }
    let mut out = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let reason = error.to_string();
        if !out.contains(&reason) {
            out.push_str(": ");
            out.push_str(&reason);
        }
        source = error.source();
    }
    out
}
