//! Space for a full disk: a file beside the store that is removed so that something can be deleted.
//!
//! Deleting writes before it frees: the changed pages go to the log, and the log has an index. A store of some size keeps the space for both, in
//! `STORE-reserve`. It is removed only for work that frees space, and made again when the disk has room.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// From which size on a store has a reserve. Deleting from a smaller one would not help a full disk.
const SMALLEST_STORE: u64 = 2 << 20;

/// How large a reserve is: an eighth of the store, between these.
const SIZES: (u64, u64) = (256 << 10, 4 << 20);

/// How many times the reserve must fit on the disk before one is made: it is not there to fill the disk.
const ROOM: u64 = 8;

fn place(store: &Path) -> PathBuf {
    let mut name = OsString::from(store);
    name.push("-reserve");
    PathBuf::from(name)
}

/// Makes the reserve of a store, unless there is one, the store is small, or the disk is nearly full. Never an error: the store works without.
pub(super) fn keep(store: &Path) {
    let size = fs::metadata(store).map_or(0, |found| found.len());
    let path = place(store);
    if size < SMALLEST_STORE || path.exists() {
        return;
    }
    let size = (size / 8).clamp(SIZES.0, SIZES.1);
    if super::permission::free_space(store).is_none_or(|free| free < size * ROOM) {
        return;
    }
    if let Err(error) = make(&path, size) {
        tracing::debug!(%error, "no reserve was made");
        fs::remove_file(&path).ok();
    }
}

fn make(path: &Path, size: u64) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = match options.open(path) {
        Ok(file) => file,
        // Another process was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    };
    // Written, because a file with a hole takes no space.
    let zeros = vec![0; 64 << 10];
    let mut left = size;
    while left > 0 {
        let length = left.min(zeros.len() as u64);
        file.write_all(&zeros[..length as usize])?;
        left -= length;
    }
    Ok(())
}

/// Removes the reserve, so that there is space. Returns whether there was one.
pub(super) fn release(store: &Path) -> bool {
    let released = fs::remove_file(place(store)).is_ok();
    if released {
        tracing::info!("the disk is full: the reserve of the store was removed");
    }
    released
}
