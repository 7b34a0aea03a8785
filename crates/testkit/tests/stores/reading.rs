//! Tests reads of the past: every snapshot, diff, selector and range, however old, on every store.

use contextree::{Context, ContextOptions, Profile, SnapshotAddress};
use contextree_store::{ContextSettings, ReadError, Retention, StoreError};

use crate::support::{block, commit, commit_stored, on_every_store, turns, utf8};

#[test]
fn every_snapshot_and_every_diff_can_be_read_however_old() {
    on_every_store(|store| {
        let mut plain = turns(40);
        let settings = ContextSettings::default();
        let mut session = store.adopt("main", turns(40), &settings).unwrap();
        session.checkpoint().unwrap();
        for turn in 41..90 {
            commit(&mut plain);
            commit_stored(&mut session);
            if turn % 20 == 0 {
                session.checkpoint().unwrap();
            }
        }
        drop(session);
        let session = store.session("main").unwrap();
        assert!(session.loaded_snapshots() < 30, "the oldest part is not loaded");
        for cycle in [1, 39, 40, 41, 59, 60, 61, 89] {
            let address = SnapshotAddress::Cycle(cycle);
            let found = session.snapshot(address).unwrap();
            assert_eq!(utf8(&found.export()), utf8(&plain.snapshot(address).unwrap().export()));
        }
        for (left, right) in [(1, 2), (3, 88), (55, 62), (88, 89)] {
            let addresses = (SnapshotAddress::Cycle(left), SnapshotAddress::Cycle(right));
            let expected = plain.diff(addresses.0, addresses.1).unwrap();
            assert_eq!(session.diff(addresses.0, addresses.1).unwrap(), expected);
        }
        for selector in
            ["@c7 ^seq .block", "@t-80 ^sys .block", "@t0 ^seq .block[role='user']", "@* ^sys"]
        {
            let expected = plain.select(selector).unwrap().nodes().unwrap();
            let fresh = store.session("main").unwrap();
            let found = fresh.select(selector).unwrap().nodes().unwrap();
            assert_eq!(found.ids(), expected.ids(), "{selector}");
        }
        for selector in ["@t-80..@t-70 ^seq", "@t-75..@t0 ^seq", "@c2..@c5 .block"] {
            let expected = plain.select(selector).unwrap().range().unwrap();
            let fresh = store.session("main").unwrap();
            let found = fresh.select(selector).unwrap().range().unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{selector}");
        }
    });
}

/// Also the part of it that was stored before the session was opened, and is not in memory.
#[test]
fn whole_history_is_walked_after_reopening() {
    on_every_store(|store| {
        let mut plain = turns(30);
        let mut session = store.adopt("main", turns(30), &ContextSettings::default()).unwrap();
        session.checkpoint().unwrap();
        for _ in 0..5 {
            commit(&mut plain);
            commit_stored(&mut session);
        }
        drop(session);
        let session = store.session("main").unwrap();
        assert!(session.loaded_snapshots() < 30, "the oldest part is not loaded");
        let name = |snapshot: &contextree::Snapshot| (snapshot.cycle(), snapshot.digest());
        let mut expected: Vec<_> = plain.history().iter().map(name).collect();
        let oldest_first: Vec<_> =
            session.snapshots().rev().map(|one| name(&one.unwrap())).collect();
        assert_eq!(oldest_first, expected);
        expected.reverse();
        let newest_first: Vec<_> = session.snapshots().map(|one| name(&one.unwrap())).collect();
        assert_eq!(newest_first, expected);
    });
}

/// A query for the past never returns the present.
// covers: SNP-001
#[test]
fn missing_snapshots_are_not_found_and_unloaded_ones_are_reported() {
    on_every_store(|store| {
        let mut session = store.adopt("main", turns(30), &ContextSettings::default()).unwrap();
        session.checkpoint().unwrap();
        let session = store.session("main").unwrap();
        for (address, is_there) in
            [("@c1", true), ("@c0", false), ("@c31", false), ("@t-29", true), ("@t-30", false)]
        {
            let address: SnapshotAddress = address.parse().unwrap();
            match session.snapshot(address) {
                Ok(_) => assert!(is_there, "{address}"),
                Err(error) => {
                    assert_eq!(
                        (error.code(), is_there),
                        ("E_SNAPSHOT_NOT_FOUND", false),
                        "{address}"
                    );
                }
            }
        }
        let context = session.fork_working().unwrap();
        assert_eq!(context.snapshot(SnapshotAddress::Cycle(1)).unwrap_err().code(), "E_NOT_LOADED");
        assert_eq!(context.select("@c1 ^seq").unwrap_err().code(), "E_NOT_LOADED");
        assert_eq!(context.select("@c1..@c30 ^seq").unwrap_err().code(), "E_NOT_LOADED");
        assert_eq!(session.select("@c31 ^seq").unwrap_err().code(), "E_SNAPSHOT_NOT_FOUND");
    });
}

#[test]
fn forks_share_stored_history_and_continue_independently() {
    on_every_store(|store| {
        let mut main = store.adopt("main", turns(20), &ContextSettings::default()).unwrap();
        let mut early = store.fork("main", Some(SnapshotAddress::Cycle(7)), "early").unwrap();
        assert_eq!(early.newest().unwrap().unwrap().cycle(), 7);
        main.write(|context| {
            context
                .add(contextree::Place::head(), block("pending"))
                .map_err(|error| StoreError::Backend { message: error.to_string() })
        })
        .unwrap();
        let mut work = store.fork("main", None, "work").unwrap();
        assert!(work.working().unwrap().view().get("pending").is_some());
        for session in [&mut main, &mut early, &mut work] {
            commit_stored(session);
        }
        let deep = store.fork("early", Some(SnapshotAddress::Cycle(5)), "deep").unwrap();
        assert_eq!(deep.newest().unwrap().unwrap().cycle(), 5);
        let expected = turns(20);
        let address = SnapshotAddress::Cycle(5);
        let digest = expected.snapshot(address).unwrap().digest();
        for name in ["main", "early", "work", "deep"] {
            let session = store.session(name).unwrap();
            assert_eq!(session.snapshot(address).unwrap().digest(), digest, "{name}");
        }
        store.delete("main").unwrap();
        store.delete("early").unwrap();
        for name in ["work", "deep"] {
            let session = store.session(name).unwrap();
            assert_eq!(session.snapshot(address).unwrap().digest(), digest, "{name}");
        }
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
        assert!(matches!(store.session("main"), Err(StoreError::NotFound { .. })));
    });
}

#[test]
fn retention_removes_only_what_it_reports() {
    on_every_store(|store| {
        for (newest, pinned) in [(1, vec![]), (5, vec![3, 4, 11]), (12, vec![1]), (100, vec![])] {
            let plain = turns(30);
            let name = format!("keeps {newest}");
            let mut session = store.adopt(&name, turns(30), &ContextSettings::default()).unwrap();
            for cycle in &pinned {
                session.pin_snapshot(SnapshotAddress::Cycle(*cycle), "why").unwrap();
            }
            drop(session);
            let policy = Retention { keep_newest: Some(newest), ..Retention::default() };
            let planned = store.retain(&name, &policy, true).unwrap();
            assert_eq!(store.find(&name).unwrap().unwrap().snapshots, 30, "a dry run does nothing");
            assert_eq!(store.retain(&name, &policy, false).unwrap(), planned);
            let mut session = store.session(&name).unwrap();
            for cycle in 1..=30_u64 {
                let stays = cycle > 30_u64.saturating_sub(newest) || pinned.contains(&cycle);
                let address = SnapshotAddress::Cycle(cycle);
                match session.snapshot(address) {
                    Ok(found) => {
                        assert!(stays, "@c{cycle} should have been removed");
                        assert_eq!(found.export(), plain.snapshot(address).unwrap().export());
                    }
                    Err(error) => assert!(!stays, "@c{cycle}: {error}"),
                }
            }
            let check = store.verify(&mut |_, _| {}).unwrap();
            assert!(check.is_clean(), "{check:?}");
            commit_stored(&mut session);
            store.retain(&name, &policy, false).unwrap();
            assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
        }
    });
}

#[test]
fn imported_histories_are_stored_unchanged() {
    on_every_store(|store| {
        let mut lines = Vec::new();
        // Foreign snapshots: missing numbers, different roots, missing headers.
        lines.extend_from_slice(br#"{"cycle":3,"root":{"id":"r","nodeType":"^root","x":1,"children":[{"id":"q","nodeType":"^seq","children":[{"id":"t","nodeType":"mt","children":[{"id":"c","nodeType":"mc","children":[{"id":"b","nodeType":"cb","content":"hello","ttl":4}]}]}]}]}}"#);
        lines.push(b'\n');
        lines.extend_from_slice(br#"{"cycle":9,"root":{"id":"r","nodeType":"^root","x":2,"children":[{"id":"q","nodeType":"^seq","children":[{"id":"t","nodeType":"mt","children":[{"id":"c","nodeType":"mc","children":[{"id":"b","nodeType":"cb","content":"","ttl":2}]}]}]}]}}"#);
        lines.push(b'\n');
        lines.extend_from_slice(br#"{"cycle":12,"root":{"id":"r","nodeType":"^root","x":2,"children":[{"id":"q","nodeType":"^seq","children":[{"id":"t","nodeType":"mt","priority":1.5,"children":[{"id":"c","nodeType":"mc","children":[{"id":"b","nodeType":"cb","content":{"a":[1,2.0,"x"]}}]}]}]}]}}"#);
        let import = || {
            Context::import_history(&lines, Profile::Lenient, ContextOptions::default()).unwrap()
        };
        let session = store.adopt("main", import(), &ContextSettings::default()).unwrap();
        let plain = import();
        for cycle in [3, 9, 12] {
            let address = SnapshotAddress::Cycle(cycle);
            let found = session.snapshot(address).unwrap();
            assert_eq!(utf8(&found.export()), utf8(&plain.snapshot(address).unwrap().export()));
            assert_eq!(found.digest(), plain.snapshot(address).unwrap().digest());
        }
        assert_eq!(session.to_context().unwrap().history_digest(), plain.history_digest());
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
        let missing: Result<_, ReadError> = session.snapshot(SnapshotAddress::Cycle(4));
        assert_eq!(missing.unwrap_err().code(), "E_SNAPSHOT_NOT_FOUND");
    });
}
