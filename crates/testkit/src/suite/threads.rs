//! Concurrent access.

use std::thread;

use super::{commit, commits, content, create, head, key, new, ok, read};
use contextree_store::{Backend, NewContext, Step, StoreError};

/// Appends `count` commits to a context, retrying when another thread was faster. Returns the
/// acknowledged cycles.
///
/// Each commit follows the current head, so the history has no gaps only if every acknowledged step
/// was stored exactly once.
#[must_use]
pub fn append_against_others(
    store: &dyn Backend,
    name: &str,
    writer: u64,
    count: usize,
) -> Vec<u32> {
    let mut done = Vec::new();
    let mut row = ok(store.find(name)).expect("the context exists");
    let mut tries = 0_u64;
    while done.len() < count {
        let cycle = row.head.map_or(1, |head| head.cycle.get() + 1);
        let mut mine = commit(cycle);
        mine.bodies = format!("{writer}:{}", done.len()).into_bytes();
        tries += 1;
        let step = Step {
            key: key(writer << 32 | tries),
            commits: vec![mine],
            head: Some(head(cycle)),
            contents: vec![content((cycle % 7) as u8)],
            ..Step::default()
        };
        match store.append(row.id, row.revision, &step) {
            Ok(now) => {
                assert_eq!(now.head, Some(head(cycle)), "the answer is the state after the step");
                done.push(cycle);
                row = now;
            }
            Err(StoreError::Conflict { .. }) => {
                row = ok(store.find(name)).expect("the context exists");
            }
            Err(error) => panic!("{}: {error}", error.code()),
        }
    }
    done
}

/// Panics unless a context's own history is 1, 2, … `count`, with a revision and a snapshot for
/// each.
pub fn is_a_line(store: &dyn Backend, name: &str, count: u32) {
    let row = ok(store.find(name)).expect("the context exists");
    assert_eq!(row.head, Some(head(count)));
    assert_eq!((row.snapshots, row.revision.get()), (u64::from(count), u64::from(count) + 1));
    let commits = read(store, row.branch, 0, u32::MAX);
    assert_eq!(super::cycles(&commits), (1..=count).collect::<Vec<u32>>());
    let mut bodies: Vec<_> = commits.into_iter().map(|commit| commit.bodies).collect();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), count as usize, "every step was stored once");
}

/// One thread wins, the others retry.
pub fn eight_threads_on_one_context_leave_a_line_without_gaps(store: &dyn Backend) {
    create(store, "main");
    let mut acknowledged: Vec<u32> = thread::scope(|scope| {
        let work = |writer| move || append_against_others(store, "main", writer, 25);
        let threads: Vec<_> = (0..8).map(|writer| scope.spawn(work(writer))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    acknowledged.sort_unstable();
    assert_eq!(acknowledged, (1..=200).collect::<Vec<u32>>());
    is_a_line(store, "main", 200);
}

/// No step is refused, and each thread reads its own writes.
pub fn eight_threads_on_contexts_of_their_own_do_not_meet(store: &dyn Backend) {
    thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                let name = format!("context {writer}");
                let mut row = create(store, &name);
                for cycle in 1..=25 {
                    row = ok(store.append(row.id, row.revision, &commits([cycle])));
                    assert_eq!(ok(store.find(&name)).as_ref(), Some(&row), "it reads its write");
                }
                is_this_long(store, &name, 25);
            });
        }
    });
    assert_eq!(ok(store.list(None, 100)).len(), 8);
}

fn is_this_long(store: &dyn Backend, name: &str, count: usize) {
    let row = ok(store.find(name)).expect("the context exists");
    assert_eq!(read(store, row.branch, 0, u32::MAX).len(), count);
}

/// The others get an error that it exists.
pub fn one_of_many_makes_the_context(store: &dyn Backend) {
    let made: usize = thread::scope(|scope| {
        let make = |writer| {
            move || {
                let first = Step { key: key(writer), ..Step::default() };
                match store.create(&NewContext { first, ..new("main") }) {
                    Ok(_) => 1,
                    Err(StoreError::Exists { .. }) => 0,
                    Err(error) => panic!("{}: {error}", error.code()),
                }
            }
        };
        let threads: Vec<_> = (0..8).map(|writer| scope.spawn(make(writer))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(made, 1);
    assert_eq!(ok(store.list(None, 10)).len(), 1);
}
