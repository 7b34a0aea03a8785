//! CON: readers on other threads, one writer at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};

use contextree::{Context, Cycle, NewNode, Place, Snapshot};

use crate::support::{block, commit, head, turns};

fn is_shared_between_threads<T: Send + Sync>() {}

// covers: CON-002
#[test]
fn contexts_and_snapshots_can_be_sent_to_other_threads() {
    is_shared_between_threads::<Context>();
    is_shared_between_threads::<Snapshot>();
    is_shared_between_threads::<contextree::Tree>();
    is_shared_between_threads::<contextree::engine::Reference>();
}

// covers: CON-001, SEA-001
#[test]
fn alternating_writers_lose_no_cycle() {
    let context = Mutex::new(Context::new());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let context = &context;
            scope.spawn(move || {
                for number in 0..50 {
                    let mut context = context.lock().unwrap();
                    let id = format!("w{writer}.{number}");
                    context.add(Place::head(), block(&id)).unwrap();
                    let report = context.commit().unwrap();
                    assert!(head(&context).view().get(&id).is_some());
                    assert_eq!(head(&context).cycle(), report.cycle);
                }
            });
        }
    });
    let context = context.into_inner().unwrap();
    let cycles: Vec<Cycle> = context.history().iter().map(Snapshot::cycle).collect();
    assert_eq!(cycles, (1..=200).map(Cycle).collect::<Vec<_>>());
    assert_eq!(
        contextree::canon::thread::blocks(head(&context).view()).count(),
        200,
        "and no node"
    );
}

/// Checks that the parts of a snapshot are consistent, so that it is not a mixture of two.
fn is_consistent(snapshot: &Snapshot) {
    let tree = snapshot.view();
    let cycle = snapshot.cycle().get();
    assert_eq!(tree.turn_count(), cycle as usize, "one turn for each commit");
    let blocks = contextree::canon::thread::blocks(tree).count();
    assert_eq!(blocks, 1 + 3 * cycle as usize);
    assert_eq!(tree.nodes().count(), tree.node_count());
    assert!(tree.get(&format!("b{cycle}.2")).is_some());
    assert!(tree.get(&format!("b{}.0", cycle + 1)).is_none(), "nothing of the future");
}

// covers: CON-002
#[test]
fn readers_see_the_old_snapshot_or_the_new_one_while_commits_run() {
    let mut context = turns(0);
    let add = |context: &mut Context, cycle: u32| {
        for number in 0..3 {
            context.add(Place::head(), block(&format!("b{cycle}.{number}"))).unwrap();
        }
        commit(context);
    };
    add(&mut context, 1);
    let published = RwLock::new(head(&context).clone());
    let (done, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = Cycle::ZERO;
                while !done.load(Ordering::Acquire) || last < Cycle(400) {
                    let snapshot = published.read().unwrap().clone();
                    is_consistent(&snapshot);
                    assert!(snapshot.cycle() >= last, "time does not go back");
                    last = snapshot.cycle();
                    looks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for cycle in 2..=400 {
            add(&mut context, cycle);
            *published.write().unwrap() = head(&context).clone();
        }
        done.store(true, Ordering::Release);
    });
    assert!(looks.load(Ordering::Relaxed) >= 3);
}

// covers: CON-002
#[test]
fn reader_keeps_its_snapshot_without_a_lock_while_the_writer_continues() {
    let mut context = turns(20);
    let snapshot = head(&context).clone();
    let expected = (snapshot.export(), snapshot.thread(), snapshot.digest());
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let snapshot = snapshot.clone();
                scope.spawn(move || {
                    (0..40)
                        .map(|_| (snapshot.export(), snapshot.thread(), snapshot.digest()))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for number in 0..300 {
            context.add(Place::head(), NewNode::text(format!("more {number}")).ttl(2)).unwrap();
            context.commit().unwrap();
        }
        for reader in readers {
            assert!(reader.join().unwrap().iter().all(|seen| *seen == expected));
        }
    });
    assert_eq!(context.next_cycle(), 321);
}

#[test]
fn forks_can_be_written_concurrently() {
    let context = turns(5);
    let digests: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let mut fork = context.fork(contextree::SnapshotAddress::Back(2)).unwrap();
                scope.spawn(move || {
                    for number in 0..100 {
                        fork.add(Place::head(), block(&format!("n{number}"))).unwrap();
                        fork.commit().unwrap();
                    }
                    fork.history_digest()
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "the same steps, the same bytes");
}
