//! Damage of the rows beside the history: the head, the journal, attempts, side records, pins, the list of contexts, and where branches
//! begin. Every reader notices it.

use contextree_store::{
    AttemptRow, Backend, ContextId, Cycle, LineChange, NewContext, Pin, SideChange, SidePage,
    SideRecord, Sqlite, Step, StoreError, Stretch,
};
use contextree_testkit::suite::{commits, new};
use rusqlite::Connection;

use crate::support::{Home, open};

fn note(text: &str) -> Step {
    Step { journal: Some(text.as_bytes().to_vec()), ..Step::default() }
}

fn attempt(id: &str) -> Step {
    let attempts = vec![AttemptRow { id: id.to_owned(), record: format!("record of {id}") }];
    Step { attempts, ..Step::default() }
}

fn records(entries: &[(&str, &str, Option<&str>)]) -> Step {
    let change = |(kind, key, value): &(&str, &str, Option<&str>)| SideChange {
        kind: (*kind).to_owned(),
        key: (*key).to_owned(),
        value: value.map(|value| value.as_bytes().to_vec()),
    };
    Step { side: entries.iter().map(change).collect(), ..Step::default() }
}

/// Makes a context with a commit, four entries of the journal, three attempts, one of them written twice, and side records, one written
/// twice, one deleted, one of a running call; and two pins.
fn fill(store: &Sqlite, name: &str) -> ContextId {
    let mut row = store.create(&new(name)).unwrap();
    let steps = [note("gone"), commits([1]), note("1"), note("2"), attempt("a"), attempt("b")];
    let kept =
        [("note.a", "1", Some("one")), ("note.a", "2", Some("two")), ("call", "c", Some("?"))];
    let changed =
        [("note.a", "1", Some("one again")), ("note.b", "1", Some("b")), ("note.a", "2", None)];
    let side = [records(&kept), records(&changed)];
    let more = [attempt("a"), attempt("c"), note("3"), note("4")];
    for step in steps.iter().chain(&side).chain(&more) {
        row = store.append(row.id, row.revision, step).unwrap();
    }
    for label in ["first", "second"] {
        store.pin(row.id, &Pin { cycle: Cycle(1), label: label.to_owned() }).unwrap();
    }
    row.id
}

/// Returns the code of the first error of a read, if there is any.
fn refusal(store: &Sqlite, id: ContextId) -> Option<&'static str> {
    let list = store.list(None, 9).map(drop);
    let journal = store.journal(id).map(drop);
    let attempts = store.attempts(id).map(drop);
    let pins = store.pins(id).map(drop);
    let side = side_refusal(store, id).map_or(Ok(()), Err);
    let told = [list, journal, attempts, pins, side].into_iter().find_map(Result::err);
    told.map(|error| error.code())
}

/// Returns the error of the first of several ways to read side records, if there is any.
fn side_refusal(store: &Sqlite, id: ContextId) -> Option<StoreError> {
    let page = SidePage { limit: 1, ..SidePage::of("note.a") };
    let reads = [
        store.side_records(id, None).map(drop),
        store.side_records(id, Some("call")).map(drop),
        store.side_records(id, Some("note.a")).map(drop),
        store.side_page(id, &page).map(drop),
        store.side_record(id, "note.a", "missing").map(drop),
    ];
    reads.into_iter().find_map(Result::err)
}

/// Changes a store by SQL, and returns what a reader is told. Then the store is as it was.
fn damaged(home: &Home, id: ContextId, sql: &str) -> Option<&'static str> {
    let mut file = Connection::open(home.path()).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    let saved = home.folder().join("saved.db");
    home.backup(&saved, &mut |_, _| {}).unwrap();
    assert!(file.execute(sql, []).unwrap() > 0, "{sql}");
    let told = refusal(home, id);
    let copy =
        Connection::open_with_flags(&saved, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    rusqlite::backup::Backup::new(&copy, &mut file)
        .unwrap()
        .run_to_completion(1_000, std::time::Duration::ZERO, None)
        .unwrap();
    drop(copy);
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(home.folder().join(format!("saved.db{end}"))).ok();
    }
    assert_eq!(refusal(home, id), None, "the store is as it was");
    told
}

#[test]
fn a_row_of_the_journal_or_an_attempt_that_is_missing_moved_or_altered_is_an_error() {
    let home = Home::new();
    let id = fill(&home, "main");
    let other = fill(&home, "other");
    for sql in [
        "DELETE FROM journal WHERE context = 1 AND revision = 4",
        "DELETE FROM journal WHERE context = 1 AND revision = 13",
        "DELETE FROM journal WHERE context = 1",
        "UPDATE journal SET revision = 6 WHERE context = 1 AND revision = 4",
        "UPDATE journal SET data = CAST('7' AS BLOB) WHERE context = 1 AND revision = 5",
        "INSERT INTO journal VALUES (1, 14, CAST('4' AS BLOB))",
        "UPDATE journal SET context = 1, revision = 20 WHERE context = 2 AND revision = 4",
        "DELETE FROM attempts WHERE context = 1 AND attempt = 'c'",
        "UPDATE attempts SET id = id + 100 WHERE context = 1 AND attempt = 'a'",
        "UPDATE attempts SET attempt = 'd' WHERE context = 1 AND attempt = 'a'",
        "UPDATE attempts SET context = 1, attempt = 'z' WHERE context = 2 AND attempt = 'a'",
    ] {
        assert_eq!(damaged(&home, id, sql), Some("E_STORE_CORRUPT"), "{sql}");
    }
    assert_eq!(refusal(&home, other), None);
}

#[test]
fn a_side_record_or_a_pin_that_is_missing_moved_or_altered_is_an_error() {
    let home = Home::new();
    let id = fill(&home, "main");
    let other = fill(&home, "other");
    for sql in [
        "DELETE FROM side WHERE context = 1 AND kind = 'call'",
        "DELETE FROM side WHERE context = 1 AND kind = 'note.a'",
        "DELETE FROM side WHERE context = 1 AND kind = 'note.b'",
        "UPDATE side SET key = '3' WHERE context = 1 AND kind = 'note.b'",
        "UPDATE side SET kind = 'note.c' WHERE context = 1 AND kind = 'note.b'",
        "UPDATE side SET value = CAST('x' AS BLOB) WHERE context = 1 AND kind = 'note.a'",
        "UPDATE side SET sum = sum + 1 WHERE context = 1 AND kind = 'note.a'",
        "UPDATE side SET context = 1, key = 'z' WHERE context = 2 AND kind = 'note.a'",
        "INSERT INTO side SELECT 1, kind, '9', sum, value FROM side WHERE kind = 'note.b' LIMIT 1",
        "DELETE FROM pins WHERE context = 1",
        "UPDATE pins SET label = 'third' WHERE context = 1",
        "UPDATE pins SET cycle = 2 WHERE context = 1",
        "UPDATE pins SET context = 1, cycle = 3 WHERE context = 2",
    ] {
        assert_eq!(damaged(&home, id, sql), Some("E_STORE_CORRUPT"), "{sql}");
    }
    assert_eq!(refusal(&home, other), None);
    assert!(home.unpin(id, Cycle(1)).unwrap() && !home.unpin(id, Cycle(1)).unwrap());
    assert_eq!(refusal(&home, id), None);
}

#[test]
fn a_context_that_is_missing_from_the_list_is_an_error() {
    let home = Home::new();
    let id = fill(&home, "main");
    fill(&home, "other");
    for sql in [
        "DELETE FROM heads WHERE context = 2",
        "DELETE FROM contexts WHERE id = 2",
        "UPDATE totals SET contexts = zeroblob(20)",
        "DELETE FROM totals",
    ] {
        assert_eq!(damaged(&home, id, sql), Some("E_STORE_CORRUPT"), "{sql}");
    }
    home.rename(id, "renamed").unwrap();
    let row = home.find("other").unwrap().unwrap();
    home.delete(row.id, row.revision).unwrap();
    assert_eq!(refusal(&home, id), None, "the list is counted after a deletion");
    assert_eq!(home.check().unwrap(), Vec::<String>::new());
    let file = Connection::open(home.path()).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM contexts").unwrap();
    assert!(home.check().unwrap().iter().any(|fault| fault.contains("list of contexts")));
    for (after, limit) in [(None, 1), (None, 9), (Some("a"), 1), (Some("z"), 9)] {
        assert_eq!(home.list(after, limit).unwrap_err().code(), "E_STORE_CORRUPT", "{after:?}");
    }
}

/// Makes the file of a store with contexts of these names.
fn file_of(names: &[&str]) -> Vec<u8> {
    let home = Home::new();
    for name in names {
        fill(&home, name);
    }
    let path = home.path();
    let folder = home.close();
    let bytes = std::fs::read(path).unwrap();
    drop(folder);
    bytes
}

#[test]
fn a_name_that_a_flipped_bit_hides_is_damage_and_never_free() {
    let sound = file_of(&["ccc1", "ccc2", "ccc3"]);
    let places: Vec<usize> =
        (0..sound.len() - 4).filter(|at| sound[*at..*at + 4] == *b"ccc2").collect();
    assert!(places.len() >= 2, "in the table and in the index");
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let mut refused = 0;
    for (place, bit) in places.iter().flat_map(|place| (0..32).map(move |bit| (*place, bit))) {
        let mut bytes = sound.clone();
        bytes[place + bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        let store = open(&path).unwrap();
        let (found, created) = (store.find("ccc2"), store.create(&new("ccc2")));
        let renamed = store.rename(ContextId(1), "ccc2");
        match found {
            Ok(row) => assert!(row.is_some(), "{place}, {bit}"),
            Err(error) => {
                assert_eq!(error.code(), "E_STORE_CORRUPT");
                refused += 1;
            }
        }
        for made in [created, renamed] {
            let code = made.expect_err("there is a context of that name").code();
            assert!(["E_STORE_CORRUPT", "E_CONTEXT_EXISTS"].contains(&code), "{code}");
        }
    }
    assert!(refused >= 64, "each bit of both names: {refused}");
}

#[test]
fn a_name_that_leads_to_no_row_is_damage_and_not_free() {
    let home = Home::new();
    let id = fill(&home, "main");
    assert!(home.find("other").unwrap().is_none());
    fill(&home, "other");
    for sql in ["DELETE FROM heads WHERE context = 2", "DELETE FROM contexts WHERE id = 2"] {
        let file = Connection::open(home.path()).unwrap();
        file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        file.execute(sql, []).unwrap();
        let told = [
            home.find("other").map(drop),
            home.create(&new("other")).map(drop),
            home.rename(id, "other").map(drop),
        ];
        for told in told {
            assert_eq!(told.unwrap_err().code(), "E_STORE_CORRUPT", "{sql}");
        }
    }
}

#[test]
fn many_contexts_are_created_and_looked_for_after_the_list_is_too_long_to_be_counted() {
    let home = Home::new();
    for number in 0..1_100 {
        let name = format!("context {number}");
        assert!(home.find(&name).unwrap().is_none());
        home.create(&new(&name)).unwrap();
    }
    // Another process changes the list, too.
    let other = open(home.path()).unwrap();
    other.create(&new("another")).unwrap();
    assert!(home.find("a third").unwrap().is_none() && home.find("another").unwrap().is_some());
    let file = Connection::open(home.path()).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM contexts WHERE id = 7").unwrap();
    let fresh = open(home.path()).unwrap();
    assert_eq!(fresh.find("context 6").unwrap_err().code(), "E_STORE_CORRUPT");
    assert_eq!(fresh.create(&new("context 6")).unwrap_err().code(), "E_STORE_CORRUPT");
}

#[test]
fn a_fork_never_continues_another_branch_than_its_own() {
    let home = Home::new();
    fill(&home, "main");
    let other = fill(&home, "other");
    let row = home.find("main").unwrap().unwrap();
    let from = Some(Stretch { branch: row.branch, upto: Cycle(1) });
    let fork = home.create(&NewContext { from, base: None, ..new("fork") }).unwrap();
    assert_eq!(home.lineage(fork.branch).unwrap().len(), 2);
    let file = Connection::open(home.path()).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    file.execute("UPDATE branches SET parent = ? WHERE id = ?", [other.get(), fork.id.get()])
        .unwrap();
    assert_eq!(home.lineage(fork.branch).unwrap_err().code(), "E_STORE_CORRUPT");
}

#[test]
fn whatever_is_changed_in_the_row_of_a_context_is_an_error_for_every_reader() {
    let home = Home::new();
    let id = fill(&home, "main");
    let changes = [
        "revision = revision + 1",
        "snapshots = snapshots + 1",
        "updated_ns = updated_ns + 1",
        "cycle = cycle + 1",
        "digest = zeroblob(32)",
        "step = zeroblob(16)",
        "seal = NULL",
        "seal = zeroblob(84)",
    ];
    for change in changes {
        let sql = format!("UPDATE heads SET {change} WHERE context = 1");
        assert_eq!(damaged(&home, id, &sql), Some("E_STORE_CORRUPT"), "{change}");
    }
    for change in ["name = 'niam'", "settings = '{ }'", "created_ns = created_ns + 1"] {
        let sql = format!("UPDATE contexts SET {change} WHERE id = 1");
        assert_eq!(damaged(&home, id, &sql), Some("E_STORE_CORRUPT"), "{change}");
    }
}

#[test]
fn counts_follow_renaming_and_lines_that_leave_and_come_back() {
    let home = Home::new();
    let id = fill(&home, "main");
    let row = home.rename(id, "renamed").unwrap();
    assert_eq!(refusal(&home, id), None);
    let row = home.append(id, row.revision, &commits([2])).unwrap();
    let leave = LineChange::Leave {
        after: Cycle(1),
        head: commits([1]).head,
        name: "line".to_owned(),
        attempts: vec!["b".to_owned()],
        note: SideRecord { kind: "undone".into(), key: "1".into(), value: vec![1] },
    };
    let step = Step { line: Some(leave), journal: Some(b"after".to_vec()), ..attempt("d") };
    let row = home.append(id, row.revision, &step).unwrap();
    let line = home.find("line").unwrap().unwrap();
    let ids = |context| -> Vec<String> {
        home.attempts(context).unwrap().into_iter().map(|attempt| attempt.id).collect()
    };
    assert_eq!(
        (ids(id), ids(line.id)),
        (vec!["a".into(), "c".into(), "d".into()], vec!["b".into()])
    );
    assert_eq!(home.journal(id).unwrap().1, [b"after"]);
    let rejoin = LineChange::Rejoin { name: "line".to_owned() };
    let step = Step { line: Some(rejoin), reset_journal: true, ..Step::default() };
    home.append(id, row.revision, &step).unwrap();
    assert_eq!((refusal(&home, id), ids(id).len()), (None, 4));
}

#[test]
fn an_older_program_that_has_the_file_open_cannot_write_heads_without_a_seal() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("format-2.db");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-2.db");
    std::fs::copy(fixture, &path).unwrap();
    let older = Connection::open(&path).unwrap();
    let text = "UPDATE heads SET revision = revision + 1, key = NULL WHERE context = 1";
    let mut statement = older.prepare(text).unwrap();
    let store = open(&path).unwrap();
    let main = store.find("main").unwrap().unwrap();
    assert!(statement.execute([]).is_err(), "its statement names a column that is gone");
    assert_eq!(refusal(&store, main.id), None);
    let damage = Connection::open(&path).unwrap();
    damage.execute("DELETE FROM journal", []).unwrap();
    assert_eq!(refusal(&store, main.id), Some("E_STORE_CORRUPT"), "what was there is counted");
}
