//! Reading around snapshots that retention removed, and checking beside writers.

use contextree::{Context, ContextOptions, NewNode, Place, Profile, SnapshotAddress};
use contextree_store::{ContextSettings, Retention, Store, StoreError};

use crate::support::{Home, commit, commit_stored, on_every_store, turns};

fn keep(newest: u64) -> Retention {
    Retention { keep_newest: Some(newest), ..Retention::default() }
}

/// A history whose middle was removed: @c1 to @c3 stay for a fork, @c5 and @c6 are the newest.
fn with_hole(store: &Store) {
    store.adopt("main", turns(6), &ContextSettings::default()).unwrap();
    drop(store.fork("main", Some(SnapshotAddress::Cycle(3)), "fork").unwrap());
    let retained = store.retain("main", &keep(2), false).unwrap();
    assert_eq!((retained.dropped, retained.kept, retained.forked), (1, 5, 3));
}

#[test]
fn a_history_with_a_hole_is_read_exported_forked_and_compared() {
    on_every_store(|store| {
        with_hole(store);
        let plain = turns(6);
        let reader = store.reader("main").unwrap();
        let whole = reader.to_context().unwrap();
        let cycles: Vec<contextree::Cycle> =
            whole.history().iter().map(contextree::Snapshot::cycle).collect();
        assert_eq!(cycles, [1, 2, 3, 5, 6]);
        assert_eq!(whole.history_digest(), plain.history_digest());
        let again = Context::import_history(
            &whole.export_history(),
            Profile::Strict,
            ContextOptions::default(),
        )
        .unwrap();
        assert_eq!(again.history().len(), 5);
        for cycle in [1, 3, 5, 6] {
            let address = SnapshotAddress::Cycle(cycle);
            let expected = plain.snapshot(address).unwrap().export();
            assert_eq!(reader.snapshot(address).unwrap().export(), expected);
        }
        let nodes = reader.select("@* .block").unwrap();
        assert!(nodes.nodes().is_some_and(|nodes| !nodes.ids().is_empty()));
        assert!(reader.select("@t-4..@t0 .block").is_ok());
        let changes = reader.diff(SnapshotAddress::Cycle(2), SnapshotAddress::Cycle(6)).unwrap();
        let expected = contextree::tree::diff::diff(
            plain.snapshot(SnapshotAddress::Cycle(2)).unwrap().view(),
            plain.snapshot(SnapshotAddress::Cycle(6)).unwrap().view(),
        );
        assert_eq!(changes, expected);
        let fork = store.fork("main", Some(SnapshotAddress::Cycle(5)), "later").unwrap();
        assert_eq!(fork.to_context().unwrap().history().len(), 4);
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

#[test]
fn a_removed_snapshot_is_reported_as_retired_with_what_remains() {
    on_every_store(|store| {
        with_hole(store);
        let reader = store.reader("main").unwrap();
        let error = reader.snapshot(SnapshotAddress::Cycle(4)).unwrap_err();
        assert_eq!(error.code(), "E_SNAPSHOT_RETIRED");
        assert!(error.to_string().contains("@c1 to @c6"), "{error}");
        assert_eq!(reader.select("@c4 .block").unwrap_err().code(), "E_SNAPSHOT_RETIRED");
        assert_eq!(
            store.fork("main", Some(SnapshotAddress::Cycle(4)), "no").unwrap_err().code(),
            "E_SNAPSHOT_RETIRED"
        );
        let never = reader.snapshot(SnapshotAddress::Cycle(7)).unwrap_err();
        assert_eq!(never.code(), "E_SNAPSHOT_NOT_FOUND");
        assert_eq!(
            reader.snapshot(SnapshotAddress::Back(9)).unwrap_err().code(),
            "E_SNAPSHOT_NOT_FOUND",
            "nothing before the oldest was removed"
        );
        store.delete("fork").unwrap();
        store.retain("main", &keep(2), false).unwrap();
        let reader = store.reader("main").unwrap();
        for address in [SnapshotAddress::Back(9), SnapshotAddress::Cycle(1)] {
            assert_eq!(reader.snapshot(address).unwrap_err().code(), "E_SNAPSHOT_RETIRED");
        }
    });
}

#[test]
fn a_past_that_only_a_deleted_parent_had_can_be_collected() {
    on_every_store(|store| {
        store.adopt("main", turns(20), &ContextSettings::default()).unwrap();
        let mut fork = store.fork("main", Some(SnapshotAddress::Cycle(18)), "fork").unwrap();
        commit_stored(&mut fork);
        let plain = fork.to_context().unwrap();
        store.delete("main").unwrap();
        let branch = fork.row().branch;
        drop(fork);
        let retained = store.retain("fork", &keep(4), false).unwrap();
        assert_eq!((retained.dropped, retained.kept), (15, 4));
        let backend = store.backend();
        assert_eq!(backend.lineage(branch).unwrap().len(), 1, "it stands alone");
        let mut fork = store.session("fork").unwrap();
        for cycle in 16..=19 {
            let address = SnapshotAddress::Cycle(cycle);
            let expected = plain.snapshot(address).unwrap();
            assert_eq!(fork.snapshot(address).unwrap().export(), expected.export());
        }
        assert_eq!(fork.history_digest().unwrap(), plain.history_digest());
        commit_stored(&mut fork);
        drop(fork);
        assert_eq!(store.retain("fork", &keep(1), false).unwrap().dropped, 4);
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
        assert_eq!(store.reader("fork").unwrap().to_context().unwrap().history().len(), 1);
    });
}

#[test]
fn a_fork_that_drops_its_past_leaves_that_of_its_parent() {
    on_every_store(|store| {
        with_hole(store);
        let retained = store.retain("fork", &keep(1), false).unwrap();
        assert_eq!((retained.dropped, retained.kept), (2, 1));
        assert_eq!(store.reader("main").unwrap().to_context().unwrap().history().len(), 5);
        assert_eq!(store.retain("main", &keep(1), false).unwrap().kept, 1, "no fork needs it now");
        for name in ["main", "fork"] {
            assert_eq!(store.reader(name).unwrap().to_context().unwrap().history().len(), 1);
        }
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

/// Adds and commits until the flag is set, or enough was written.
fn write_until(store: &Store, done: &std::sync::atomic::AtomicBool) {
    let mut session = store.session("main").unwrap();
    for number in 0..400 {
        if done.load(std::sync::atomic::Ordering::Relaxed) {
            return;
        }
        session
            .update(|context| {
                context.add(Place::head(), NewNode::text(format!("n{number}")).role("user")).ok();
                if number % 3 == 0 {
                    commit(context);
                }
                Ok::<_, StoreError>(())
            })
            .unwrap();
    }
}

#[test]
fn verify_finds_no_damage_beside_a_writer_and_retention_makes_progress() {
    on_every_store(|store| {
        store.adopt("main", turns(30), &ContextSettings::default()).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| write_until(store, &done));
            let mut dropped = 0;
            for turn in 0..9 {
                let check = store.verify(&mut |_, _| {}).unwrap();
                assert!(check.is_clean(), "{check:?}");
                if turn % 3 == 0 {
                    dropped += store.retain("main", &keep(5), false).unwrap().dropped;
                }
                store.reader("main").unwrap().to_context().unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(dropped >= 25, "{dropped}");
        });
    });
}

#[test]
fn a_damaged_store_is_not_copied() {
    let home = Home::file();
    let store = home.open();
    store.adopt("main", turns(3), &ContextSettings::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.db");
    store.backup(&good, &mut |_, _| {}).unwrap();
    let file = rusqlite::Connection::open(home.path()).unwrap();
    file.execute("UPDATE commits SET bodies = x'00' WHERE cycle = 2", []).unwrap();
    let bad = folder.path().join("bad.db");
    let error = store.backup(&bad, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.code(), "E_STORE_CORRUPT");
    assert!(!bad.exists());
}

/// Returns a file and the log beside it.
fn raw(path: &str) -> Vec<u8> {
    let log = std::fs::read(format!("{path}-wal")).unwrap_or_default();
    [std::fs::read(path).unwrap(), log].concat()
}

#[test]
fn deleted_text_is_gone_from_the_file_its_log_and_new_copies() {
    let home = Home::file();
    let store = home.open();
    drop(store.adopt("main", turns(8), &ContextSettings::default()).unwrap());
    let mut session = store.create("private", &ContextSettings::default()).unwrap();
    for number in 0..6 {
        session
            .write(|context| {
                let text = format!("SECRET-{number} {}", "padding ".repeat(number * 12));
                context.add(Place::head(), NewNode::text(text).role("user")).ok();
                commit(context);
                Ok::<_, StoreError>(())
            })
            .unwrap();
    }
    drop(session);
    let has_secret = |bytes: &[u8]| bytes.windows(7).any(|window| window == b"SECRET-");
    assert!(has_secret(&raw(home.path())));
    store.delete("private").unwrap();
    store.backend().reclaim().unwrap();
    assert!(!has_secret(&raw(home.path())));
    let copy = tempfile::tempdir().unwrap();
    let copy = copy.path().join("copy.db");
    store.backup(&copy, &mut |_, _| {}).unwrap();
    assert!(!has_secret(&std::fs::read(copy).unwrap()));
}

#[test]
fn a_name_that_leads_to_another_context_is_damage() {
    let home = Home::file();
    let store = home.open();
    for name in ["ccc0", "ccc1", "ccc2"] {
        drop(store.create(name, &ContextSettings::default()).unwrap());
    }
    drop(store);
    let mut bytes = std::fs::read(home.path()).unwrap();
    // The entry of the index of names: the name, and the number of its row.
    let at = bytes.windows(5).position(|window| window == b"ccc2\x03").unwrap();
    bytes[at + 4] = 2;
    std::fs::write(home.path(), bytes).unwrap();
    let store = home.open();
    assert_eq!(store.session("ccc2").unwrap_err().code(), "E_STORE_CORRUPT");
    assert_eq!(store.find("ccc2").unwrap_err().code(), "E_STORE_CORRUPT");
    assert_eq!(store.delete("ccc2").unwrap_err().code(), "E_STORE_CORRUPT");
    assert_eq!(store.session("ccc1").unwrap().name(), "ccc1");
}

#[test]
fn a_new_context_has_a_name_of_one_visible_line() {
    on_every_store(|store| {
        let settings = ContextSettings::default();
        drop(store.create("main", &settings).unwrap());
        for name in ["", "two\nlines", "\u{1b}[31mred", "a\u{202e}b", &"x".repeat(2_000)] {
            assert_eq!(store.create(name, &settings).unwrap_err().code(), "E_CONTEXT_NAME");
            assert_eq!(store.fork("main", None, name).unwrap_err().code(), "E_CONTEXT_NAME");
            assert_eq!(store.rename("main", name).unwrap_err().code(), "E_CONTEXT_NAME");
        }
        drop(store.create(&"x".repeat(1_024), &settings).unwrap());
    });
}

#[test]
fn a_reader_whose_snapshots_were_removed_before_it_read_them_is_outdated_not_damaged() {
    for home in [Home::file(), Home::server()] {
        let writing = home.open();
        let settings = ContextSettings::default();
        let mut session = writing.adopt("main", turns(3), &settings).unwrap();
        // Another process, which has read nothing but the row yet.
        let other = home.open();
        let mut reader = other.reader("main").unwrap();
        (0..3).for_each(|_| commit_stored(&mut session));
        writing.retain("main", &keep(1), false).unwrap();
        let error = reader.working().map(drop).unwrap_err();
        assert_eq!(error.code(), "E_CONFLICT", "{error}");
        assert!(reader.refresh().unwrap());
        let (found, expected) = (reader.working().unwrap(), writing.session("main").unwrap());
        assert_eq!(found.export(), expected.working().unwrap().export());
    }
}
