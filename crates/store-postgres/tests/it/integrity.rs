//! Rows beside the history that are missing, repeated, moved or altered: side records, pins, contexts. Every reader notices it.

use contextree_store::{
    Backend, ContextId, Cycle, LineChange, NewContext, Pin, SideChange, SidePage, SideRecord, Step,
    StoreError, Stretch,
};
use contextree_store_postgres::Postgres;

use crate::support::{commit, create, key, new, schema};

/// A store in a schema of its own, on a server where tests may do anything.
struct Home {
    store: Postgres,
    schema: String,
}

impl Home {
    fn new() -> Option<Home> {
        let server = contextree_testkit::postgres::shared();
        let parameters = schema();
        let schema = parameters.strip_prefix("schema=").unwrap().to_owned();
        let store = Postgres::open(&server.url_with(&parameters)).unwrap();
        server.is_own().then_some(Home { store, schema })
    }

    /// Runs statements that no foreign key holds up; `{s}` is the schema.
    fn run(&self, sql: &str) {
        let text = format!(
            "SET session_replication_role = replica; {sql}; RESET session_replication_role"
        )
        .replace("{s}", &self.schema);
        self.store.with_connection(async |client| client.batch_execute(&text).await).unwrap();
    }

    /// Changes the store by SQL, and returns what a reader is told. Then the store is as it was.
    fn damaged(&self, id: ContextId, sql: &str) -> Option<&'static str> {
        let tables = ["side", "pin", "context", "branch"];
        for table in tables {
            self.run(&format!("CREATE TABLE {{s}}.saved_{table} AS SELECT * FROM {{s}}.{table}"));
        }
        self.run(sql);
        let told = refusal(&self.store, id);
        for table in tables {
            self.run(&format!(
                "DELETE FROM {{s}}.{table}; INSERT INTO {{s}}.{table} SELECT * FROM {{s}}.saved_{table}; DROP TABLE {{s}}.saved_{table}"
            ));
        }
        assert_eq!(refusal(&self.store, id), None, "the store is as it was");
        told
    }
}

fn records(entries: &[(&str, &str, Option<&str>)]) -> Step {
    let change = |(kind, key, value): &(&str, &str, Option<&str>)| SideChange {
        kind: (*kind).to_owned(),
        key: (*key).to_owned(),
        value: value.map(|value| value.as_bytes().to_vec()),
    };
    Step { side: entries.iter().map(change).collect(), key: key(), ..Step::default() }
}

/// Makes a context with side records, one written twice, one deleted, one of a running call; and two pins, one of them changed.
fn fill(store: &Postgres, name: &str) -> ContextId {
    let first = records(&[("note.first", "1", Some("first")), ("call", "b", Some("begin"))]);
    let mut row = store.create(&NewContext { first, ..new(name) }).unwrap();
    let kept =
        [("note.a", "1", Some("one")), ("note.a", "2", Some("two")), ("call", "c", Some("?"))];
    let changed = [
        ("note.a", "1", Some("one again")),
        ("note.b", "1", Some("b")),
        ("note.a", "2", None),
        ("note.a", "never", None),
        ("call", "b", None),
    ];
    let both = Step { side: records(&[("note.c", "1", Some("c"))]).side, ..commit(2, "two") };
    for step in [commit(1, "one"), records(&kept), records(&changed), both] {
        row = store.append(row.id, row.revision, &step).unwrap();
    }
    for (cycle, label) in [(1, "first"), (1, "second"), (2, "other")] {
        store.pin(row.id, &Pin { cycle: Cycle(cycle), label: label.to_owned() }).unwrap();
    }
    row.id
}

/// Returns the code of the first error of a read, if there is any.
fn refusal(store: &Postgres, id: ContextId) -> Option<&'static str> {
    let page = SidePage { limit: 1, ..SidePage::of("note.a") };
    let reads: [Result<(), StoreError>; 8] = [
        store.list(None, 9).map(drop),
        store.list(Some("a"), 1).map(drop),
        store.pins(id).map(drop),
        store.side_records(id, None).map(drop),
        store.side_records(id, Some("call")).map(drop),
        store.side_records(id, Some("note.a")).map(drop),
        store.side_page(id, &page).map(drop),
        store.side_record(id, "note.a", "missing").map(drop),
    ];
    reads.into_iter().find_map(Result::err).map(|error| error.code())
}

#[test]
fn a_side_record_or_a_pin_that_is_missing_moved_or_altered_is_an_error() {
    let Some(home) = Home::new() else { return };
    let id = fill(&home.store, "main");
    let other = fill(&home.store, "other");
    assert_eq!((refusal(&home.store, id), refusal(&home.store, other)), (None, None));
    for sql in [
        "DELETE FROM {s}.side WHERE context = {id} AND kind = 'call'",
        "DELETE FROM {s}.side WHERE context = {id} AND kind = 'note.a'",
        "DELETE FROM {s}.side WHERE context = {id} AND kind = 'note.b'",
        "UPDATE {s}.side SET key = '3' WHERE context = {id} AND kind = 'note.b'",
        "UPDATE {s}.side SET kind = 'note.z' WHERE context = {id} AND kind = 'note.b'",
        "UPDATE {s}.side SET value = 'x' WHERE context = {id} AND kind = 'note.a'",
        "UPDATE {s}.side SET sum = sum + 1 WHERE context = {id} AND kind = 'note.b'",
        "UPDATE {s}.side SET context = {id}, key = 'z' WHERE context = {other} AND kind = 'note.a'",
        "INSERT INTO {s}.side SELECT {id}, kind, '9', value, sum, entry FROM {s}.side WHERE kind = 'note.b' LIMIT 1",
        "DELETE FROM {s}.pin WHERE context = {id} AND cycle = 1",
        "UPDATE {s}.pin SET label = 'third' WHERE context = {id} AND cycle = 1",
        "UPDATE {s}.pin SET cycle = 3 WHERE context = {id} AND cycle = 1",
        "UPDATE {s}.pin SET context = {id}, cycle = 3 WHERE context = {other} AND cycle = 1",
        "UPDATE {s}.context SET side_rows = side_rows + 1 WHERE id = {id}",
        "UPDATE {s}.context SET pin_sum = pin_sum + 1 WHERE id = {id}",
    ] {
        let sql = sql.replace("{id}", &id.to_string()).replace("{other}", &other.to_string());
        assert_eq!(home.damaged(id, &sql), Some("E_STORE_CORRUPT"), "{sql}");
    }
    assert!(home.store.unpin(id, Cycle(1)).unwrap() && !home.store.unpin(id, Cycle(1)).unwrap());
    assert_eq!(refusal(&home.store, id), None);
}

#[test]
fn a_context_that_is_missing_from_the_list_is_an_error() {
    let Some(home) = Home::new() else { return };
    let store = &home.store;
    let (id, other) = (fill(store, "main"), fill(store, "other"));
    for sql in [
        "DELETE FROM {s}.context WHERE id = {other}",
        "UPDATE {s}.context SET name = 'third' WHERE id = {other}",
        "UPDATE {s}.context SET id = 7 WHERE id = {other}",
        "UPDATE {s}.branch SET named = named + 1 WHERE id = {other}",
        "UPDATE {s}.branch SET named = NULL WHERE id = {other}",
        "DELETE FROM {s}.branch WHERE id = {other}",
    ] {
        let sql = sql.replace("{other}", &other.to_string());
        assert_eq!(home.damaged(id, &sql), Some("E_STORE_CORRUPT"), "{sql}");
    }
    // What deletes, renames and forks keeps count.
    store.rename(id, "renamed").unwrap();
    let row = store.find("other").unwrap().unwrap();
    let from = Some(Stretch { branch: row.branch, upto: Cycle(1) });
    store.create(&NewContext { from, ..new("fork") }).unwrap();
    store.delete(row.id, row.revision).unwrap();
    assert_eq!(refusal(store, id), None, "the branch of a deleted context is kept for a fork");
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    home.run("DELETE FROM {s}.context WHERE name = 'renamed'");
    assert!(store.check().unwrap().iter().any(|fault| fault.contains("list of contexts")));
    home.run("UPDATE {s}.context SET name = 'other name'");
    assert!(store.check().unwrap().iter().any(|fault| fault.contains("do not have the name")));
}

#[test]
fn a_name_whose_row_is_missing_or_altered_is_damage_and_not_unknown() {
    for change in [
        "DELETE FROM {s}.context WHERE name = 'other'",
        "UPDATE {s}.context SET name = 'othes' WHERE name = 'other'",
    ] {
        let Some(home) = Home::new() else { return };
        fill(&home.store, "main");
        assert_eq!(home.store.find("other").unwrap(), None);
        fill(&home.store, "other");
        home.run(change);
        assert_eq!(home.store.find("other").unwrap_err().code(), "E_STORE_CORRUPT", "{change}");
        assert!(home.store.find("main").unwrap().is_some());
    }
}

#[test]
fn a_list_of_more_contexts_than_are_counted_is_read() {
    let Some(home) = Home::new() else { return };
    create(&home.store, "a");
    home.run("INSERT INTO {s}.branch (id, named) SELECT number, 1 FROM generate_series(1, 1100) AS number; INSERT INTO {s}.context (id, name, branch, revision, snapshots, settings, created_ns, written_ns, keys) SELECT number, 'n' || number, number, 1, 0, '{}', 1, 1, '' FROM generate_series(1, 1100) AS number");
    assert_eq!(home.store.list(None, 2_000).unwrap().len(), 1_101);
    assert_eq!(home.store.list(Some("a"), 10).unwrap().len(), 10);
    let faults = home.store.check().unwrap();
    assert_eq!(faults.len(), 1, "whoever looks at all of them still counts: {faults:?}");
    home.run("DELETE FROM {s}.context WHERE id < 200");
    assert_eq!(home.store.list(None, 5).unwrap_err().code(), "E_STORE_CORRUPT");
}

#[test]
fn counts_follow_lines_that_leave_and_come_back() {
    let Some(home) = Home::new() else { return };
    let store = &home.store;
    let id = fill(store, "main");
    let row = store.find("main").unwrap().unwrap();
    let leave = LineChange::Leave {
        after: Cycle(1),
        head: commit(1, "one").head,
        name: "line".to_owned(),
        attempts: Vec::new(),
        note: SideRecord { kind: "undone".into(), key: "1".into(), value: vec![1] },
    };
    let step = Step { line: Some(leave), ..records(&[("note.d", "1", Some("d"))]) };
    let row = store.append(id, row.revision, &step).unwrap();
    let line = store.find("line").unwrap().unwrap();
    assert_eq!((refusal(store, id), refusal(store, line.id)), (None, None));
    assert_eq!((store.pins(id).unwrap().len(), store.pins(line.id).unwrap().len()), (1, 1));
    let rejoin = LineChange::Rejoin { name: "line".to_owned() };
    let step = Step { line: Some(rejoin), reset_journal: true, key: key(), ..Step::default() };
    store.append(id, row.revision, &step).unwrap();
    assert_eq!((refusal(store, id), store.pins(id).unwrap().len()), (None, 2));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
