//! Opening a file: whose it is, which format it has, and whether it can be written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::fault::{corrupt, fault, io, shown};
use super::permission;
use super::schema::{APPLICATION_ID, FORMAT, migrate};
use super::wait::Deadline;
use crate::error::{Result, StoreError};
use crate::mask::display_path;

/// When a step counts as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the disk has it: nothing acknowledged is lost, whatever happens, unless the disk itself is.
    #[default]
    Full,
    /// When the operating system has it. Nothing is lost if the process dies. If the machine dies (power, kernel), the steps since the last
    /// checkpoint of the log may be lost, all from some moment on: usually the last thousand pages, some hundred steps. The file stays sound.
    Relaxed,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Whether a file that is not there is made.
    pub create: bool,
    /// Whether it is opened for reading only. A file that cannot be written is opened in this way anyhow.
    pub read_only: bool,
    /// When a step counts as stored.
    pub durability: Durability,
    /// How long to wait for other processes that write.
    pub busy_timeout: Duration,
    /// Whether the reserve of the store may be used to open it if the disk is full: for who opens it to delete something.
    pub use_reserve: bool,
    /// How large the file may become; `None` for no limit. Beyond it, steps fail as if the disk were full.
    pub max_bytes: Option<u64>,
}

impl Default for SqliteOptions {
    fn default() -> SqliteOptions {
        SqliteOptions {
            create: true,
            read_only: false,
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(10),
            use_reserve: false,
            max_bytes: None,
        }
    }
}

const PAGE_SIZE: u32 = 4096;
const READING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A file that can be opened again for another reader.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    busy_timeout: Duration,
    /// The medium is read-only, so SQLite needs no locks, which it could not take.
    immutable: bool,
}

/// What can be done with a file.
pub(super) enum Access {
    /// It can only be read.
    Read,
    /// It can be written, but is of an older format. The first write migrates it: reading changes nothing.
    Older,
    /// It can be written.
    Write(Connection),
}

/// Opens a file.
pub(super) fn open(path: &Path, options: &SqliteOptions) -> Result<(Source, Access)> {
    // An absolute path is never taken for one of SQLite's `file:` addresses.
    let path = std::path::absolute(path).map_err(|error| io(path, &error))?;
    let mut source = Source { path, busy_timeout: options.busy_timeout, immutable: false };
    look_for(&source, options)?;
    permission::check_readable(&source.path)?;
    if !options.read_only {
        match open_writer(&source.path, options, options.create) {
            Ok(Access::Read) => {
                // Only a file or folder without permission to write is opened for reading. Anything else, such as too many open
                // files or a full disk, may be over in a moment: opening in another mode because of it would last.
                if !permission::is_denied(&source.path) {
                    let message = format!("`{}` cannot be opened now", shown(&source.path));
                    return Err(StoreError::Io { message });
                }
            }
            Ok(access) => return Ok((source, access)),
            Err(error @ (StoreError::ReadOnly { .. } | StoreError::Io { .. })) => {
                if !permission::is_denied(&source.path) {
                    return Err(permission::or_full(&source.path, error));
                }
            }
            Err(error) => return Err(error),
        }
    }
    match source.reader().and_then(|reader| demand(&reader)) {
        // A log beside the file has to be read with it, and for that its index beside it has to be written.
        Err(StoreError::Io { .. } | StoreError::ReadOnly { .. })
            if !source.has_log() && permission::is_denied(&source.path) =>
        {
            source.immutable = true;
            let reader = source.reader()?;
            demand(&reader)?;
        }
        Err(error) => return Err(permission::or_full(&source.path, error)),
        Ok(()) => {}
    }
    Ok((source, Access::Read))
}

/// Opens a file of an older format again, to write it.
pub(super) fn migrated(source: &Source, options: &SqliteOptions) -> Result<Connection> {
    match open_writer(&source.path, options, true)? {
        Access::Write(connection) => Ok(connection),
        Access::Read | Access::Older => {
            let message = format!("`{}` cannot be written now", shown(&source.path));
            Err(StoreError::Io { message })
        }
    }
}

/// Looks whether there is a file that can be a store, and makes an empty one if there is none and one is wanted.
fn look_for(source: &Source, options: &SqliteOptions) -> Result<()> {
    let path = &source.path;
    let may_create = options.create && !options.read_only;
    let missing =
        |message: &str| StoreError::Missing { place: shown(path), message: message.to_owned() };
    match std::fs::metadata(path) {
        // Opening a pipe would wait for another process.
        Ok(found) if !found.is_file() => {
            let what = if found.is_dir() { "a directory" } else { "not a regular file" };
            Err(StoreError::Foreign { message: format!("`{}` is {what}", shown(path)) })
        }
        Ok(found) if found.len() == 0 && source.has_log() => {
            Err(corrupt("it is empty, but there is a log beside it".to_owned()))
        }
        Ok(found) if found.len() == 0 && !may_create => Err(missing("the file is empty")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(path, &error)),
        Err(_) if !may_create => Err(missing("")),
        Err(_) => permission::make_private(path),
    }
}

impl Source {
    /// Returns a file that no other process uses.
    pub(super) fn private(path: &Path, options: &SqliteOptions) -> Source {
        Source { path: path.to_owned(), busy_timeout: options.busy_timeout, immutable: true }
    }

    /// Opens one more connection that reads.
    pub(super) fn reader(&self) -> Result<Connection> {
        let connection = if self.immutable {
            let address = format!("file:{}?immutable=1", encoded(&self.path)?);
            Connection::open_with_flags(address, READING | OpenFlags::SQLITE_OPEN_URI)
        } else {
            Connection::open_with_flags(&self.path, READING)
        };
        let connection = connection.map_err(fault)?;
        connection.busy_timeout(self.busy_timeout).map_err(fault)?;
        prepare(&connection).map_err(fault)?;
        Ok(connection)
    }

    /// True if there is a log beside the file that is not empty.
    fn has_log(&self) -> bool {
        let mut log = OsString::from(&self.path);
        log.push("-wal");
        std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
    }
}

/// What the header of a file says.
enum Owner {
    /// It is empty.
    Empty,
    Us {
        format: u32,
    },
}

/// Opens a file to write it, if that is possible. A file of an older format is brought to the newest one only with `migrates`.
fn open_writer(path: &Path, options: &SqliteOptions, migrates: bool) -> Result<Access> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if options.create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    if connection.is_readonly(MAIN_DB).map_err(fault)? {
        return Ok(Access::Read);
    }
    // First of all, check whose file it is: a file of another program is not changed.
    connection.busy_timeout(options.busy_timeout).map_err(fault)?;
    let owner = owner(&connection)?;
    prepare(&connection).map_err(fault)?;
    if !migrates && matches!(owner, Owner::Us { format } if format < FORMAT) {
        return Ok(Access::Older);
    }
    let deadline = Deadline::after(options.busy_timeout);
    if let Owner::Empty = owner {
        connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(fault)?;
    }
    let mode: String = deadline
        .retry(|| connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)))?;
    if mode != "wal" {
        let message = format!("no write-ahead log is possible here: journal mode `{mode}`");
        return Err(StoreError::Io { message });
    }
    match owner {
        Owner::Us { format: FORMAT } => {}
        _ => upgrade(&connection, &deadline)?,
    }
    configure_writer(&connection, options).map_err(fault)?;
    Ok(Access::Write(connection))
}

/// Brings the file to the newest format, in one transaction. Another process may have been faster.
fn upgrade(connection: &Connection, deadline: &Deadline) -> Result<()> {
    deadline.retry(|| connection.execute_batch("BEGIN IMMEDIATE"))?;
    let done = owner(connection).and_then(|owner| match owner {
        Owner::Us { format: FORMAT } => Ok(()),
        Owner::Us { format } => migrate(connection, format),
        Owner::Empty => migrate(connection, 0),
    });
    let done = done.and_then(|()| connection.execute_batch("COMMIT").map_err(fault));
    if done.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(fault)?;
    }
    done
}

fn owner(connection: &Connection) -> Result<Owner> {
    let header: rusqlite::Result<(i32, i64, i64)> = connection.query_row(
        "SELECT (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    );
    let foreign = |what: &str| StoreError::Foreign {
        message: format!("`{}` is {what}", display_path(connection.path().unwrap_or_default())),
    };
    let no_database = || foreign("not a SQLite file");
    let header = header.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => no_database(),
        _ => fault(error),
    })?;
    match header {
        // A few bytes of another program look like an empty file to SQLite.
        (0, 0, 0) if !length(connection).is_multiple_of(512) => Err(no_database()),
        (0, 0, 0) => Ok(Owner::Empty),
        (APPLICATION_ID, version, _) => match u32::try_from(version) {
            Ok(format @ 1..=FORMAT) => Ok(Owner::Us { format }),
            Ok(found) if found > FORMAT => Err(StoreError::Version { found, supported: FORMAT }),
            _ => Err(corrupt(format!("there is no format {version}"))),
        },
        (0, ..) => Err(foreign("a SQLite file without an application id")),
        (id, ..) => {
            Err(foreign(&format!("a SQLite file of another application, with id {id:#010x}")))
        }
    }
}

fn length(connection: &Connection) -> u64 {
    let file = connection.path().and_then(|path| std::fs::metadata(path).ok());
    file.map_or(0, |file| file.len())
}

/// Fails unless a file that can only be read is one of ours. All formats so far can be read.
fn demand(reader: &Connection) -> Result<()> {
    match owner(reader)? {
        Owner::Us { .. } => Ok(()),
        Owner::Empty => Err(StoreError::Foreign {
            message: format!("`{}` is empty", display_path(reader.path().unwrap_or_default())),
        }),
    }
}

/// What holds for every connection.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    // Otherwise SQLite may prepare a statement anew whenever a number is bound that could, in its eyes, call for another plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A damaged page is noticed when it is read, and a file cannot bring functions of its own into play.
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;",
    )
}

fn configure_writer(connection: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Relaxed => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // On a Mac, only this one waits for the disk itself; elsewhere it changes nothing.
    connection.pragma_update(None, "fullfsync", options.durability == Durability::Full)?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    // What is deleted is overwritten where that costs no further write; `reclaim` does the rest.
    connection.query_row("PRAGMA secure_delete = FAST", [], |_| Ok(()))?;
    // After one very large step, the log is cut back to this size.
    connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
    if let Some(bytes) = options.max_bytes {
        let pages = i64::try_from(bytes / u64::from(PAGE_SIZE)).unwrap_or(i64::MAX).max(1);
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    // The writer waits for others by itself, in turns that are fair; see `wait`.
    connection.busy_timeout(Duration::ZERO)
}

/// Returns a path for a URL, with special characters percent-encoded.
fn encoded(path: &Path) -> Result<String> {
    let text = path
        .to_str()
        .ok_or_else(|| StoreError::Io { message: format!("`{}` is not UTF-8", shown(path)) })?;
    let mut address = String::new();
    for byte in text.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    Ok(address)
}
