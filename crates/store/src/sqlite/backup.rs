//! Copies of a store, while it is in use.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::Sqlite;
use super::fault::{fault, io, shown};
use super::open::{self, SqliteOptions};
use super::permission;
use super::read::Readers;
use crate::error::{Result, StoreError};

/// How many pages are copied between two calls of `progress`.
const PAGES: i32 = 256;

impl Sqlite {
    /// Copies the store into a new file while others read and write: the copy is the store as it was when this began. A file at `path` is
    /// never overwritten, and there is none if this fails. `progress` is told how many pages have been copied, and of how many.
    ///
    /// # Errors
    ///
    /// If there is such a file already, or it cannot be written.
    pub fn backup(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        self.readers.read(|connection| copy(connection, path, progress, &|_| Ok(())))
    }

    /// Makes a store of a copy of one: the other direction of [`Sqlite::backup`]. The store must not be there yet.
    ///
    /// # Errors
    ///
    /// If the copy is not a Contextree store, or there is a file at `path` already.
    pub fn restore(backup: &Path, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        Sqlite::restore_checked(backup, path, progress, &|_| Ok(()))
    }

    /// Like [`Sqlite::restore`]; `check` looks at the finished store before that gets its name.
    pub(crate) fn restore_checked(
        backup: &Path,
        path: &Path,
        progress: &mut dyn FnMut(u64, u64),
        check: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<()> {
        let reading = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let (source, _) = open::open(backup, &reading)?;
        copy(&source.reader()?, path, progress, check)
    }

    /// Makes a new file and fills it; `check` looks at it before it gets its name. There is none if this fails.
    pub(crate) fn fill_copy(
        path: &Path,
        fill: &mut dyn FnMut(&Sqlite) -> Result<()>,
        check: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<()> {
        let write = &mut |partial: &Path| {
            // It is synced once, when it is complete.
            let durability = open::Durability::Relaxed;
            let options = SqliteOptions { durability, ..SqliteOptions::default() };
            let copy = Sqlite::open(partial, &options)?;
            fill(&copy)?;
            drop(copy);
            let file = std::fs::File::open(partial).map_err(|error| io(partial, &error))?;
            file.sync_all().map_err(|error| io(partial, &error))
        };
        write_copy(path, write, check)
    }

    /// Opens a file that no other process uses, for reading. Nothing is made beside it.
    pub(crate) fn open_private(path: &Path) -> Result<Sqlite> {
        let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let source = open::Source::private(path, &options);
        Ok(Sqlite::over(Readers::new(source), true, options))
    }
}

pub(super) fn copy(
    from: &Connection,
    path: &Path,
    progress: &mut dyn FnMut(u64, u64),
    check: &dyn Fn(&Path) -> Result<()>,
) -> Result<()> {
    write_copy(path, &mut |partial| copy_pages(from, partial, progress), check)
}

/// Writes a new file under a temporary name, and gives it its own name if it is complete and passes the check.
fn write_copy(
    path: &Path,
    write: &mut dyn FnMut(&Path) -> Result<()>,
    check: &dyn Fn(&Path) -> Result<()>,
) -> Result<()> {
    let path = std::path::absolute(path).map_err(|error| io(path, &error))?;
    // A log left there by another program would become part of the copy.
    for taken in [path.clone(), beside(&path, "-wal"), beside(&path, "-journal")] {
        if taken.try_exists().map_err(|error| io(&taken, &error))? {
            return Err(StoreError::FileExists { path: shown(&taken) });
        }
    }
    let partial = beside(&path, ".partial");
    match std::fs::remove_file(&partial) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(io(&partial, &error));
        }
        _ => {}
    }
    let done =
        write(&partial).and_then(|()| check(&partial)).and_then(|()| publish(&partial, &path));
    if done.is_err() {
        // The first error is the one to report.
        for left in [partial.clone(), beside(&partial, "-wal"), beside(&partial, "-shm")] {
            std::fs::remove_file(left).ok();
        }
    }
    done?;
    sync_folder(&path)
}

/// Gives the copy its name, unless another process took it meanwhile.
fn publish(partial: &Path, path: &Path) -> Result<()> {
    match std::fs::hard_link(partial, path) {
        Ok(()) => std::fs::remove_file(partial).map_err(|error| io(partial, &error)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::FileExists { path: shown(path) })
        }
        // Some file systems know no links.
        Err(_) => std::fs::rename(partial, path).map_err(|error| io(path, &error)),
    }
}

fn copy_pages(from: &Connection, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    // One long read, so that the copy does not start over whenever another process writes.
    from.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema").map_err(fault)?;
    let done = (|| {
        permission::make_private(to)?;
        let mut copy = Connection::open(to).map_err(fault)?;
        copy.pragma_update(None, "synchronous", "FULL").map_err(fault)?;
        let backup = Backup::new(from, &mut copy).map_err(fault)?;
        loop {
            let step = backup.step(PAGES).map_err(fault)?;
            let (left, all) = (backup.progress().remaining, backup.progress().pagecount);
            let number = |pages: i32| u64::try_from(pages).unwrap_or(0);
            progress(number(all - left), number(all));
            match step {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                _ => {
                    let message = "another process has the copy open".to_owned();
                    return Err(StoreError::Busy { message });
                }
            }
        }
    })();
    let ended = from.execute_batch("COMMIT").map_err(fault);
    done.and(ended)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

/// Makes the new name durable, too.
fn sync_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|_| cfg!(unix)) else {
        return Ok(());
    };
    let folder_file = std::fs::File::open(folder).map_err(|error| io(folder, &error))?;
    folder_file.sync_all().map_err(|error| io(folder, &error))
}
