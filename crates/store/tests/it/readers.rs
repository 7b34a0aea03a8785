//! Readers are handles: shared by all threads, at one revision, and never waiting for a writer.

use std::sync::Arc;

use contextree_engine::{Context, NewNode, Place, SnapshotAddress};
use contextree_store::{
    Backend, ContextSettings, Memory, Reader, Revision, Session, Store, StoreError, StoreOptions,
};
use contextree_testkit::suite::faulty::Faulty;

use crate::support::{commit_turn, turns};

fn store() -> Store {
    Store::open_with("memory:", StoreOptions::deterministic()).unwrap()
}

/// Two stores over the same rows, as two processes have them.
fn two_processes() -> (Store, Store) {
    let backend: Arc<dyn Backend> = Arc::new(Memory::new());
    let open = || Store::over(Arc::clone(&backend), StoreOptions::deterministic());
    (open(), open())
}

fn is_same(left: &Reader, right: &Reader, address: SnapshotAddress) -> bool {
    let (left, right) = (left.snapshot(address).unwrap(), right.snapshot(address).unwrap());
    left.tree().is_same(right.tree())
}

#[test]
fn readers_and_sessions_of_one_process_share_what_was_loaded() {
    let (writing, reading) = two_processes();
    let mut session = writing.adopt("main", turns(30), &ContextSettings::default()).unwrap();
    session.checkpoint().unwrap();
    let (first, second) = (reading.reader("main").unwrap(), reading.reader("main").unwrap());
    let third = reading.session("main").unwrap();
    for address in [SnapshotAddress::Back(0), SnapshotAddress::Cycle(3)] {
        assert!(is_same(&first, &second, address), "{address} was loaded twice");
        assert!(is_same(&first, &third, address), "{address} was loaded twice");
    }
    drop((first, second));
    let head = SnapshotAddress::Back(0);
    assert!(is_same(&third, &reading.reader("main").unwrap(), head), "it stays in use");
    assert!(!is_same(&third, &session, head), "another process has its own");
}

#[test]
fn a_reader_never_waits_for_a_writer() {
    let store = store();
    let mut session = store.adopt("main", turns(20), &ContextSettings::default()).unwrap();
    session.write(|context| add(context, "pending")).unwrap();
    let held = session.reader();
    let before = session.working().unwrap().export();
    session
        .write(|context| {
            add(context, "not yet visible")?;
            context.commit()?;
            // The write holds everything that writers hold. Readers, old and new, answer meanwhile.
            std::thread::scope(|scope| {
                let fresh = scope.spawn(|| {
                    let reader = store.reader("main").unwrap();
                    let range = reader.select("@t-12..@t0 .block").unwrap().range().unwrap();
                    assert_eq!(range.snapshots.len(), 13);
                    assert!(reader.snapshot(SnapshotAddress::Cycle(2)).is_ok());
                    reader.working().unwrap().export()
                });
                assert_eq!(fresh.join().unwrap(), before);
                let old =
                    scope.spawn(|| held.select(".block").unwrap().nodes().unwrap().ids().len());
                assert!(old.join().unwrap() > 0);
            });
            Ok::<_, anyhow::Error>(())
        })
        .unwrap();
    assert!(session.working().unwrap().view().get("pending").is_some());
    assert_eq!(held.snapshot_count(), 20, "a reader stays at its revision");
    assert_eq!(held.working().unwrap().export(), before);
}

#[test]
fn many_threads_read_while_one_writes() {
    let store = store();
    let mut session = store.adopt("main", turns(40), &ContextSettings::default()).unwrap();
    session.checkpoint().unwrap();
    session.shrink();
    let expected = turns(40);
    std::thread::scope(|scope| {
        for number in 0..4_u64 {
            let (store, expected) = (&store, &expected);
            scope.spawn(move || {
                for round in 0..30 {
                    let reader = store.reader("main").unwrap();
                    let address = SnapshotAddress::Cycle(1 + (number * 7 + round) % 40);
                    let found = reader.snapshot(address).unwrap();
                    assert_eq!(found.digest(), expected.snapshot(address).unwrap().digest());
                    let count = reader.snapshot_count();
                    assert_eq!(reader.working().unwrap().next_cycle().get() as usize, count + 1);
                    assert_eq!(reader.newest().unwrap().unwrap().cycle().get() as usize, count);
                }
            });
        }
        for number in 0..30 {
            session.write(|context| add(context, &format!("more {number}"))).unwrap();
            session
                .write(|context| context.commit().map(drop).map_err(anyhow::Error::from))
                .unwrap();
        }
    });
    assert_eq!(session.snapshot_count(), 70);
}

#[test]
fn a_reader_moves_on_when_it_is_refreshed() {
    let (writing, reading) = two_processes();
    let mut session = writing.adopt("main", turns(3), &ContextSettings::default()).unwrap();
    let mut near = session.reader();
    let mut far = reading.reader("main").unwrap();
    assert!(!near.refresh().unwrap() && !far.refresh().unwrap());
    commit_turn(&mut session);
    for reader in [&mut near, &mut far] {
        assert_eq!(reader.snapshot_count(), 3);
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.newest().unwrap().unwrap().cycle(), 4);
    }
    writing.delete("main").unwrap();
    assert!(matches!(far.refresh(), Err(StoreError::NotFound { .. })));
}

#[test]
fn a_failing_store_is_an_ordinary_error_of_a_query() {
    let faulty = Arc::new(Faulty::new(Memory::new()));
    let backend = Arc::clone(&faulty) as Arc<dyn Backend>;
    let options = StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() };
    let store = Store::over(backend, options);
    store.adopt("main", turns(20), &ContextSettings::default()).unwrap().checkpoint().unwrap();
    let reader = store.reader("main").unwrap();
    reader.prefetch(SnapshotAddress::Back(5), SnapshotAddress::Back(2)).unwrap();
    faulty.fail_reads(StoreError::Io { message: "injected".to_owned() });
    for selector in ["@c4 .block", "@c2..@c5 .block", "@* .block"] {
        assert_eq!(reader.select(selector).unwrap_err().code(), "E_STORE_IO", "{selector}");
    }
    assert_eq!(reader.explain("@c4 .block", Default::default()).unwrap_err().code(), "E_STORE_IO");
    assert!(reader.select("@t-5..@t-2 .block").is_ok(), "it was prefetched");
    faulty.heal();
    assert!(reader.select("@c4 .block").is_ok(), "a failure leaves nothing behind");
}

#[test]
fn a_closure_that_fails_is_taken_back_in_memory() {
    let store = store();
    let mut session = store.adopt("main", turns(3), &ContextSettings::default()).unwrap();
    let handle = session.write(|context| Ok::<_, anyhow::Error>(context.retain("u1")?)).unwrap();
    session.write(|context| add(context, "pending")).unwrap();
    let (before, head) = (session.working().unwrap().export(), session.reader());
    for commits in [false, true] {
        let failed = session.write(|context| -> anyhow::Result<()> {
            add(context, "gone")?;
            context.remove("pending")?;
            if commits {
                context.commit()?;
            }
            anyhow::bail!("on purpose")
        });
        assert_eq!(failed.unwrap_err().to_string(), "on purpose");
        assert_eq!(session.fork_working().unwrap().export_working(), before, "commits: {commits}");
        assert!(is_same(&session, &head, SnapshotAddress::Back(0)), "nothing was read again");
        let is_held =
            session.write(|context| Ok::<_, anyhow::Error>(handle.resolve(context).is_some()));
        assert!(is_held.unwrap(), "handles stay");
    }
    session.write(|context| add(context, "gone")).unwrap();
    let stored = store.reader("main").unwrap().to_context().unwrap();
    assert_eq!(stored.export_working(), session.working().unwrap().export());
}

#[test]
fn update_tries_again_with_any_error_type() {
    let (left, right) = two_processes();
    let mut here = left.adopt("main", turns(1), &ContextSettings::default()).unwrap();
    let mut beside = left.session("main").unwrap();
    let mut there = right.session("main").unwrap();
    let wins = |session: &mut Session, id: &str| {
        session.update(|context| -> anyhow::Result<()> { add(context, id) }).unwrap();
    };
    wins(&mut here, "one");
    wins(&mut beside, "two");
    wins(&mut there, "three");
    type Boxed = Box<dyn std::error::Error + Send + Sync>;
    here.update(|context| -> Result<(), Boxed> {
        context.add(Place::head(), NewNode::text("four").id("four"))?;
        Ok(())
    })
    .unwrap();
    for id in ["one", "two", "three", "four"] {
        assert!(here.working().unwrap().view().get(id).is_some(), "{id}");
    }
    let late = beside.write(|context| add(context, "late")).unwrap_err();
    let conflict: &StoreError = late.downcast_ref().unwrap();
    assert_eq!(conflict.code(), "E_CONFLICT");
}

#[test]
fn an_error_of_the_closure_is_never_taken_for_a_conflict() {
    let store = store();
    let mut session = store.create("main", &ContextSettings::default()).unwrap();
    let mut runs = 0;
    let result = session.update(|_| -> Result<(), StoreError> {
        runs += 1;
        let context = "another".to_owned();
        Err(StoreError::Conflict { context, expected: Revision(1), found: Revision(2), head: None })
    });
    assert!(matches!(result, Err(StoreError::Conflict { .. })));
    assert_eq!(runs, 1);
}

fn add(context: &mut Context, id: &str) -> anyhow::Result<()> {
    context.add(Place::head(), NewNode::text(id).id(id))?;
    Ok(())
}
