//! Files: whose they are, which format they have, and where they can be opened.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contextree_store::{Backend, Cycle, Revision, Sqlite, SqliteOptions, Step, StoreError};
use contextree_testkit::suite::{commits, new};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{Home, contents_of, files, grow, open, open_for_reading};

fn refusal(path: &Path) -> StoreError {
    let error = open(path).map(drop).unwrap_err();
    let reading = open_for_reading(path).map(drop).unwrap_err();
    assert_eq!(error.code(), reading.code(), "{error} / {reading}");
    error
}

#[test]
fn a_store_is_one_file_when_it_is_closed_and_everything_is_in_it() {
    let home = Home::new();
    let row = home.create(&new("main")).unwrap();
    let row = grow(&*home, row, 20);
    assert_eq!(home.find("main").unwrap(), Some(row.clone()));
    let before = contents_of(&*home, "main");
    let folder = home.close();
    assert_eq!(files(folder.path()), ["store.db"]);
    let again = open(folder.path().join("store.db")).unwrap();
    assert_eq!(contents_of(&again, "main"), before);
    assert_eq!(before.0, row);
}

#[test]
fn who_only_reads_a_large_store_makes_no_reserve() {
    let home = Home::new();
    let row = home.create(&new("main")).unwrap();
    let mut large = commits([1]);
    large.commits[0].bodies = vec![7; 3 << 20];
    home.append(row.id, row.revision, &large).unwrap();
    let folder = home.close();
    let path = folder.path().join("store.db");
    let options = SqliteOptions { create: false, ..SqliteOptions::default() };
    let store = Sqlite::open(&path, &options).unwrap();
    contents_of(&store, "main");
    store.list(None, 9).unwrap();
    drop(store);
    assert_eq!(files(folder.path()), ["store.db"]);
    let store = Sqlite::open(&path, &options).unwrap();
    let row = store.find("main").unwrap().unwrap();
    store.append(row.id, row.revision, &commits([2])).unwrap();
    drop(store);
    assert_eq!(files(folder.path()), ["store.db", "store.db-reserve"]);
}

#[test]
fn the_header_says_what_the_file_is() {
    let home = Home::new();
    let folder = home.close();
    let header = fs::read(folder.path().join("store.db")).unwrap();
    assert_eq!(&header[..16], b"SQLite format 3\0");
    assert_eq!(&header[68..72], b"CTXT", "the application id");
    assert_eq!(header[60..64], 4_u32.to_be_bytes(), "the version of the format");
    assert_eq!(header[16..18], 4096_u16.to_be_bytes(), "the size of a page");
    assert_eq!(header[18..20], [2, 2], "a write-ahead log");
}

#[test]
fn a_file_of_somebody_else_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let check = |name: &str, make: &dyn Fn(&Path), expected: &str| {
        let path = folder.path().join(name);
        make(&path);
        let before = fs::read(&path).unwrap();
        let error = refusal(&path);
        let expected = format!("not a Contextree store: `{}` is {expected}", path.display());
        assert_eq!((error.code(), error.to_string()), ("E_STORE_FOREIGN", expected));
        assert!(error.hint().is_some());
        assert_eq!(fs::read(&path).unwrap(), before, "`{name}` was changed");
    };
    let text = "no database, but long enough to have a header of a hundred bytes. ".repeat(20);
    check("text", &|path| fs::write(path, &text).unwrap(), "not a SQLite file");
    check("short", &|path| fs::write(path, "x").unwrap(), "not a SQLite file");
    check(
        "tables",
        &|path| Connection::open(path).unwrap().execute_batch("CREATE TABLE t(x)").unwrap(),
        "a SQLite file without an application id",
    );
    check(
        "application",
        &|path| {
            let sql = "PRAGMA application_id = 0x0f055112; CREATE TABLE t(x)";
            Connection::open(path).unwrap().execute_batch(sql).unwrap();
        },
        "a SQLite file of another application, with id 0x0f055112",
    );
}

#[test]
fn a_file_of_a_newer_format_is_refused_and_says_so() {
    let home = Home::new();
    let path = home.path();
    let folder = home.close();
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    let error = refusal(&path);
    assert_eq!(error, StoreError::Version { found: 7, supported: 4 });
    assert_eq!(error.to_string(), "the store has format 7; this version reads up to 4");
    assert!(error.hint().is_some());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 0").unwrap();
    assert_eq!(refusal(&path).code(), "E_STORE_CORRUPT");
    drop(folder);
}

#[test]
fn an_empty_file_becomes_a_store_only_if_one_is_to_be_created() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a file: with?odd#name%20.db");
    fs::write(&path, "").unwrap();
    let given = SqliteOptions { create: false, ..SqliteOptions::default() };
    for refused in [open_for_reading(&path), Sqlite::open(&path, &given)] {
        let error = refused.map(drop).unwrap_err();
        assert_eq!(error.code(), "E_STORE_NOT_FOUND", "{error}");
        assert_eq!(fs::metadata(&path).unwrap().len(), 0, "who looks at it changes nothing");
    }
    open(&path).unwrap().create(&new("main")).unwrap();
    assert_eq!(open_for_reading(&path).unwrap().list(None, 9).unwrap().len(), 1);
}

#[test]
fn a_file_that_is_not_there_is_made_only_if_that_is_wanted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let given = SqliteOptions { create: false, ..SqliteOptions::default() };
    let error = Sqlite::open(&path, &given).map(drop).unwrap_err();
    assert_eq!(error.code(), "E_STORE_NOT_FOUND");
    assert_eq!(open_for_reading(&path).map(drop).unwrap_err().code(), "E_STORE_NOT_FOUND");
    assert_eq!(files(folder.path()), Vec::<String>::new());
    assert_eq!(open(folder.path()).map(drop).unwrap_err().code(), "E_STORE_FOREIGN", "a folder");
    let nowhere = folder.path().join("no/such/folder/store.db");
    assert_eq!(open(nowhere).map(drop).unwrap_err().code(), "E_STORE_IO");
}

#[test]
fn a_pipe_is_refused_without_waiting_for_another_process() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pipe.db");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    assert_eq!(refusal(&path).code(), "E_STORE_FOREIGN");
}

#[test]
fn a_store_and_its_copies_can_be_read_by_their_owner_only() {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = Home::new();
    home.create(&new("main")).unwrap();
    let copy = home.folder().join("copy.db");
    home.backup(&copy, &mut |_, _| {}).unwrap();
    let restored = home.folder().join("restored.db");
    Sqlite::restore(&copy, &restored, &mut |_, _| {}).unwrap();
    let log = home.folder().join("store.db-wal");
    for path in [&home.path(), &copy, &restored, &log] {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
}

/// Copies a fixture. It was written by `cargo run -p contextree-store --example fixture`, and stays as it is.
fn fixture(folder: &TempDir, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::copy(fixture, &path).unwrap();
    path
}

fn check_fixture(store: &Sqlite, side: &[&[u8]]) {
    let names: Vec<String> = store.list(None, 9).unwrap().into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["fork", "main"]);
    let (main, bodies) = contents_of(store, "main");
    assert_eq!((main.revision.get(), main.snapshots), (4, 3));
    assert_eq!(main.settings, r#"{"edition":1}"#);
    assert_eq!((main.created_ns, main.updated_ns), (1_000, 2_000));
    assert_eq!(main.head.map(|head| head.cycle), Some(Cycle(3)));
    assert_eq!(bodies, [b"bodies 1", b"bodies 2", b"bodies 3"]);
    assert_eq!(store.journal(main.id).unwrap(), (Revision(4), vec![b"edit".to_vec()]));
    assert_eq!(store.attempts(main.id).unwrap()[0].record, r#"{"model":"m"}"#);
    let records = store.side_records(main.id, None).unwrap();
    assert_eq!(records.iter().map(|record| &record.value[..]).collect::<Vec<_>>(), side);
    let value = store.side_record(main.id, "call", "attempt:1").unwrap();
    assert_eq!(value.as_deref(), side.first().copied());
    assert_eq!(store.pins(main.id).unwrap()[0].label, "release");
    assert_eq!(store.contents(&[[5; 32]]).unwrap(), [Some(b"shared".to_vec())]);
    assert_eq!(store.checkpoint(main.branch, Cycle(9)).unwrap().unwrap().tree, b"tree 2");
    let fork = store.find("fork").unwrap().unwrap();
    assert_eq!((fork.snapshots, store.lineage(fork.branch).unwrap().len()), (3, 2));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_of_format_1_is_read_and_becomes_one_of_format_4_when_it_is_opened_for_writing() {
    let folder = TempDir::new().unwrap();
    let path = fixture(&folder, "format-1.db");
    let before = fs::read(&path).unwrap();
    check_fixture(&open_for_reading(&path).unwrap(), &[]);
    assert!(fs::read(&path).unwrap() == before, "to be opened for reading changes nothing");
    check_fixture(&open(&path).unwrap(), &[]);
    assert_eq!(fs::read(&path).unwrap()[60..64], [0, 0, 0, 4]);
    let store = open(&path).unwrap();
    let row = store.find("main").unwrap().unwrap();
    store.append(row.id, row.revision, &commits([4])).unwrap();
}

#[test]
fn a_file_of_format_2_is_read_and_migrated() {
    let folder = TempDir::new().unwrap();
    let path = fixture(&folder, "format-2.db");
    let before = fs::read(&path).unwrap();
    check_fixture(&open_for_reading(&path).unwrap(), &[b"request"]);
    assert!(fs::read(&path).unwrap() == before, "to be opened for reading changes nothing");
    check_fixture(&open(&path).unwrap(), &[b"request"]);
    assert_eq!(fs::read(&path).unwrap()[60..64], [0, 0, 0, 4]);
    let store = open(&path).unwrap();
    let row = store.find("main").unwrap().unwrap();
    store.append(row.id, row.revision, &commits([4])).unwrap();
}

#[test]
fn a_file_of_format_3_is_read_and_migrated() {
    let folder = TempDir::new().unwrap();
    let path = fixture(&folder, "format-3.db");
    let before = fs::read(&path).unwrap();
    check_fixture(&open_for_reading(&path).unwrap(), &[b"request"]);
    assert!(fs::read(&path).unwrap() == before, "to be opened for reading changes nothing");
    check_fixture(&open(&path).unwrap(), &[b"request"]);
    assert_eq!(fs::read(&path).unwrap()[60..64], [0, 0, 0, 4]);
    let store = open(&path).unwrap();
    let row = store.find("main").unwrap().unwrap();
    store.append(row.id, row.revision, &commits([4])).unwrap();
}

#[test]
fn a_file_of_format_4_is_read() {
    let folder = TempDir::new().unwrap();
    let path = fixture(&folder, "format-4.db");
    let before = fs::read(&path).unwrap();
    check_fixture(&open_for_reading(&path).unwrap(), &[b"request"]);
    check_fixture(&open(&path).unwrap(), &[b"request"]);
    assert!(fs::read(&path).unwrap() == before, "to be opened changes nothing");
    let store = open(&path).unwrap();
    let row = store.find("main").unwrap().unwrap();
    store.append(row.id, row.revision, &commits([4])).unwrap();
}

#[test]
fn a_store_that_is_open_for_reading_refuses_to_write_and_sees_what_others_write() {
    let home = Home::new();
    let row = grow(&*home, home.create(&new("main")).unwrap(), 3);
    let reader = open_for_reading(home.path()).unwrap();
    assert!(reader.is_read_only() && !home.is_read_only());
    assert_eq!(contents_of(&reader, "main"), contents_of(&*home, "main"));
    let row = grow(&*home, row, 3);
    assert_eq!(reader.find("main").unwrap(), Some(row.clone()));
    let refusals = [
        reader.create(&new("other")).map(drop),
        reader.append(row.id, row.revision, &Step::default()).map(drop),
        reader.delete(row.id, row.revision),
        reader.unpin(row.id, Cycle(1)).map(drop),
        reader.reclaim().map(drop),
    ];
    for refusal in refusals {
        assert_eq!(refusal.unwrap_err().code(), "E_STORE_READ_ONLY");
    }
}

#[test]
fn a_reader_keeps_what_it_began_with_while_others_write() {
    let home = Home::new();
    let row = grow(&*home, home.create(&new("main")).unwrap(), 50);
    let mut row_now = row.clone();
    let mut seen = 0;
    let visit = &mut |_| {
        seen += 1;
        row_now = grow(&*home, row_now.clone(), 1);
        Ok(())
    };
    home.commits(row.branch, Cycle::ZERO, Cycle::MAX, visit).unwrap();
    assert_eq!((seen, row_now.snapshots), (50, 100));
}

#[test]
fn who_has_to_wait_too_long_is_told_so() {
    let busy_timeout = Duration::from_millis(20);
    let home = Home::with(&SqliteOptions { busy_timeout, ..SqliteOptions::default() });
    let row = home.create(&new("main")).unwrap();
    let other = Connection::open(home.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = home.append(row.id, Revision(1), &commits([1])).unwrap_err();
    assert_eq!(error.code(), "E_STORE_BUSY");
    let expected = "the store is busy: another process has been writing for 20 ms without a pause";
    assert_eq!(error.to_string(), expected);
    assert_eq!(home.find("main").unwrap(), Some(row.clone()), "readers do not wait");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(home.append(row.id, Revision(1), &commits([1])).unwrap().revision, Revision(2));
}

#[test]
fn space_that_is_free_goes_back_to_the_system() {
    let home = Home::new();
    let main = grow(&*home, home.create(&new("main")).unwrap(), 300);
    let small = home.create(&new("small")).unwrap();
    let full = home.reclaim().unwrap().unwrap();
    home.delete(main.id, main.revision).unwrap();
    let size = home.reclaim().unwrap().unwrap();
    assert!(size * 3 < full, "{size} of {full} bytes are left");
    assert_eq!(fs::metadata(home.path()).unwrap().len(), size);
    assert_eq!(fs::metadata(home.folder().join("store.db-wal")).unwrap().len(), 0);
    assert_eq!(home.find("small").unwrap(), Some(small));
    assert_eq!(home.check().unwrap(), Vec::<String>::new());
}

#[test]
fn the_log_beside_the_file_stays_small() {
    let home = Home::new();
    grow(&*home, home.create(&new("main")).unwrap(), 1_500);
    let log = fs::metadata(home.folder().join("store.db-wal")).unwrap().len();
    assert!(log < 6 << 20, "{log} bytes after 1,500 steps");
}

#[test]
fn any_tool_can_read_the_file_while_it_is_in_use() {
    let home = Home::new();
    grow(&*home, home.create(&new("main")).unwrap(), 7);
    let tool = Connection::open(home.path()).unwrap();
    let sql = "SELECT count(*), max(cycle) FROM commits JOIN contexts ON contexts.id = branch WHERE name = 'main'";
    let found: (i64, i64) = tool.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(found, (7, 7));
}
