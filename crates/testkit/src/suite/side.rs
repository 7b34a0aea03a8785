//! Side records: values beside a history.

use super::{commits, create, new, ok, refused};
use contextree_store::{Backend, NewContext, SideChange, SidePage, SideRecord, Step};

fn put(kind: &str, key: &str, value: &[u8]) -> SideChange {
    SideChange { kind: kind.to_owned(), key: key.to_owned(), value: Some(value.to_vec()) }
}

fn drop_of(kind: &str, key: &str) -> SideChange {
    SideChange { kind: kind.to_owned(), key: key.to_owned(), value: None }
}

fn step(side: Vec<SideChange>) -> Step {
    Step { side, ..Step::default() }
}

fn names(records: &[SideRecord]) -> Vec<String> {
    let name = |record: &SideRecord| {
        format!("{}/{}={}", record.kind, record.key, String::from_utf8_lossy(&record.value))
    };
    records.iter().map(name).collect()
}

/// Side records are written, replaced and deleted with the step that says so.
pub fn side_records_change_with_a_step(store: &dyn Backend) {
    let row = create(store, "a");
    let other = create(store, "b");
    let first = vec![put("call", "x", b"1"), put("call", "X", b"2"), put("adapter", "z", b"3")];
    let row = ok(store.append(row.id, row.revision, &step(first)));
    ok(store.append(other.id, other.revision, &step(vec![put("call", "x", b"other")])));
    let all = ok(store.side_records(row.id, None));
    assert_eq!(names(&all), ["adapter/z=3", "call/X=2", "call/x=1"]);
    assert_eq!(names(&ok(store.side_records(row.id, Some("call")))), ["call/X=2", "call/x=1"]);
    assert_eq!(ok(store.side_record(row.id, "call", "x")), Some(b"1".to_vec()));
    assert_eq!(ok(store.side_record(row.id, "adapter", "x")), None);
    // In one step: one is replaced, one deleted, one added, one deleted that is not there.
    let changes = vec![
        put("call", "x", b"new"),
        drop_of("adapter", "z"),
        put("call", "y", &vec![0; 100_000]),
        drop_of("call", "nothing"),
    ];
    let row = ok(store.append(row.id, row.revision, &step(changes)));
    let keys: Vec<String> =
        ok(store.side_records(row.id, None)).into_iter().map(|record| record.key).collect();
    assert_eq!(keys, ["X", "x", "y"]);
    assert_eq!(ok(store.side_record(row.id, "call", "y")), Some(vec![0; 100_000]));
    // Of two changes the later counts.
    let changes = vec![put("call", "x", b"1"), drop_of("call", "x"), drop_of("call", "X")];
    let changes = [changes, vec![put("call", "X", b"last"), drop_of("call", "y")]].concat();
    let row = ok(store.append(row.id, row.revision, &step(changes)));
    assert_eq!(names(&ok(store.side_records(row.id, None))), ["call/X=last"]);
    assert_eq!(ok(store.side_record(other.id, "call", "x")), Some(b"other".to_vec()));
}

/// A step that is refused, or given twice, changes side records not at all, or once.
pub fn side_records_follow_the_step_they_belong_to(store: &dyn Backend) {
    let row = create(store, "a");
    let named = Step { key: super::key(1), ..step(vec![put("call", "x", b"1")]) };
    let now = ok(store.append(row.id, row.revision, &named));
    let again = ok(store.append(row.id, row.revision, &named));
    assert_eq!(again.revision, now.revision);
    let late = step(vec![drop_of("call", "x"), put("call", "y", b"2")]);
    refused(store.append(row.id, row.revision, &late), "E_CONFLICT");
    assert_eq!(names(&ok(store.side_records(row.id, None))), ["call/x=1"]);
    // Together with everything else that a step may have.
    let whole = Step {
        journal: Some(b"work".to_vec()),
        side: vec![drop_of("call", "x"), put("call", "y", b"2")],
        ..commits([1])
    };
    ok(store.append(row.id, now.revision, &whole));
    assert_eq!(names(&ok(store.side_records(row.id, None))), ["call/y=2"]);
    assert_eq!(ok(store.journal(row.id)).1, [b"work".to_vec()]);
}

/// A context can be made with side records, and takes them along when it is deleted.
pub fn side_records_come_and_go_with_a_context(store: &dyn Backend) {
    let first = step(vec![put("call", "x", b"1")]);
    let row = ok(store.create(&NewContext { first, ..new("a") }));
    assert_eq!(names(&ok(store.side_records(row.id, None))), ["call/x=1"]);
    ok(store.delete(row.id, row.revision));
    assert!(ok(store.side_records(row.id, None)).is_empty());
    assert!(ok(store.check()).is_empty());
}

/// A step may empty the journal without a commit, and write to it anew.
pub fn a_step_may_reset_the_journal(store: &dyn Backend) {
    let row = create(store, "a");
    let note = |text: &str| Step { journal: Some(text.into()), ..Step::default() };
    let row = ok(store.append(row.id, row.revision, &note("one")));
    let row = ok(store.append(row.id, row.revision, &note("two")));
    let reset = Step { reset_journal: true, ..note("all") };
    let row = ok(store.append(row.id, row.revision, &reset));
    assert_eq!(ok(store.journal(row.id)).1, [b"all".to_vec()]);
    let row =
        ok(store.append(row.id, row.revision, &Step { reset_journal: true, ..Step::default() }));
    assert_eq!(ok(store.journal(row.id)), (row.revision, Vec::new()));
}

/// Records of a kind are read by prefix, in both directions, a page at a time.
pub fn side_records_are_read_by_prefix(store: &dyn Backend) {
    let row = create(store, "a");
    let keys = ["a", "a/1", "a/2", "a/2/x", "a0", "b", "ä/1"];
    let mut changes: Vec<SideChange> = keys.iter().map(|key| put("x.y", key, b"")).collect();
    changes.push(put("x.z", "a/3", b""));
    let row = ok(store.append(row.id, row.revision, &step(changes)));
    let read = |page: SidePage<'_>| -> Vec<String> {
        ok(store.side_page(row.id, &page)).into_iter().map(|record| record.key).collect()
    };
    let all = SidePage::of("x.y");
    assert_eq!(read(all), keys);
    assert_eq!(read(SidePage { prefix: "a/", ..all }), ["a/1", "a/2", "a/2/x"]);
    assert_eq!(read(SidePage { prefix: "ä", ..all }), ["ä/1"]);
    assert!(read(SidePage { prefix: "a/9", ..all }).is_empty());
    let back = SidePage { prefix: "a/", reverse: true, ..all };
    assert_eq!(read(SidePage { limit: 2, ..back }), ["a/2/x", "a/2"]);
    assert_eq!(read(SidePage { after: Some("a/2"), ..back }), ["a/1"]);
    let forth = SidePage { prefix: "a/", after: Some("a/1"), ..all };
    assert_eq!(read(SidePage { limit: 1, ..forth }), ["a/2"]);
    assert_eq!(read(SidePage { after: Some("a0"), ..all }), ["b", "ä/1"]);
    assert_eq!(read(SidePage { after: Some("b"), reverse: true, limit: 1, ..all }), ["a0"]);
    assert_eq!(read(SidePage { reverse: true, limit: 1, ..all }), ["ä/1"]);
}
