//! Who may read and write a file: new files are private, and a lack of permission is told from an error that passes.

use std::fs::OpenOptions;
use std::path::Path;

use super::fault::io;
use crate::error::{Result, StoreError};

/// Makes an empty file that only its owner can read and write. SQLite gives the files beside it the same permissions.
pub(super) fn make_private(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        // Another process was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(io(path, &error)),
    }
}

/// Fails if this process lacks the permission to read a file. SQLite would only say that it cannot open it.
///
/// # Errors
///
/// `E_STORE_PERMISSION`. Other errors are left to the code that opens the file.
#[cfg(unix)]
pub(super) fn check_readable(path: &Path) -> Result<()> {
    use rustix::fs::{Access, access};
    use rustix::io::Errno;

    match access(path, Access::READ_OK) {
        Err(error @ (Errno::ACCESS | Errno::PERM)) => Err(io(path, &error.into())),
        _ => Ok(()),
    }
}

/// Leaves the check to the system.
#[cfg(not(unix))]
pub(super) fn check_readable(_: &Path) -> Result<()> {
    Ok(())
}

/// Returns whether this process lacks the permission to write a file, or to create others beside it, or whether the medium is
/// read-only. False for every error that may pass.
#[cfg(unix)]
pub(super) fn is_denied(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    use rustix::io::Errno;

    let denied = |path: &Path| {
        let lasting = [Errno::ACCESS, Errno::PERM, Errno::ROFS];
        matches!(access(path, Access::WRITE_OK), Err(error) if lasting.contains(&error))
    };
    denied(path) || path.parent().is_some_and(denied)
}

/// Returns whether this process lacks the permission to write a file.
#[cfg(not(unix))]
pub(super) fn is_denied(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().readonly())
}

/// Returns how many bytes are free on the disk of a file; `None` if the system does not say.
#[cfg(unix)]
pub(super) fn free_space(path: &Path) -> Option<u64> {
    let space = path.parent().and_then(|folder| rustix::fs::statvfs(folder).ok())?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Returns `None`.
#[cfg(not(unix))]
pub(super) fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Returns an error, or the one for a full disk if there is no space left: SQLite does not always say why it could not open a file.
#[cfg(unix)]
pub(super) fn or_full(path: &Path, error: StoreError) -> StoreError {
    let space = path.parent().and_then(|folder| rustix::fs::statvfs(folder).ok());
    match (&error, space) {
        (StoreError::Io { message }, Some(space)) if space.f_bavail == 0 => {
            StoreError::Full { message: message.clone() }
        }
        _ => error,
    }
}

/// Returns the error.
#[cfg(not(unix))]
pub(super) fn or_full(_: &Path, error: StoreError) -> StoreError {
    error
}
