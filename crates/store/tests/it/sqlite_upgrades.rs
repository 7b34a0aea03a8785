//! Upgrades: a migration that is cut off at any point, and programs of two versions on one file.

use std::fs;
use std::path::{Path, PathBuf};

use contextree_store::{Backend, ContextId, Sqlite, SqliteOptions};
use contextree_testkit::suite::commits;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{contents_of, open, open_for_reading};

/// What makes format 3 of format 1, and format 4 of format 3, a statement at a time, as `schema.rs` has it. Published formats do not change.
const TO_3: [&str; 4] = [
    "CREATE TABLE side(context INTEGER NOT NULL REFERENCES contexts, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
     PRIMARY KEY (context, kind, key)) STRICT, WITHOUT ROWID",
    "ALTER TABLE heads ADD COLUMN seal BLOB",
    "ALTER TABLE heads RENAME COLUMN key TO step",
    "PRAGMA user_version = 3",
];
const TO_4: [&str; 7] = [
    "ALTER TABLE side RENAME TO old_side",
    "CREATE TABLE side(context INTEGER NOT NULL REFERENCES contexts, kind TEXT NOT NULL, key TEXT NOT NULL, sum INTEGER NOT NULL,
     value BLOB NOT NULL, PRIMARY KEY (context, kind, key)) STRICT, WITHOUT ROWID",
    "ALTER TABLE branches ADD COLUMN seal INTEGER",
    "CREATE TABLE totals(id INTEGER PRIMARY KEY, contexts BLOB NOT NULL) STRICT",
    "UPDATE heads SET seal = zeroblob(84)",
    "DROP TABLE old_side",
    "PRAGMA user_version = 4",
];

/// How a program of format 2 writes a head.
const OLD_WRITE: &str =
    "UPDATE heads SET revision = revision + 1, key = zeroblob(16) WHERE context = 1";

fn fixture(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name), &path)
        .unwrap();
    path
}

/// Copies a file with its log, as they are on the disk when a process is killed.
fn killed(path: &Path, folder: &Path) -> PathBuf {
    let name = path.file_name().unwrap();
    let copy = folder.join(name);
    fs::copy(path, &copy).unwrap();
    let log = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    if log(path).exists() {
        fs::copy(log(path), log(&copy)).unwrap();
    }
    copy
}

#[test]
fn a_migration_that_is_killed_at_any_step_leaves_the_old_format_and_is_done_again() {
    for (format, steps) in [(1, &TO_3[..]), (3, &TO_4[..])] {
        let folder = TempDir::new().unwrap();
        let name = format!("format-{format}.db");
        let intact = contents_of(&open_for_reading(fixture(folder.path(), &name)).unwrap(), "main");
        for done in 0..=steps.len() {
            let (before, after) = (TempDir::new().unwrap(), TempDir::new().unwrap());
            let path = fixture(before.path(), &name);
            let connection = Connection::open(&path).unwrap();
            // With no room in memory, changed pages go to the log before the transaction is committed.
            connection.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
            for step in &steps[..done] {
                connection.execute_batch(step).unwrap();
            }
            connection
                .execute_batch(
                    "UPDATE contexts SET settings = settings || printf('%.*c', 200000, 'x')",
                )
                .unwrap();
            let copy = killed(&path, after.path());
            assert_eq!(fs::read(&copy).unwrap()[60..64], [0, 0, 0, format], "after {done} steps");
            assert_eq!(contents_of(&open_for_reading(&copy).unwrap(), "main"), intact);
            let store = open(&copy).unwrap();
            assert_eq!(contents_of(&store, "main"), intact, "after {done} steps");
            let row = store.find("main").unwrap().unwrap();
            store.append(row.id, row.revision, &commits([4])).unwrap();
            assert_eq!(store.check().unwrap(), Vec::<String>::new());
        }
    }
}

/// Changes a file of format 3, migrates it, and returns what readers of the journal, of attempts and of side records are told.
fn migrated_with(sql: &str) -> [Option<&'static str>; 3] {
    let folder = TempDir::new().unwrap();
    let path = fixture(folder.path(), "format-3.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let store = open(&path).unwrap();
    assert_eq!(format_of(&path), 4);
    let id = ContextId(1);
    let told = [
        store.journal(id).map(drop),
        store.attempts(id).map(drop),
        store.side_records(id, None).map(drop),
    ];
    told.map(|told| told.err().map(|error| error.code()))
}

fn format_of(path: &Path) -> u32 {
    let file = Connection::open(path).unwrap();
    file.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_row_that_was_missing_before_the_migration_is_missing_after_it() {
    let damage = Some("E_STORE_CORRUPT");
    for (sql, told) in [
        ("", [None, None, None]),
        ("DELETE FROM journal", [damage, None, None]),
        ("UPDATE journal SET data = zeroblob(4)", [damage, None, None]),
        ("DELETE FROM attempts", [None, damage, None]),
    ] {
        assert_eq!(migrated_with(sql), told, "{sql}");
    }
}

#[test]
fn a_head_that_was_damaged_before_the_migration_is_damaged_after_it() {
    for change in [
        "revision = revision + 1",
        "snapshots = 2",
        "seal = NULL",
        "seal = zeroblob(36)",
        "digest = zeroblob(32)",
    ] {
        let folder = TempDir::new().unwrap();
        let path = fixture(folder.path(), "format-3.db");
        let file = Connection::open(&path).unwrap();
        file.execute(&format!("UPDATE heads SET {change} WHERE context = 1"), []).unwrap();
        drop(file);
        let store = open(&path).unwrap();
        assert_eq!(store.find("main").unwrap_err().code(), "E_STORE_CORRUPT", "{change}");
        assert!(store.find("fork").unwrap().is_some(), "{change}");
    }
}

#[test]
fn reading_a_file_of_an_older_format_changes_nothing_and_the_first_write_migrates_it() {
    for format in 1..=3 {
        let folder = TempDir::new().unwrap();
        let path = fixture(folder.path(), &format!("format-{format}.db"));
        let before = fs::read(&path).unwrap();
        let options = SqliteOptions { create: false, ..SqliteOptions::default() };
        let store = Sqlite::open(&path, &options).unwrap();
        assert!(!store.is_read_only());
        let (row, _) = contents_of(&store, "main");
        assert_eq!(store.list(None, 9).unwrap().len(), 2);
        assert!(store.find("missing").unwrap().is_none());
        store.attempts(row.id).unwrap();
        store.side_records(row.id, None).unwrap();
        store.check().unwrap();
        assert_eq!(format_of(&path), format);
        drop(store);
        assert_eq!(fs::read(&path).unwrap(), before);
        let store = Sqlite::open(&path, &options).unwrap();
        let read = store.find("main").unwrap().unwrap();
        let written = store.append(row.id, read.revision, &commits([4])).unwrap();
        assert_eq!(format_of(&path), 4);
        assert_eq!(store.find("main").unwrap(), Some(written), "readers follow");
        assert_eq!(store.list(None, 9).unwrap().len(), 2);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_program_of_an_older_format_that_has_the_file_open_can_read_and_not_write() {
    let folder = TempDir::new().unwrap();
    let path = fixture(folder.path(), "format-2.db");
    let old = Connection::open(&path).unwrap();
    old.prepare_cached(OLD_WRITE).map(drop).expect("in its own format it can");
    let new = open(&path).unwrap();
    let row = new.find("main").unwrap().unwrap();
    new.append(row.id, row.revision, &commits([4])).unwrap();
    let refused = old.prepare_cached(OLD_WRITE).and_then(|mut write| write.execute([]));
    assert!(refused.unwrap_err().to_string().contains("no such column: key"));
    let read = "SELECT count(*) FROM commits WHERE branch = 1";
    assert_eq!(old.query_row(read, [], |row| row.get::<_, i64>(0)).unwrap(), 4);
    drop(old);
    assert_eq!(contents_of(&new, "main").1.len(), 4);
}

#[test]
fn a_writer_of_an_older_format_holds_up_the_migration_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let path = fixture(folder.path(), "format-2.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(&format!("BEGIN IMMEDIATE; {OLD_WRITE}")).unwrap();
    let opening = std::thread::spawn(move || {
        open(path).map(|store: Sqlite| store.find("main").unwrap().unwrap().revision.get())
    });
    old.execute_batch("COMMIT").unwrap();
    assert_eq!(opening.join().unwrap().unwrap(), 5, "the step of the older program is there");
}
