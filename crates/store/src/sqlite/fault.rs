//! What SQLite says, in the words of a store.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;
use crate::mask::display_path;

const IOERR_SHMSIZE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// Makes a store's error of one of SQLite's.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub(super) fn fault(error: rusqlite::Error) -> StoreError {
    // It names the file.
    let message = display_path(&error.to_string());
    let Some(code) = error.sqlite_error_code() else {
        return match error {
            // A column holds what was never written there.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => corrupt(message),
            _ => StoreError::Backend { message },
        };
    };
    // The index of the log is a file that cannot grow.
    if matches!(&error, rusqlite::Error::SqliteFailure(failure, _) if failure.extended_code == IOERR_SHMSIZE)
    {
        return StoreError::Full { message };
    }
    match code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => StoreError::Busy { message },
        ErrorCode::DiskFull => StoreError::Full { message },
        ErrorCode::ReadOnly => StoreError::ReadOnly { message },
        ErrorCode::CannotOpen
        | ErrorCode::PermissionDenied
        | ErrorCode::SystemIoFailure
        | ErrorCode::NoLargeFileSupport => StoreError::Io { message },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => corrupt(message),
        _ => StoreError::Backend { message },
    }
}

/// Returns a path as it may be shown: it may be a URL with a password.
pub(super) fn shown(path: &Path) -> String {
    display_path(&path.to_string_lossy())
}

/// Makes a store's error of one of the system's.
pub(super) fn io(path: &Path, error: &std::io::Error) -> StoreError {
    let message = format!("`{}`: {error}", shown(path));
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            StoreError::Full { message }
        }
        std::io::ErrorKind::PermissionDenied => {
            StoreError::Denied { path: shown(path), message: error.to_string() }
        }
        _ => StoreError::Io { message },
    }
}

/// Says that a file is not what was written.
pub(super) fn corrupt(message: String) -> StoreError {
    StoreError::Corrupt { record: "the file".to_owned(), message }
}

/// True if another process holds a lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}
