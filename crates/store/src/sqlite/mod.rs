//! The embedded store: one SQLite file, no server, openable by any SQLite tool.
//!
//! Many processes may have the file open. In each, one connection writes, for all threads (`writer`), and others read (`read`). What the
//! tables mean is in `docs/store.md`.

mod backup;
mod fault;
mod ids;
mod lines;
mod open;
mod permission;
mod queue;
mod read;
mod reserve;
mod schema;
mod seal;
mod side;
mod sql;
mod totals;
mod wait;
mod write;
mod writer;

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use contextree_tree::Cycle;
use rusqlite::Connection;

use self::open::Access;
pub use self::open::{Durability, SqliteOptions};
use self::read::Readers;
use self::side::SideRows;
use self::wait::Deadline;
use self::write::{Done, Write};
use self::writer::Writer;
use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, NewContext, Pin, Revision,
    Rewrite, SidePage, SideRecord, Step, Stretch,
};

/// A store in a SQLite file.
///
/// When the last one who has it open closes it, the file is one file again: the log beside it is gone.
pub struct Sqlite {
    // The order matters: the writer is closed last, so that it can put the log into the file.
    readers: Readers,
    /// Empty if the file can only be read, or is of an older format and was not written yet.
    writer: OnceLock<Writer>,
    is_read_only: bool,
    options: SqliteOptions,
    /// Whether it was looked after the reserve.
    has_kept: AtomicBool,
}

impl Sqlite {
    /// Opens a file, or makes one. If it cannot be written it is opened for reading; see [`Sqlite::is_read_only`].
    ///
    /// A file of an older format is brought to the newest one. With [`SqliteOptions::create`] that happens at once, otherwise with the first
    /// write: opening and reading change nothing then.
    ///
    /// # Errors
    ///
    /// `E_STORE_FOREIGN` for a file of another program, `E_STORE_VERSION` for one of a newer version, or if it cannot be read.
    pub fn open(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Sqlite> {
        let path = path.as_ref();
        let (source, access) = match open::open(path, options) {
            Err(StoreError::Full { .. }) if options.use_reserve && reserve::release(path) => {
                open::open(path, options)?
            }
            opened => opened?,
        };
        let is_read_only = matches!(access, Access::Read);
        let opened = Sqlite::over(Readers::new(source), is_read_only, *options);
        if let Access::Write(connection) = access {
            opened.writer.get_or_init(|| opened.new_writer(connection));
        }
        if !is_read_only && options.create {
            opened.keep_reserve();
        }
        Ok(opened)
    }

    fn over(readers: Readers, is_read_only: bool, options: SqliteOptions) -> Sqlite {
        let (writer, has_kept) = (OnceLock::new(), AtomicBool::new(false));
        Sqlite { readers, writer, is_read_only, options, has_kept }
    }

    fn new_writer(&self, connection: Connection) -> Writer {
        Writer::new(connection, Arc::clone(&self.readers.counted), self.options.busy_timeout)
    }

    /// Makes the reserve, once: a program that only reads creates no file.
    fn keep_reserve(&self) {
        if !self.has_kept.swap(true, Ordering::Relaxed) {
            reserve::keep(self.path());
        }
    }

    /// Returns where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.readers.source().path
    }

    /// True if the file was opened for reading, because it was asked for or because nothing else was possible.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn writer(&self) -> Result<&Writer> {
        if let Some(writer) = self.writer.get() {
            return Ok(writer);
        }
        if self.is_read_only {
            let message = format!("`{}` is open for reading", fault::shown(self.path()));
            return Err(StoreError::ReadOnly { message });
        }
        let connection = open::migrated(self.readers.source(), &self.options)?;
        // Another thread may have been faster; the migration was done once in any case.
        Ok(self.writer.get_or_init(|| self.new_writer(connection)))
    }

    /// Does work that frees space. If the disk is full, makes room first and tries again: deleting writes to the log before it frees anything.
    fn free<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match work() {
            Err(StoreError::Full { message }) => {
                let released = reserve::release(self.path());
                let emptied = self.writer()?.alone(|connection| {
                    let text = "PRAGMA wal_checkpoint(TRUNCATE)";
                    connection.query_row(text, [], |row| row.get::<_, i64>(0)).map_err(fault::fault)
                });
                match released || emptied.is_ok_and(|is_read| is_read == 0) {
                    true => work(),
                    false => Err(StoreError::Full { message }),
                }
            }
            done => done,
        }
    }

    /// Reads side records. A file of format 1 that can only be read has none, and none of the formats up to 3 has checks for them.
    fn side<T: Default>(
        &self,
        context: ContextId,
        work: impl FnOnce(&SideRows<'_>) -> Result<T>,
    ) -> Result<T> {
        self.readers.read(|connection| {
            let format = self.format(connection)?;
            match format {
                0 | 1 => Ok(T::default()),
                _ => work(&SideRows { connection, context, checks: format > 3 }),
            }
        })
    }

    /// Returns the format of the file. One that is open for writing has the newest.
    fn format(&self, connection: &Connection) -> Result<u32> {
        if self.writer.get().is_none() { read::format(connection) } else { Ok(schema::FORMAT) }
    }

    fn row(&self, write: Write<'_>) -> Result<ContextRow> {
        match self.writer()?.take(write)? {
            Done::Row(row) => Ok(row),
            _ => Err(StoreError::Backend { message: "a row was expected".to_owned() }),
        }
    }
}

impl Backend for Sqlite {
    fn backup(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(u64, u64),
        check: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<bool> {
        let copied = self.readers.read(|from| backup::copy(from, path, progress, check));
        copied.map(|()| true)
    }

    fn create(&self, new: &NewContext) -> Result<ContextRow> {
        self.row(Write::Create(Cow::Borrowed(new)))
    }

    fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        self.readers.read(|connection| {
            let found = match read::known(connection, sql::CONTEXT_BY_NAME, [name])? {
                None if self.format(connection)? > 3 => {
                    totals::find(connection, name, &self.readers.counted)?
                }
                found => found,
            };
            Ok(found.map(|known| known.row))
        })
    }

    fn find_damaged(&self, name: &str) -> Result<Option<ContextRow>> {
        self.readers.read(|connection| {
            let found = read::known_unchecked(connection, sql::CONTEXT_BY_NAME, [name])?;
            Ok(found.map(|known| known.row).filter(|row| row.name == name))
        })
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.readers.read(|connection| {
            let counts = self.format(connection)? > 3;
            let counted = counts.then_some(&*self.readers.counted);
            read::list(connection, after, limit, counted)
        })
    }

    fn list_within(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        self.readers.read(|connection| read::list_within(connection, prefix, after, limit))
    }

    fn list_intact(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.readers.read(|connection| read::list_intact(connection, after, limit))
    }

    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow> {
        let take = || self.row(Write::Append { context, expected, step: Cow::Borrowed(step) });
        if step.only_deletes() {
            return self.free(take);
        }
        let row = take()?;
        self.keep_reserve();
        Ok(row)
    }

    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.readers.read(|connection| read::lineage(connection, branch))
    }

    fn checkpoint(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Checkpoint>> {
        self.readers.read(|connection| read::checkpoint(connection, branch, cycle))
    }

    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()> {
        let checkpoint = Cow::Borrowed(checkpoint);
        self.writer()?.take(Write::AddCheckpoint { branch, checkpoint }).map(drop)
    }

    fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        if self.readers.is_view() {
            let mut commits = Vec::new();
            self.readers.read(|connection| {
                read::commits(connection, branch, first, last, &mut |commit| {
                    commits.push(commit);
                    Ok(())
                })
            })?;
            return commits.into_iter().try_for_each(visit);
        }
        self.readers.read(|connection| read::commits(connection, branch, first, last, visit))
    }

    fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
        visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        if self.readers.is_view() {
            let mut found = Vec::new();
            self.readers.read(|connection| {
                read::bodies(connection, branch, cycles, &mut |cycle, bodies| {
                    found.push((cycle, bodies));
                    Ok(())
                })
            })?;
            return found.into_iter().try_for_each(|(cycle, bodies)| visit(cycle, bodies));
        }
        self.readers.read(|connection| read::bodies(connection, branch, cycles, visit))
    }

    fn checkpoint_bodies(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Vec<u8>>> {
        self.readers.read(|connection| read::checkpoint_bodies(connection, branch, cycle))
    }

    fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64> {
        self.readers.read(|connection| read::count(connection, branch, cycle))
    }

    fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)> {
        self.readers.read(|connection| read::journal(connection, context))
    }

    fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        self.readers.read(|connection| {
            hashes.iter().map(|hash| read::blob(connection, sql::CONTENT, [hash])).collect()
        })
    }

    fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
        self.readers.read(|connection| read::users(connection, hash))
    }

    fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>> {
        self.readers.read(|connection| read::attempts(connection, context))
    }

    fn side_record(&self, context: ContextId, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        self.side(context, |rows| rows.value(kind, key))
    }

    fn side_records(&self, context: ContextId, kind: Option<&str>) -> Result<Vec<SideRecord>> {
        self.side(context, |rows| rows.all(kind))
    }

    fn side_page(&self, context: ContextId, page: &SidePage<'_>) -> Result<Vec<SideRecord>> {
        self.side(context, |rows| rows.page(page))
    }

    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        self.writer()?.take(Write::Pin { context, pin: Cow::Borrowed(pin) }).map(drop)
    }

    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        let done = self.writer()?.take(Write::Unpin { context, cycle })?;
        Ok(matches!(done, Done::Whether(true)))
    }

    fn pins(&self, context: ContextId) -> Result<Vec<Pin>> {
        self.readers.read(|connection| read::pins(connection, context))
    }

    fn children(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.readers.read(|connection| read::children(connection, branch))
    }

    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow> {
        let rewrite = Cow::Borrowed(rewrite);
        self.free(|| self.row(Write::Rewrite { context, expected, rewrite: rewrite.clone() }))
    }

    fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow> {
        self.row(Write::Rename { context, name: Cow::Borrowed(name) })
    }

    fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        self.free(|| self.writer()?.take(Write::Delete { context, expected }).map(drop))
    }

    fn with_view(&self, work: &mut dyn FnMut(&dyn Backend) -> Result<()>) -> Result<()> {
        work(&Sqlite::over(self.readers.view()?, true, self.options))
    }

    /// Writes the file anew without the space that is free in it, and empties the log. Needs as much space again while it works; without it the file
    /// keeps its size, and what is free in it is used by later steps.
    fn reclaim(&self) -> Result<Option<u64>> {
        match self.free(|| self.write_anew(false)) {
            Err(StoreError::Full { message }) => {
                tracing::warn!(message, "no space to make the file smaller");
                Ok(std::fs::metadata(self.path()).ok().map(|file| file.len()))
            }
            done => done,
        }
    }

    fn scrub(&self) -> Result<()> {
        self.free(|| self.write_anew(true)).map(drop)
    }

    fn version(&self) -> Result<Option<u64>> {
        self.readers.version().map(Some)
    }

    fn check(&self) -> Result<Vec<String>> {
        let faults = |connection: &Connection| -> Result<Vec<String>> {
            let mut found = read::faults(connection)?;
            if self.format(connection)? > 3 {
                found.extend(totals::fault_of(connection)?);
            }
            Ok(found)
        };
        match self.readers.read(faults) {
            // Too damaged to be looked through.
            Err(StoreError::Corrupt { message, .. }) => Ok(vec![message]),
            other => other,
        }
    }
}

impl Sqlite {
    /// Writes the file anew and empties the log. With `all`, fails if another process still reads from the log.
    fn write_anew(&self, all: bool) -> Result<Option<u64>> {
        let deadline = Deadline::after(self.options.busy_timeout);
        self.writer()?.alone(|connection| {
            let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
            // Also without free pages: deleted text may be left in the gaps of others.
            deadline.retry(|| connection.execute_batch("VACUUM"))?;
            // If another process still reads from the log, it is emptied later.
            let is_read = deadline.retry(|| number("PRAGMA wal_checkpoint(TRUNCATE)"))? != 0;
            if all && is_read {
                let message = "another process reads the log of the file; try again".to_owned();
                return Err(StoreError::Busy { message });
            }
            let size =
                number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
            reserve::keep(self.path());
            Ok(u64::try_from(size.map_err(fault::fault)?).ok())
        })
    }
}
