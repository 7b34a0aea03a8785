//! The files that this process has open, so that everyone who opens a file shares one store, and a child refuses what its parent has open.
//!
//! SQLite keeps a list of open files per process, and the operating system keeps locks per process. A child made by `fork()` has a copy of
//! the list and none of the locks: a connection of its own to the same file would believe that it holds them. A turn that the parent
//! commits meanwhile could be lost.
//!
//! The lock is only taken while the interpreter is attached, and nothing detaches while it is held. `os.fork()` needs the interpreter, too,
//! so a child never begins with a lock that a thread of its parent holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use contextree_app::Workspace;
use pyo3::prelude::*;

use crate::error::forked;

/// What to do in a child process.
pub(crate) const HINT: &str = "open it in the child only, close it before the fork, or start processes with \"spawn\" or \"forkserver\"";

/// Numbers the calls that open or close a file.
static CALLS: AtomicU64 = AtomicU64::new(0);
static OPEN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A file that is open, or is being opened or closed.
#[derive(Clone)]
struct Entry {
    process: u32,
    path: PathBuf,
    file: Option<Identity>,
    logical: bool,
    state: State,
}

#[derive(Clone)]
enum State {
    /// The number of the call that opens or closes it.
    Busy(u64),
    Open(Weak<Workspace>),
}

impl Entry {
    fn is(&self, path: &Path, file: Option<&Identity>) -> bool {
        match (&self.file, file) {
            (Some(known), Some(file)) => known == file,
            // It was deleted, and a new one will be created.
            (Some(_), None) => false,
            // It is being created.
            (None, _) => self.path == path,
        }
    }

    fn number(&self) -> Option<u64> {
        match self.state {
            State::Busy(number) => Some(number),
            State::Open(_) => None,
        }
    }

    fn is_in_use(&self) -> bool {
        match &self.state {
            State::Busy(_) => true,
            State::Open(workspace) => workspace.strong_count() > 0,
        }
    }
}

/// What identifies a file while it exists: a new file of the same name differs.
#[derive(Clone, PartialEq, Eq)]
struct Identity(u64, u64, PathBuf);

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let found = fs::metadata(path).ok()?;
            Some(Identity(found.dev(), found.ino(), PathBuf::new()))
        }
        #[cfg(not(unix))]
        {
            Some(Identity(0, 0, fs::canonicalize(path).ok()?))
        }
    }
}

/// A file that is being opened.
pub(crate) struct Opening {
    number: u64,
    path: PathBuf,
    logical: bool,
    known: Option<Arc<Workspace>>,
}

fn entries() -> MutexGuard<'static, Vec<Entry>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a file is being opened.
///
/// # Errors
///
/// `E_STORE_FORKED` if a process that this one was forked from has the file open.
pub(crate) fn begin(py: Python<'_>, path: &Path, logical: bool) -> PyResult<Opening> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (process, file) = (std::process::id(), Identity::of(&path));
    let mut open = entries();
    open.retain(Entry::is_in_use);
    let mut same = open.iter().filter(|entry| entry.is(&path, file.as_ref()));
    if same.clone().any(|entry| entry.process != process) {
        drop(open);
        let message =
            format!("`{}` was open in the parent process when this one was forked", path.display());
        return Err(forked(py, &message, HINT));
    }
    let known = same.find_map(|entry| match &entry.state {
        State::Open(workspace) if entry.logical == logical => workspace.upgrade(),
        _ => None,
    });
    let number = CALLS.fetch_add(1, Ordering::Relaxed);
    if known.is_none() {
        let state = State::Busy(number);
        open.push(Entry { process, path: path.clone(), file, logical, state });
    }
    Ok(Opening { number, path, logical, known })
}

/// A file that is being closed.
pub(crate) struct Closing(u64);

/// Notes that a store is being closed, which takes a while: until then, a child must not open its file.
pub(crate) fn close(workspace: &Arc<Workspace>) -> Closing {
    let number = CALLS.fetch_add(1, Ordering::Relaxed);
    let mut open = entries();
    let found = open.iter().find(|entry| match &entry.state {
        State::Open(known) => std::ptr::eq(known.as_ptr(), Arc::as_ptr(workspace)),
        State::Busy(_) => false,
    });
    if let Some(entry) = found.cloned() {
        open.push(Entry { state: State::Busy(number), ..entry });
    }
    Closing(number)
}

impl Drop for Closing {
    fn drop(&mut self) {
        entries().retain(|entry| entry.number() != Some(self.0));
    }
}

impl Opening {
    /// Returns the store, if the file is open already.
    pub(crate) fn known(&self) -> Option<Arc<Workspace>> {
        self.known.clone()
    }

    /// Notes that the file is open. Returns the store to use: another thread may have opened the same file meanwhile.
    pub(crate) fn end(self, workspace: &Arc<Workspace>) -> Arc<Workspace> {
        let (process, file) = (std::process::id(), Identity::of(&self.path));
        let mut open = entries();
        let known = open.iter().find_map(|entry| match &entry.state {
            State::Open(known)
                if entry.is(&self.path, file.as_ref()) && entry.logical == self.logical =>
            {
                known.upgrade()
            }
            _ => None,
        });
        let Some(known) = known else {
            let state = State::Open(Arc::downgrade(workspace));
            open.push(Entry {
                process,
                path: self.path.clone(),
                file,
                logical: self.logical,
                state,
            });
            return Arc::clone(workspace);
        };
        known
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        entries().retain(|entry| entry.number() != Some(self.number));
    }
}
