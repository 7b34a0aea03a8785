//! A layer between SQLite and the disk, for tests.
//!
//! SQLite asks a *VFS* for everything it wants from the operating system. [`watch`] puts one of ours over the default one: each call for a
//! file in a watched folder is shown to a [`Disk`] first, which lets it pass, makes it fail, or answers in its place. All other files are
//! passed through. The store under test is opened as usual and knows nothing of this.
//!
//! No crate on crates.io does this: `sqlite-plugin` and `sqlite-vfs` replace the default layer with its locks and shared memory, which are
//! what we want to test; here they stay and only their calls are watched. This is the one crate of the project with `unsafe`, in `shim.rs`.

#![cfg(unix)]

mod shim;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// What SQLite wants from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Opens a file; creates it if there is none.
    Open,
    /// Removes a file.
    Delete,
    /// Asks whether there is a file, or whether it can be written.
    Access,
    /// Reads bytes of a file.
    Read,
    /// Writes bytes to a file.
    Write,
    /// Cuts a file off.
    Truncate,
    /// Waits until the disk has all of a file.
    Sync,
    /// Asks for the size of a file.
    Size,
    /// Takes a lock of a file.
    Lock,
    /// Maps a part of the index of the log.
    ShmMap,
    /// Takes a lock of the log.
    ShmLock,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 11] = [
        Kind::Open,
        Kind::Delete,
        Kind::Access,
        Kind::Read,
        Kind::Write,
        Kind::Truncate,
        Kind::Sync,
        Kind::Size,
        Kind::Lock,
        Kind::ShmMap,
        Kind::ShmLock,
    ];
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What is asked for.
    pub kind: Kind,
    /// The file.
    pub path: &'a Path,
    /// Where in the file, the size that it is cut to, or 1 if its folder is synced after it was deleted.
    pub offset: u64,
    /// What is written.
    pub data: &'a [u8],
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The disk carries it out.
    Pass,
    /// Reported as carried out, but it is not: for syncs that would only cost time.
    Skip,
    /// Fails as calls of its kind do on a broken disk; nothing is carried out.
    Fail,
    /// Fails because the disk is full; of a write, half is carried out.
    Full,
}

/// Decides on the calls for the files of a folder.
pub trait Disk: Send + Sync {
    /// Called before each call.
    fn ask(&self, call: &Call<'_>) -> Verdict;

    /// Called after each call that was carried out or skipped.
    fn done(&self, call: &Call<'_>) {
        let _ = call;
    }
}

/// Ends with the watch.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
}

impl Drop for Watch {
    fn drop(&mut self) {
        watched().retain(|(folder, _)| *folder != self.folder);
    }
}

/// Shows all calls for files in a folder to a disk, until the result is dropped. Files that are open by then stay with their disk. The path must be
/// absolute and without symbolic links.
pub fn watch(folder: &Path, disk: Arc<dyn Disk>) -> Watch {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(shim::install);
    watched().push((folder.to_owned(), disk));
    Watch { folder: folder.to_owned() }
}

/// Returns the disk of a file.
fn disk_of(path: &Path) -> Option<Arc<dyn Disk>> {
    let all = watched();
    all.iter().find(|(folder, _)| path.starts_with(folder)).map(|(_, disk)| Arc::clone(disk))
}

fn watched() -> MutexGuard<'static, Vec<(PathBuf, Arc<dyn Disk>)>> {
    static WATCHED: Mutex<Vec<(PathBuf, Arc<dyn Disk>)>> = Mutex::new(Vec::new());
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}
