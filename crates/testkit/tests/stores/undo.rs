//! Undo, redo, reset and discard in every store: nothing is lost, and what comes back is the same.

use contextree::{Cycle, NewNode, Place, Snapshot, SnapshotAddress};
use contextree_store::{Retention, Session, Store, StoreError, UndoError};

use crate::support::{block, commit_stored, on_every_store, turns};

fn open(store: &Store) -> Session {
    let mut session = store.adopt("main", turns(3), &Default::default()).unwrap();
    session.set_command("test");
    session
}

fn add(session: &mut Session, id: &str) {
    session
        .write(|context| {
            context.add(Place::head(), block(id).role("user")).unwrap();
            Ok::<_, StoreError>(())
        })
        .unwrap();
}

/// Everything that a caller can see: the digests of all snapshots, and the working state.
fn seen(session: &Session) -> (Vec<String>, Vec<String>) {
    let digests = (0..session.snapshot_count() as u64)
        .map(|back| session.snapshot(SnapshotAddress::Back(back)).unwrap().digest().to_string())
        .collect();
    let working = session.fork_working().unwrap();
    let nodes = working.working().nodes();
    let nodes = nodes.map(|(_, node)| {
        format!("{} {} {:?} {:?}", node.id(), node.created_at_ns(), node.ttl(), node.content())
    });
    (digests, nodes.collect())
}

#[test]
fn every_step_can_be_undone_and_redone_in_turn() {
    on_every_store(|store| {
        let mut session = open(store);
        let mut states = vec![seen(&session)];
        for step in 0..9 {
            match step % 3 {
                0 | 1 => add(&mut session, &format!("n{step}")),
                _ => commit_stored(&mut session),
            }
            states.push(seen(&session));
        }
        for round in 0..2 {
            for state in states.iter().rev().skip(1) {
                session.undo().unwrap();
                assert_eq!(&seen(&session), state, "undo, round {round}");
                assert_eq!(&seen(&store.session("main").unwrap()), state);
            }
            assert!(matches!(session.undo(), Err(UndoError::Nothing { .. })));
            for state in &states[1..] {
                session.redo().unwrap();
                assert_eq!(&seen(&session), state, "redo, round {round}");
            }
            assert!(matches!(session.redo(), Err(UndoError::Nothing { redo: true, .. })));
        }
        assert_eq!(store.contexts(None, 10).unwrap().len(), 1, "no undone line is left");
        let check = store.verify(&mut |_, _| {}).unwrap();
        assert!(check.is_clean(), "{check:?}");
    });
}

#[test]
fn undone_commits_stay_readable_until_retention_and_forks_of_them_stay_for_good() {
    on_every_store(|store| {
        let mut session = open(store);
        add(&mut session, "wrong");
        commit_stored(&mut session);
        let wrong = session.snapshot(SnapshotAddress::Back(0)).unwrap();
        store.fork("main", Some(SnapshotAddress::Cycle(4)), "alt").unwrap();
        session.pin_snapshot(SnapshotAddress::Cycle(4), "seen").unwrap();

        let undone = session.undo().unwrap();
        let line = undone.line.expect("a commit left");
        assert_eq!((undone.before, undone.head), (Some(Cycle(4)), Some(Cycle(3))));
        assert_eq!(session.snapshot_count(), 3);
        let kept =
            |name: &str| -> Snapshot { store.snapshot(name, SnapshotAddress::Cycle(4)).unwrap() };
        assert_eq!(kept(&line).digest(), wrong.digest());
        assert_eq!(kept("alt").digest(), wrong.digest());

        // The number is free again.
        session.discard().unwrap();
        add(&mut session, "right");
        commit_stored(&mut session);
        assert_ne!(kept("main").digest(), wrong.digest());
        assert!(matches!(session.redo(), Err(UndoError::Nothing { redo: true, .. })));

        assert_eq!(store.forget_operations("main").unwrap(), 1);
        store
            .retain("main", &Retention { keep_newest: Some(1), ..Retention::default() }, false)
            .unwrap();
        assert!(store.find(&line).unwrap().is_none());
        assert_eq!(kept("alt").digest(), wrong.digest(), "a fork is no part of the undone line");
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
        let mut session = store.session("main").unwrap();
        assert!(matches!(session.undo(), Err(UndoError::Nothing { unknown: true, .. })));
    });
}

#[test]
fn reset_and_discard_are_undone_like_any_other_step() {
    on_every_store(|store| {
        let mut session = open(store);
        add(&mut session, "open");
        let before = seen(&session);
        let reset = session.reset(SnapshotAddress::Cycle(1)).unwrap();
        assert_eq!(
            (session.snapshot_count(), reset.before, reset.head),
            (1, Some(Cycle(3)), Some(Cycle(1)))
        );
        assert!(session.fork_working().unwrap().working().resolve("open").is_none());
        session.undo().unwrap();
        assert_eq!(seen(&session), before);
        session.discard().unwrap();
        assert!(session.fork_working().unwrap().working().resolve("open").is_none());
        session.undo().unwrap();
        assert_eq!(seen(&session), before);
        session.redo().unwrap();
        session.undo().unwrap();
        assert_eq!(seen(&session), before);
        let commands: Vec<_> = session.operations().unwrap().iter().map(|it| it.before).collect();
        assert_eq!(commands.len(), 7);
    });
}

#[test]
fn the_first_commit_can_be_undone() {
    on_every_store(|store| {
        let mut session = store.create("main", &Default::default()).unwrap();
        session.set_command("test");
        add(&mut session, "first");
        let before = seen(&session);
        commit_stored(&mut session);
        let after = seen(&session);
        session.undo().unwrap();
        assert_eq!(seen(&session), before);
        assert_eq!(session.row().head, None);
        session.redo().unwrap();
        assert_eq!(seen(&session), after);
        session.undo().unwrap();
        session.undo().unwrap();
        assert!(session.fork_working().unwrap().working().resolve("first").is_none());
        add(&mut session, "other");
        commit_stored(&mut session);
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

#[test]
fn a_step_that_is_not_in_the_log_ends_what_can_be_undone() {
    on_every_store(|store| {
        let mut session = open(store);
        add(&mut session, "one");
        let mut silent = store.session("main").unwrap();
        silent
            .write(|context| {
                context.add(Place::head(), NewNode::text("x").id("x")).unwrap();
                Ok::<_, StoreError>(())
            })
            .unwrap();
        session.refresh().unwrap();
        assert_eq!(session.undo(), Err(UndoError::Nothing { redo: false, unknown: true }));
        add(&mut session, "two");
        session.undo().unwrap();
        let working = session.fork_working().unwrap();
        assert!(
            working.working().resolve("x").is_some() && working.working().resolve("two").is_none()
        );
    });
}

#[test]
fn a_renamed_context_keeps_everything() {
    on_every_store(|store| {
        let mut session = open(store);
        add(&mut session, "open");
        let before = seen(&session);
        store.create("taken", &Default::default()).unwrap();
        assert!(matches!(store.rename("main", "taken"), Err(StoreError::Exists { .. })));
        assert_eq!(store.rename("main", "other").unwrap().name, "other");
        assert!(store.find("main").unwrap().is_none());
        let mut session = store.session("other").unwrap();
        assert_eq!(seen(&session), before);
        session.undo().unwrap();
        assert!(matches!(store.rename("gone", "x"), Err(StoreError::NotFound { .. })));
    });
}
