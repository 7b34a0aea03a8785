//! Redaction in every store: the text is gone, and nothing else changed.

use contextree::{Content, Context, NewNode, Place, Snapshot, SnapshotAddress};
use contextree_store::{ATTRIBUTE, NODE, Redaction, Session, Store, StoreError};

use crate::support::{Home, block, commit_stored, on_every_store};

const SHORT: &str = "sk-live-0123456789-short";

fn long() -> String {
    format!("sk-live-9876543210-long {}", "padding of a long text ".repeat(60))
}

fn write(session: &mut Session, change: impl FnOnce(&mut Context)) {
    session
        .write(|context| {
            change(context);
            Ok::<_, StoreError>(())
        })
        .unwrap();
}

/// A context with both secrets in snapshots, in the working state, in a fork and in an undone line.
fn fill(store: &Store) -> Session {
    let mut session = store.create("main", &Default::default()).unwrap();
    session.set_command("test");
    write(&mut session, |context| {
        context.add(Place::system(), block("s").role("system")).unwrap();
        context.add(Place::head(), NewNode::text(SHORT).id("short").role("user")).unwrap();
        context.add(Place::head(), NewNode::text(&*long()).id("long").role("tool")).unwrap();
    });
    commit_stored(&mut session);
    session.checkpoint().unwrap();
    write(&mut session, |context| {
        context.add(Place::head(), NewNode::text(SHORT).id("again").kind("text")).unwrap();
    });
    commit_stored(&mut session);
    store.fork("main", Some(SnapshotAddress::Cycle(2)), "alt").unwrap();
    session.undo().unwrap();
    write(&mut session, |context| {
        context.add(Place::head(), NewNode::text(&*long()).id("open").role("user")).unwrap();
        context.add(Place::head(), block("harmless")).unwrap();
    });
    session
}

fn digests(store: &Store) -> Vec<String> {
    let mut digests = Vec::new();
    for row in store.contexts(None, 100).unwrap() {
        let reader = store.reader(&row.name).unwrap();
        for back in 0..reader.snapshot_count() as u64 {
            let snapshot: Snapshot = reader.snapshot(SnapshotAddress::Back(back)).unwrap();
            digests.push(format!("{} {}", row.name, snapshot.digest()));
        }
    }
    digests
}

fn redact(store: &Store) -> u64 {
    let contents = [Content::from(SHORT), Content::from(&*long())];
    let redaction = Redaction { contents: &contents, marker: "[redacted]", reason: "pasted key" };
    store.redact(&redaction).unwrap().copies
}

#[test]
fn redacted_text_is_a_marker_everywhere_and_digests_stay() {
    on_every_store(|store| {
        let mut session = fill(store);
        let before = digests(store);
        assert!(redact(store) >= 5);
        assert_eq!(digests(store), before);
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
        for row in store.contexts(None, 100).unwrap() {
            let session = store.session(&row.name).unwrap();
            let working = session.fork_working().unwrap();
            let mut texts: Vec<String> = working
                .working()
                .nodes()
                .map(|(_, node)| format!("{:?}", node.content()))
                .collect();
            let history = session.to_context().unwrap();
            for snapshot in history.history().iter() {
                texts.extend(
                    snapshot.view().nodes().map(|(_, node)| format!("{:?}", node.content())),
                );
            }
            assert!(texts.iter().all(|text| !text.contains("sk-live")), "{}", row.name);
            assert!(texts.iter().any(|text| text.contains("[redacted]")), "{}", row.name);
        }
        // Work goes on, and later snapshots keep the marker and its hash.
        session.refresh().unwrap();
        assert!(session.fork_working().unwrap().working().resolve("harmless").is_some());
        commit_stored(&mut session);
        session.checkpoint().unwrap();
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
        assert_eq!(redact(store), 0, "there is nothing left to redact");
    });
}

/// A fork has a new revision then: who keeps what it showed by revision reads it again.
#[test]
fn fork_that_shares_the_text_shows_the_marker_at_once() {
    on_every_store(|store| {
        let mut session = store.create("main", &Default::default()).unwrap();
        write(&mut session, |context| {
            context.add(Place::head(), NewNode::text(SHORT).id("short").role("user")).unwrap();
        });
        commit_stored(&mut session);
        store.fork("main", Some(SnapshotAddress::Cycle(1)), "alt").unwrap();
        store.fork("alt", Some(SnapshotAddress::Cycle(1)), "alt/again").unwrap();
        let names = ["alt", "alt/again"];
        let mut readers = names.map(|name| store.reader(name).unwrap());
        let thread = |reader: &contextree_store::Reader| {
            let thread = reader.snapshot(SnapshotAddress::Cycle(1)).unwrap().thread();
            String::from_utf8(thread).unwrap()
        };
        for reader in &readers {
            assert!(thread(reader).contains(SHORT));
            assert_eq!(reader.redactions().unwrap().len(), 0);
        }
        assert_eq!(redact(store), 1);
        for reader in &mut readers {
            assert!(reader.refresh().unwrap(), "it has a new revision");
            let shown = thread(reader);
            assert!(!shown.contains(SHORT) && shown.contains("[redacted]"), "{shown}");
            let noted = reader.redactions().unwrap();
            assert_eq!((noted.len(), noted[0].copies), (1, 0));
        }
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
    });
}

#[test]
fn redaction_ends_what_can_be_undone_and_is_recorded() {
    on_every_store(|store| {
        let mut session = fill(store);
        redact(store);
        session.refresh().unwrap();
        assert!(session.undo().is_err() && session.operations().unwrap().is_empty());
        let records = session.redactions().unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!((&*records[0].reason, &*records[0].marker), ("pasted key", "[redacted]"));
        assert!(records[0].copies > 0);
        assert!(records[0].revision <= session.row().revision);
    });
}

/// Digests cover the values of attributes, so they stay; who redacts is told.
#[test]
fn attributes_and_side_records_with_the_text_are_named() {
    on_every_store(|store| {
        let mut session = store.create("main", &Default::default()).unwrap();
        write(&mut session, |context| {
            context.add(Place::head(), NewNode::text(SHORT).id("short")).unwrap();
            let copy = NewNode::text("harmless").id("copy");
            let copy = copy.attribute("data_raw", format!("the key is {SHORT}"));
            context.add(Place::head(), copy.attribute("data_other", "x")).unwrap();
        });
        commit_stored(&mut session);
        let before = digests(store);
        let contents = [Content::from(SHORT)];
        let redaction = Redaction { contents: &contents, marker: "[redacted]", reason: "" };
        let redacted = store.redact(&redaction).unwrap();
        let place = ("main".to_owned(), ATTRIBUTE.to_owned(), "data_raw".to_owned());
        assert_eq!((redacted.copies, redacted.elsewhere), (1, vec![place]));
        assert_eq!(digests(store), before);
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

/// The copies that are counted before are those that are replaced: in every context, whoever asked.
#[test]
fn equal_contents_of_all_contexts_are_counted_before_and_longer_ones_are_named() {
    on_every_store(|store| {
        let mut session = store.create("main", &Default::default()).unwrap();
        let answer = format!("Your key is {SHORT}.");
        let report = format!("{answer} {}", "A long report. ".repeat(60));
        write(&mut session, |context| {
            context.add(Place::head(), NewNode::text(SHORT).id("short").role("user")).unwrap();
            context.add(Place::head(), NewNode::text(&*answer).id("answer")).unwrap();
            context.add(Place::head(), NewNode::text(&*report).id("report")).unwrap();
        });
        commit_stored(&mut session);
        store.fork("main", Some(SnapshotAddress::Cycle(1)), "fork").unwrap();
        let mut other = store.create("other", &Default::default()).unwrap();
        write(&mut other, |context| {
            context.add(Place::head(), NewNode::text(SHORT).id("pasted").role("tool")).unwrap();
        });
        let contents = [Content::from(SHORT)];
        let redaction = Redaction { contents: &contents, marker: "[redacted]", reason: "" };
        let found = store.find_redactable(&redaction).unwrap();
        let pair = |context: &str, id: &str| (context.to_owned(), id.to_owned());
        assert_eq!(found.nodes, [pair("main", "short"), pair("other", "pasted")]);
        assert_eq!(found.contexts, ["fork", "main", "other"], "a fork shows it, too");
        let place = |id: &str| ("main".to_owned(), NODE.to_owned(), id.to_owned());
        assert_eq!(found.elsewhere, [place("answer"), place("report")]);
        assert_eq!(store.find_redactable(&redaction).unwrap(), found, "nothing was changed");
        assert_eq!(store.redact(&redaction).unwrap(), found);
        let again = store.find_redactable(&redaction).unwrap();
        assert_eq!((again.copies, again.nodes.len(), again.contexts.len()), (0, 0, 0));
    });
}

/// What a deleted context left to its forks belongs to no context; they get rows of their own first.
#[test]
fn text_that_forks_share_with_a_deleted_context_is_redacted_in_each_of_them() {
    on_every_store(|store| {
        let mut session = store.create("gone", &Default::default()).unwrap();
        write(&mut session, |context| {
            context.add(Place::head(), NewNode::text(SHORT).id("short").role("user")).unwrap();
        });
        commit_stored(&mut session);
        write(&mut session, |context| {
            context.add(Place::head(), NewNode::text(&*long()).id("long").role("tool")).unwrap();
        });
        commit_stored(&mut session);
        drop(session);
        store.fork("gone", Some(SnapshotAddress::Cycle(2)), "one").unwrap();
        let mut one = store.session("one").unwrap();
        write(&mut one, |context| {
            context.add(Place::head(), block("more")).unwrap();
        });
        commit_stored(&mut one);
        drop(one);
        store.fork("one", Some(SnapshotAddress::Cycle(3)), "one/again").unwrap();
        store.fork("gone", Some(SnapshotAddress::Cycle(1)), "two").unwrap();
        store.delete("gone").unwrap();
        let before = digests(store);
        let contents = [Content::from(SHORT), Content::from(&*long())];
        let redaction = Redaction { contents: &contents, marker: "[redacted]", reason: "" };
        let found = store.find_redactable(&redaction).unwrap();
        assert_eq!(found.contexts, ["one", "one/again", "two"]);
        assert_eq!(found.copies, 5, "two each, and one of a fork of the first snapshot");
        assert_eq!(store.redact(&redaction).unwrap(), found);
        assert_eq!(digests(store), before);
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
        for name in ["one", "one/again", "two"] {
            let thread = store.reader(name).unwrap();
            let thread = thread.snapshot(SnapshotAddress::Back(0)).unwrap().thread();
            let thread = String::from_utf8(thread).unwrap();
            assert!(!thread.contains("sk-live") && thread.contains("[redacted]"), "{thread}");
        }
        assert_eq!(store.redact(&redaction).unwrap().copies, 0, "there is nothing left to redact");
    });
}

#[test]
fn redacted_text_is_gone_from_the_file() {
    let home = Home::file();
    let store = home.open();
    drop(fill(&store));
    let has_secret = || {
        let bytes = |path: String| std::fs::read(path).unwrap_or_default();
        let all = [bytes(home.path().to_owned()), bytes(format!("{}-wal", home.path()))].concat();
        all.windows(8).any(|window| window == b"sk-live-")
    };
    assert!(has_secret(), "long texts are compressed, short ones are not");
    redact(&store);
    assert!(!has_secret());
}
