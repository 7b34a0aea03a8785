//! Damage of the rows beside the history: the head, the journal, the attempts. Every reader notices it.

use contextree_store::{AttemptRow, Backend, ContextId, LineChange, SideRecord, Sqlite, Step};
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

/// Makes a context with a commit, four entries of the journal and three attempts, one of them written twice.
fn fill(store: &Sqlite, name: &str) -> ContextId {
    let mut row = store.create(&new(name)).unwrap();
    let steps = [note("gone"), commits([1]), note("1"), note("2"), attempt("a"), attempt("b")];
    let more = [attempt("a"), attempt("c"), note("3"), note("4")];
    for step in steps.iter().chain(&more) {
        row = store.append(row.id, row.revision, step).unwrap();
    }
    row.id
}

/// Returns the code of the first error of a read, if there is any.
fn refusal(store: &Sqlite, id: ContextId) -> Option<&'static str> {
    let list = store.list(None, 9).map(drop);
    let journal = store.journal(id).map(drop);
    let attempts = store.attempts(id).map(drop);
    [list, journal, attempts].into_iter().find_map(Result::err).map(|error| error.code())
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
        "DELETE FROM journal WHERE context = 1 AND revision = 11",
        "DELETE FROM journal WHERE context = 1",
        "UPDATE journal SET revision = 6 WHERE context = 1 AND revision = 4",
        "UPDATE journal SET data = CAST('7' AS BLOB) WHERE context = 1 AND revision = 5",
        "INSERT INTO journal VALUES (1, 12, CAST('4' AS BLOB))",
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
        "seal = zeroblob(36)",
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
        after: 1,
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
