//! The tables, and how files of older formats become files of this one.

use rusqlite::Connection;

use super::fault::fault;
use super::seal;
use crate::error::Result;

/// Marks a file as ours, in the header that SQLite reserves for this: `CTXT`.
pub(super) const APPLICATION_ID: i32 = 0x4354_5854;

/// What has to be done to get from each format to the next one. The number of entries is the newest format.
const MIGRATIONS: [&str; 4] = [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4];

/// The newest format.
pub(super) const FORMAT: u32 = MIGRATIONS.len() as u32;

/// Every table and index takes a page of its own, even when empty, so there is none that is not needed.
///
/// Rows with blobs are in ordinary tables: with them in the index itself (`WITHOUT ROWID`), rows of more than a quarter of a page double the
/// size of the file. Only rows that are just a key, or short-lived, are there: it saves an index, and with it a page for each step that
/// touches them.
///
/// What changes with every step is in `heads`, in rows that keep their size, so that a commit changes three pages: one of `commits`, one of
/// its index, one of `heads`. The partial indexes cost nothing for rows that are not in them.
const FORMAT_1: &str = "
CREATE TABLE branches(
id INTEGER PRIMARY KEY AUTOINCREMENT,
parent INTEGER REFERENCES branches,
upto INTEGER,
CHECK ((parent IS NULL) = (upto IS NULL))
) STRICT;
CREATE INDEX branches_by_parent ON branches(parent) WHERE parent IS NOT NULL;

CREATE TABLE contexts(
id INTEGER PRIMARY KEY REFERENCES branches,
name TEXT NOT NULL UNIQUE,
settings TEXT NOT NULL,
created_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE heads(
context INTEGER PRIMARY KEY REFERENCES contexts,
revision INTEGER NOT NULL,
snapshots INTEGER NOT NULL,
updated_ns INTEGER NOT NULL,
cycle INTEGER,
digest BLOB,
key BLOB
) STRICT;

CREATE TABLE commits(
id INTEGER PRIMARY KEY,
branch INTEGER NOT NULL REFERENCES branches,
cycle INTEGER NOT NULL,
effects BLOB,
bodies BLOB NOT NULL,
UNIQUE (branch, cycle)
) STRICT;
CREATE INDEX commits_without_effects ON commits(branch, cycle) WHERE effects IS NULL;

CREATE TABLE checkpoints(
id INTEGER PRIMARY KEY,
branch INTEGER NOT NULL REFERENCES branches,
cycle INTEGER NOT NULL,
tree BLOB NOT NULL,
bodies BLOB NOT NULL,
UNIQUE (branch, cycle)
) STRICT;

CREATE TABLE contents(
id INTEGER PRIMARY KEY,
hash BLOB NOT NULL UNIQUE,
data BLOB NOT NULL
) STRICT;

CREATE TABLE uses(
branch INTEGER NOT NULL REFERENCES branches,
content INTEGER NOT NULL REFERENCES contents,
cycle INTEGER NOT NULL,
PRIMARY KEY (branch, content)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_by_content ON uses(content);

CREATE TABLE journal(
context INTEGER NOT NULL REFERENCES contexts,
revision INTEGER NOT NULL,
data BLOB NOT NULL,
PRIMARY KEY (context, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts(
id INTEGER PRIMARY KEY,
context INTEGER NOT NULL REFERENCES contexts,
attempt TEXT NOT NULL,
record TEXT NOT NULL,
UNIQUE (context, attempt)
) STRICT;

CREATE TABLE pins(
context INTEGER NOT NULL REFERENCES contexts,
cycle INTEGER NOT NULL,
label TEXT NOT NULL,
PRIMARY KEY (context, cycle)
) STRICT, WITHOUT ROWID;
";

/// Side records. Those of running calls are soon gone, so they are in the index itself.
const FORMAT_2: &str = "
CREATE TABLE side(
context INTEGER NOT NULL REFERENCES contexts,
kind TEXT NOT NULL,
key TEXT NOT NULL,
value BLOB NOT NULL,
PRIMARY KEY (context, kind, key)
) STRICT, WITHOUT ROWID;
";

/// What a head's row, its journal and its attempts have to be, so that damage is an error for every reader.
///
/// The column gets another name so that an older program that has the file open fails, instead of writing heads without a seal.
const FORMAT_3: &str = "
ALTER TABLE heads ADD COLUMN seal BLOB;
ALTER TABLE heads RENAME COLUMN key TO step;
";

/// Counts and checks for what damage could hide or exchange: side records, pins, the list of contexts, and where branches begin.
///
/// The check of a side record is before its value, so that it can be read without the value.
const FORMAT_4: &str = "
ALTER TABLE side RENAME TO old_side;
CREATE TABLE side(
context INTEGER NOT NULL REFERENCES contexts,
kind TEXT NOT NULL,
key TEXT NOT NULL,
sum INTEGER NOT NULL,
value BLOB NOT NULL,
PRIMARY KEY (context, kind, key)
) STRICT, WITHOUT ROWID;
ALTER TABLE branches ADD COLUMN seal INTEGER;
CREATE TABLE totals(
id INTEGER PRIMARY KEY,
contexts BLOB NOT NULL
) STRICT;
";

/// Brings a file from a format to the newest one. The caller has begun a transaction.
pub(super) fn migrate(connection: &Connection, from: u32) -> Result<()> {
    for migration in MIGRATIONS.iter().skip(from as usize) {
        connection.execute_batch(migration).map_err(fault)?;
    }
    seal::seal_all(connection, from)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(fault)?;
    connection.pragma_update(None, "user_version", FORMAT).map_err(fault)
}
