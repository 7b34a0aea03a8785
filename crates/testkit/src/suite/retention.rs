//! Pins, and changes of what is retained.

use super::{
    checkpoint, commit, commits, content, create, cycles, fork, hash, head, ok, read, refused,
    stored,
};
use contextree_store::{
    Backend, Commit, ContextId, Cycle, Pin, Revision, Rewrite, Step, StoreError, Stretch,
};

fn pin(cycle: u32, label: &str) -> Pin {
    Pin { cycle: Cycle(cycle), label: label.to_owned() }
}

/// By cycle; the label may change.
pub fn pins_hold_snapshots_that_are_there(store: &dyn Backend) {
    let main = create(store, "main");
    let row = ok(store.append(main.id, Revision(1), &commits(1..=9)));
    for (cycle, label) in [(7, "release"), (2, "first"), (7, "the release")] {
        ok(store.pin(main.id, &pin(cycle, label)));
    }
    assert_eq!(ok(store.pins(main.id)), [pin(2, "first"), pin(7, "the release")]);
    let error = refused(store.pin(main.id, &pin(10, "")), "E_CONTEXT_NOT_FOUND");
    assert_eq!(error, StoreError::NotFound { context: "main@c10".to_owned() });
    refused(store.pin(main.id, &pin(0, "")), "E_CONTEXT_NOT_FOUND");
    refused(store.pin(ContextId(main.id.get() + 100), &pin(1, "")), "E_CONTEXT_NOT_FOUND");
    let side = fork(store, "side", main.branch, 5);
    ok(store.pin(side.id, &pin(4, "shared")));
    refused(store.pin(side.id, &pin(6, "")), "E_CONTEXT_NOT_FOUND");
    assert!(ok(store.unpin(main.id, Cycle(2))));
    assert!(!ok(store.unpin(main.id, Cycle(2))));
    assert_eq!(ok(store.pins(main.id)), [pin(7, "the release")]);
    assert_eq!(ok(store.pins(side.id)), [pin(4, "shared")]);
    assert_eq!(ok(store.find("main")), Some(row), "a pin is not a step");
}

/// Rows are removed and changed, checkpoints are added, and unused contents are removed.
pub fn a_rewrite_changes_what_is_kept(store: &dyn Backend) {
    let main = create(store, "main");
    let other = create(store, "other");
    let step = Step { contents: vec![content(1), content(2), content(3)], ..commits(1..=6) };
    let row = ok(store.append(main.id, Revision(1), &step));
    ok(store.append(
        other.id,
        Revision(1),
        &Step { contents: vec![content(2)], ..Step::default() },
    ));
    for cycle in [1, 3] {
        ok(store.add_checkpoint(main.branch, &checkpoint(cycle)));
    }
    ok(store.pin(main.id, &pin(5, "kept")));
    let thin = Commit { effects: None, bodies: b"what is left".to_vec(), ..commit(2) };
    let moved = contextree_store::Checkpoint { bodies: b"moved here".to_vec(), ..checkpoint(4) };
    let rewrite = Rewrite {
        commits: vec![thin.clone()],
        dropped_commits: [1, 3, 99].map(Cycle).to_vec(),
        checkpoints: vec![moved.clone()],
        dropped_checkpoints: [1, 3].map(Cycle).to_vec(),
        contents: vec![hash(3), hash(9)],
        dropped_snapshots: 3,
        pinned: vec![Cycle(5)],
        ..Rewrite::default()
    };
    refused(store.rewrite(main.id, Revision(1), &rewrite), "E_CONFLICT");
    refused(
        store.rewrite(ContextId(main.id.get() + 100), Revision(1), &rewrite),
        "E_CONTEXT_NOT_FOUND",
    );
    assert_eq!(ok(store.find("main")), Some(row.clone()));
    let after = ok(store.rewrite(main.id, row.revision, &rewrite));
    assert_eq!((after.revision, after.snapshots), (row.revision.next(), 3));
    assert_eq!((after.head, after.updated_ns), (Some(head(6)), row.updated_ns));
    assert_eq!(ok(store.find("main")), Some(after.clone()));
    let left = read(store, main.branch, 0, u32::MAX);
    assert_eq!(left, [thin, commit(4), commit(5), commit(6)]);
    assert_eq!(ok(store.count_commits(main.branch, Cycle::MAX)), 3);
    assert_eq!(ok(store.count_commits(main.branch, Cycle(4))), 1);
    assert_eq!(ok(store.checkpoint(main.branch, Cycle(3))), None);
    assert_eq!(ok(store.checkpoint(main.branch, Cycle::MAX)), Some(moved));
    assert_eq!(stored(store, &[1, 2, 3]), [2, 3], "the second is used by the other context");

    let again = Rewrite {
        checkpoints: vec![checkpoint(4)],
        pinned: vec![Cycle(5)],
        dropped_snapshots: 100,
        ..Rewrite::default()
    };
    let row = ok(store.rewrite(main.id, after.revision, &again));
    assert_eq!(row.snapshots, 0, "the count does not go below 0");
    assert_eq!(ok(store.checkpoint(main.branch, Cycle(4))), Some(checkpoint(4)), "replaced");
    assert_eq!(stored(store, &[1, 2, 3]), [2]);
    ok(store.delete(other.id, Revision(2)));
    assert!(stored(store, &[1, 2, 3]).is_empty());
}

/// Between planning and removing.
pub fn a_rewrite_is_refused_if_a_fork_or_pin_slipped_in(store: &dyn Backend) {
    let main = create(store, "main");
    let row = ok(store.append(main.id, Revision(1), &commits(1..=6)));
    let rewrite = Rewrite { dropped_commits: [1, 2].map(Cycle).to_vec(), ..Rewrite::default() };
    ok(store.pin(main.id, &pin(2, "")));
    let error = refused(store.rewrite(main.id, Revision(2), &rewrite), "E_CONFLICT");
    let (context, head) = ("main".to_owned(), row.head);
    assert_eq!(
        error,
        StoreError::Conflict { context, expected: Revision(2), found: Revision(2), head }
    );
    ok(store.unpin(main.id, Cycle(2)));
    let side = fork(store, "side", main.branch, 2);
    refused(store.rewrite(main.id, Revision(2), &rewrite), "E_CONFLICT");
    assert_eq!(cycles(&read(store, main.branch, 0, u32::MAX)), [1, 2, 3, 4, 5, 6]);
    assert_eq!(ok(store.find("main")), Some(row));
    let children = vec![Stretch { branch: side.branch, upto: Cycle(2) }];
    let known = Rewrite { children, dropped_commits: vec![Cycle(4)], ..Rewrite::default() };
    ok(store.rewrite(main.id, Revision(2), &known));
    assert_eq!(cycles(&read(store, main.branch, 0, u32::MAX)), [1, 2, 3, 5, 6]);
    ok(store.delete(side.id, Revision(1)));
    refused(store.rewrite(main.id, Revision(3), &known), "E_CONFLICT");
}

/// After some work, and after reclaiming its space.
pub fn a_sound_store_has_no_faults(store: &dyn Backend) {
    assert_eq!(ok(store.check()), Vec::<String>::new());
    let main = create(store, "main");
    let mut revision = Revision::FIRST;
    for cycle in 1..=100 {
        let number = u8::try_from(cycle).expect("small");
        let step = Step { contents: vec![content(number)], ..commits([cycle]) };
        revision = ok(store.append(main.id, revision, &step)).revision;
    }
    let side = fork(store, "side", main.branch, 50);
    ok(store.delete(main.id, revision));
    ok(store.reclaim());
    assert_eq!(ok(store.check()), Vec::<String>::new());
    assert_eq!(read(store, main.branch, 0, u32::MAX).len(), 50);
    assert_eq!(stored(store, &[50, 51]), [50]);
    ok(store.append(side.id, Revision(1), &commits([51])));
    assert_eq!(ok(store.check()), Vec::<String>::new());
}
