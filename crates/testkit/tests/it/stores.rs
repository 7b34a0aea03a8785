//! Random sessions through a store: what comes back is what was done, whoever opens it, whenever.

use contextree::{Context, ContextOptions, Profile, SnapshotAddress};
use contextree_store::{
    ContextSettings, ReadError, Retention, Session, Store, StoreError, StoreOptions,
};
use contextree_testkit::drive::{Did, Driver};
use contextree_testkit::generate::Rng;
use contextree_testkit::script::{Refusal, Step};

use crate::support::{block, commit, steps_of, turns, utf8};

/// A store that keeps nothing open, so that every session is read from rows.
fn store() -> Store {
    let options = StoreOptions { idle_bytes: 0, ..StoreOptions::default() };
    Store::open_with("memory:", options).unwrap()
}

/// The outcome of a step in a store: the driver's, or a fault of the store.
enum Failure {
    Refused(Refusal),
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}

/// Carries out a step on a stored context, as the driver does on one in memory.
fn step(session: &mut Session, step: &Step) -> Result<Did, Refusal> {
    let result = session.write(|context| {
        let mut driver = Driver::new();
        std::mem::swap(&mut driver.context, context);
        let did = driver.step(step);
        std::mem::swap(&mut driver.context, context);
        did.map_err(Failure::Refused)
    });
    match result {
        Ok(did) => Ok(did),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Store(error)) => panic!("{error}"),
    }
}

/// Steps without handles: those are of one process, and not stored.
fn storable(seed: u64) -> Vec<Step> {
    let is_handle = |step: &Step| matches!(step, Step::Retain { .. } | Step::Release { .. });
    steps_of(seed).into_iter().filter(|step| !is_handle(step)).collect()
}

#[test]
fn a_stored_session_is_the_session_in_memory_however_often_it_is_opened() {
    for seed in 0..120 {
        let store = store();
        let mut random = Rng::new(seed);
        let mut plain = Driver::new();
        let mut session = store.create("main", &ContextSettings::default()).unwrap();
        for one in storable(seed) {
            let expected = plain.step(&one);
            assert_eq!(step(&mut session, &one), expected, "seed {seed}, {one:?}");
            if random.below(3) == 0 {
                session = store.session("main").unwrap();
            }
            if random.below(9) == 0 {
                session.checkpoint().unwrap();
            }
            let context = session.context().unwrap();
            assert_eq!(utf8(&context.export_working()), utf8(&plain.context.export_working()));
            assert_eq!(context.history_digest(), plain.context.history_digest());
        }
        let context = session.load_all().unwrap();
        assert_eq!(utf8(&context.export_history()), utf8(&plain.context.export_history()));
        let mut cycles = Vec::new();
        session
            .reports(0, u32::MAX, &mut |cycle, _, report| {
                cycles.push(cycle);
                assert_eq!(report.map(|report| report.cycle), Some(cycle));
                Ok(())
            })
            .unwrap();
        assert_eq!(cycles.len(), plain.context.history().len());
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean(), "seed {seed}");
    }
}

#[test]
fn every_snapshot_and_every_diff_can_be_had_however_old() {
    let store = store();
    let mut plain = turns(40);
    let settings = ContextSettings::default();
    let mut session = store.adopt("main", turns(40), &settings).unwrap();
    session.checkpoint().unwrap();
    for turn in 41..90 {
        commit(&mut plain);
        session
            .write(|context| {
                commit(context);
                Ok::<_, StoreError>(())
            })
            .unwrap();
        if turn % 20 == 0 {
            session.checkpoint().unwrap();
        }
    }
    let mut session = store.session("main").unwrap();
    assert!(session.context().unwrap().skipped() > 60, "the oldest part is not loaded");
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
        let mut fresh = store.session("main").unwrap();
        let found = fresh.select(selector).unwrap().nodes().unwrap();
        assert_eq!(found.ids(), expected.ids(), "{selector}");
    }
    for selector in ["@t-80..@t-70 ^seq", "@t-75..@t0 ^seq", "@c2..@c5 .block"] {
        let expected = plain.select(selector).unwrap().range().unwrap();
        let mut fresh = store.session("main").unwrap();
        let found = fresh.select(selector).unwrap().range().unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{selector}");
    }
}

/// The present is never returned when the past was asked for.
// covers: SNP-001
#[test]
fn what_is_not_there_is_not_found_and_what_is_not_loaded_says_so() {
    let store = store();
    let mut session = store.adopt("main", turns(30), &ContextSettings::default()).unwrap();
    session.checkpoint().unwrap();
    let mut session = store.session("main").unwrap();
    for (address, is_there) in
        [("@c1", true), ("@c0", false), ("@c31", false), ("@t-29", true), ("@t-30", false)]
    {
        let address: SnapshotAddress = address.parse().unwrap();
        match session.snapshot(address) {
            Ok(_) => assert!(is_there, "{address}"),
            Err(error) => {
                assert_eq!((error.code(), is_there), ("E_SNAPSHOT_NOT_FOUND", false), "{address}");
            }
        }
    }
    let context = session.context().unwrap();
    assert_eq!(context.snapshot(SnapshotAddress::Cycle(1)).unwrap_err().code(), "E_NOT_LOADED");
    assert_eq!(context.select("@c1 ^seq").unwrap_err().code(), "E_NOT_LOADED");
    assert_eq!(context.select("@c1..@c30 ^seq").unwrap_err().code(), "E_NOT_LOADED");
    assert_eq!(session.select("@c31 ^seq").unwrap_err().code(), "E_SNAPSHOT_NOT_FOUND");
}

#[test]
fn whoever_comes_second_gets_a_conflict_and_nothing_of_it_is_stored() {
    let store = store();
    let mut first = store.adopt("main", turns(3), &ContextSettings::default()).unwrap();
    let mut second = store.session("main").unwrap();
    let add = |session: &mut Session, id: &str| {
        session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
            context.add(contextree::Place::head(), block(id))?;
            Ok(())
        })
    };
    add(&mut first, "one").unwrap();
    let error = add(&mut second, "two").unwrap_err();
    let StoreError::Conflict { head: Some(head), .. } = error.downcast_ref().unwrap() else {
        panic!("{error}");
    };
    assert_eq!(head.cycle, 3);
    assert!(second.context().unwrap().working().get("two").is_none());
    assert!(second.context().unwrap().working().get("one").is_some(), "it sees what won");
    add(&mut second, "two").unwrap();
    assert!(store.session("main").unwrap().context().unwrap().working().get("two").is_some());
    // The first is behind now; `update` follows and repeats.
    first
        .update(|context| -> Result<(), Box<dyn std::error::Error>> {
            context.add(contextree::Place::head(), block("three"))?;
            Ok(())
        })
        .unwrap();
    assert!(first.context().unwrap().working().get("two").is_some());
}

#[test]
fn a_closure_that_fails_leaves_nothing_behind() {
    let store = store();
    let mut session = store.adopt("main", turns(2), &ContextSettings::default()).unwrap();
    let before = utf8(&session.context().unwrap().export_working()).to_owned();
    let result = session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
        context.add(contextree::Place::head(), block("new"))?;
        context.commit()?;
        context.remove("no such node")?;
        Ok(())
    });
    assert!(result.is_err());
    assert_eq!(utf8(&session.context().unwrap().export_working()), before);
    assert_eq!(session.context().unwrap().history().len(), 2);
    assert_eq!(session.row().revision, 1);
}

#[test]
fn forks_share_what_is_stored_and_go_on_alone() {
    let store = store();
    let mut main = store.adopt("main", turns(20), &ContextSettings::default()).unwrap();
    let mut early = store.fork("main", Some(SnapshotAddress::Cycle(7)), "early").unwrap();
    assert_eq!(early.context().unwrap().head().unwrap().cycle(), 7);
    main.write(|context| {
        context
            .add(contextree::Place::head(), block("pending"))
            .map_err(|error| StoreError::Backend { message: error.to_string() })
    })
    .unwrap();
    let mut work = store.fork("main", None, "work").unwrap();
    assert!(work.context().unwrap().working().get("pending").is_some());
    for session in [&mut main, &mut early, &mut work] {
        session
            .write(|context| {
                commit(context);
                Ok::<_, StoreError>(())
            })
            .unwrap();
    }
    let mut deep = store.fork("early", Some(SnapshotAddress::Cycle(5)), "deep").unwrap();
    assert_eq!(deep.context().unwrap().head().unwrap().cycle(), 5);
    let expected = turns(20);
    let address = SnapshotAddress::Cycle(5);
    let digest = expected.snapshot(address).unwrap().digest();
    for name in ["main", "early", "work", "deep"] {
        let mut session = store.session(name).unwrap();
        assert_eq!(session.snapshot(address).unwrap().digest(), digest, "{name}");
    }
    store.delete("main").unwrap();
    store.delete("early").unwrap();
    for name in ["work", "deep"] {
        let mut session = store.session(name).unwrap();
        assert_eq!(session.snapshot(address).unwrap().digest(), digest, "{name}");
    }
    assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    assert!(matches!(store.session("main"), Err(StoreError::NotFound { .. })));
}

#[test]
fn retention_lets_go_what_it_says_and_changes_nothing_else() {
    for (newest, pinned) in [(1, vec![]), (5, vec![3, 4, 11]), (12, vec![1]), (100, vec![])] {
        let store = store();
        let plain = turns(30);
        let mut session = store.adopt("main", turns(30), &ContextSettings::default()).unwrap();
        for cycle in &pinned {
            session.pin_snapshot(SnapshotAddress::Cycle(*cycle), "why").unwrap();
        }
        drop(session);
        let policy = Retention { keep_newest: Some(newest), ..Retention::default() };
        let planned = store.retain("main", &policy, true).unwrap();
        assert_eq!(store.find("main").unwrap().unwrap().snapshots, 30, "a dry run does nothing");
        assert_eq!(store.retain("main", &policy, false).unwrap(), planned);
        let mut session = store.session("main").unwrap();
        for cycle in 1..=30_u64 {
            let stays = cycle > 30_u64.saturating_sub(newest) || pinned.contains(&cycle);
            let address = SnapshotAddress::Cycle(cycle);
            match session.snapshot(address) {
                Ok(found) => {
                    assert!(stays, "@c{cycle} should have gone");
                    assert_eq!(found.export(), plain.snapshot(address).unwrap().export());
                }
                Err(error) => assert!(!stays, "@c{cycle}: {error}"),
            }
        }
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
        session
            .write(|context| {
                commit(context);
                Ok::<_, StoreError>(())
            })
            .unwrap();
        store.retain("main", &policy, false).unwrap();
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    }
}

#[test]
fn imported_histories_are_stored_as_they_are() {
    let mut lines = Vec::new();
    // Foreign snapshots: numbers left out, roots that differ, headers missing.
    lines.extend_from_slice(br#"{"cycle":3,"root":{"id":"r","nodeType":"^root","x":1,"children":[{"id":"q","nodeType":"^seq","children":[{"id":"t","nodeType":"mt","children":[{"id":"c","nodeType":"mc","children":[{"id":"b","nodeType":"cb","content":"hello","ttl":4}]}]}]}]}}"#);
    lines.push(b'\n');
    lines.extend_from_slice(br#"{"cycle":9,"root":{"id":"r","nodeType":"^root","x":2,"children":[{"id":"q","nodeType":"^seq","children":[{"id":"t","nodeType":"mt","children":[{"id":"c","nodeType":"mc","children":[{"id":"b","nodeType":"cb","content":"","ttl":2}]}]}]}]}}"#);
    lines.push(b'\n');
    lines.extend_from_slice(br#"{"cycle":12,"root":{"id":"r","nodeType":"^root","x":2,"children":[{"id":"q","nodeType":"^seq","children":[{"id":"t","nodeType":"mt","priority":1.5,"children":[{"id":"c","nodeType":"mc","children":[{"id":"b","nodeType":"cb","content":{"a":[1,2.0,"x"]}}]}]}]}]}}"#);
    let import =
        || Context::import_history(&lines, Profile::Lenient, ContextOptions::default()).unwrap();
    let store = store();
    let mut session = store.adopt("main", import(), &ContextSettings::default()).unwrap();
    let plain = import();
    for cycle in [3, 9, 12] {
        let address = SnapshotAddress::Cycle(cycle);
        let found = session.snapshot(address).unwrap();
        assert_eq!(utf8(&found.export()), utf8(&plain.snapshot(address).unwrap().export()));
        assert_eq!(found.digest(), plain.snapshot(address).unwrap().digest());
    }
    assert_eq!(session.load_all().unwrap().history_digest(), plain.history_digest());
    assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    let missing: Result<_, ReadError> = session.snapshot(SnapshotAddress::Cycle(4));
    assert_eq!(missing.unwrap_err().code(), "E_SNAPSHOT_NOT_FOUND");
}
