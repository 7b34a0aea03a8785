//! Branches, commits and checkpoints.

use super::{checkpoint, commit, commits, create, cycles, fork, head, new, ok, read, refused};
use contextree_store::{
    Backend, BranchId, Commit, Cycle, NewContext, Revision, Step, StoreError, Stretch,
};

/// In any range, also beyond the last commit.
pub fn commits_are_handed_out_in_order(store: &dyn Backend) {
    let (one, two) = (create(store, "one"), create(store, "two"));
    ok(store.append(one.id, Revision(1), &commits(1..=3)));
    ok(store.append(two.id, Revision(1), &commits([1])));
    ok(store.append(one.id, Revision(2), &commits([4, 7])));
    let of = |first, last| cycles(&read(store, one.branch, first, last));
    assert_eq!(of(0, u32::MAX), [1, 2, 3, 4, 7]);
    assert_eq!(of(2, 4), [2, 3, 4]);
    assert!(of(5, 6).is_empty());
    assert!(of(4, 3).is_empty());
    assert_eq!(of(7, 7), [7]);
    assert_eq!(read(store, two.branch, 0, u32::MAX), [commit(1)]);
    assert_eq!(read(store, BranchId(two.branch.get() + 100), 0, u32::MAX), []);
    let count = |branch, cycle| ok(store.count_commits(branch, Cycle(cycle)));
    assert_eq!((count(one.branch, 0), count(one.branch, 6)), (0, 4));
    assert_eq!((count(one.branch, u32::MAX), count(two.branch, 1)), (5, 1));
}

/// Its error is returned, and calls to the store in the meantime do not deadlock.
pub fn a_visitor_may_stop_and_may_ask_the_store(store: &dyn Backend) {
    let made = create(store, "main");
    ok(store.append(made.id, Revision(1), &commits(1..=10)));
    let mut seen = 0;
    let stopped = store.commits(made.branch, Cycle(1), Cycle(10), &mut |commit| {
        seen += 1;
        assert_eq!(ok(store.count_commits(made.branch, commit.cycle)), seen);
        if commit.cycle == 3 {
            return Err(StoreError::Backend { message: "enough".to_owned() });
        }
        Ok(())
    });
    assert_eq!(stopped, Err(StoreError::Backend { message: "enough".to_owned() }));
    assert_eq!(seen, 3);
    let mut revision = Revision(2);
    ok(store.bodies(made.branch, &[1, 2, 3].map(Cycle), &mut |cycle, _| {
        let row = ok(store.append(made.id, revision, &commits([cycle.get() + 10])));
        revision = row.revision;
        Ok(())
    }));
    assert_eq!(ok(store.count_commits(made.branch, Cycle::MAX)), 13, "it may even write");
}

/// Only the requested ones.
pub fn bodies_are_handed_out_by_cycle(store: &dyn Backend) {
    let made = create(store, "main");
    ok(store.append(made.id, Revision(1), &commits(1..=5)));
    let mut found = Vec::new();
    ok(store.bodies(made.branch, &[2, 3, 5, 9].map(Cycle), &mut |cycle, bodies| {
        found.push((cycle, bodies));
        Ok(())
    }));
    let expected: Vec<(Cycle, Vec<u8>)> =
        [2, 3, 5].into_iter().map(|cycle| (Cycle(cycle), commit(cycle).bodies)).collect();
    assert_eq!(found, expected);
}

/// At or before a cycle, of this branch.
pub fn the_newest_checkpoint_is_found(store: &dyn Backend) {
    let made = create(store, "main");
    let row = ok(store.append(made.id, Revision(1), &commits(1..=9)));
    for cycle in [3, 7] {
        ok(store.add_checkpoint(made.branch, &checkpoint(cycle)));
    }
    let at = |cycle| ok(store.checkpoint(made.branch, Cycle(cycle))).map(|found| found.cycle.get());
    assert_eq!((at(2), at(3), at(6)), (None, Some(3), Some(3)));
    assert_eq!((at(7), at(u32::MAX)), (Some(7), Some(7)));
    assert_eq!(ok(store.checkpoint(made.branch, Cycle(5))), Some(checkpoint(3)));
    assert_eq!(ok(store.checkpoint_bodies(made.branch, Cycle(3))), Some(checkpoint(3).bodies));
    assert_eq!(ok(store.checkpoint_bodies(made.branch, Cycle(4))), None);
    assert_eq!(ok(store.checkpoint(BranchId(made.branch.get() + 100), Cycle(5))), None);

    let other = contextree_store::Checkpoint { tree: vec![1], ..checkpoint(3) };
    ok(store.add_checkpoint(made.branch, &other));
    assert_eq!(
        ok(store.checkpoint(made.branch, Cycle(3))),
        Some(checkpoint(3)),
        "the first one stays"
    );
    refused(store.add_checkpoint(BranchId(made.branch.get() + 100), &other), "E_CONTEXT_NOT_FOUND");
    assert_eq!(ok(store.find("main")), Some(row), "a checkpoint is not a step");
}

/// A fork has the history before it, and its own.
pub fn forks_of_forks_share_history(store: &dyn Backend) {
    let main = create(store, "main");
    ok(store.append(main.id, Revision(1), &commits(1..=10)));
    let side = fork(store, "side", main.branch, 6);
    assert_eq!((side.revision, side.head, side.snapshots), (Revision(1), None, 6));
    let side = ok(store.append(side.id, Revision(1), &commits([7, 8])));
    assert_eq!((side.head, side.snapshots), (Some(head(8)), 8));
    let first = Step { journal: Some(b"work".to_vec()), head: Some(head(7)), ..Step::default() };
    let from = Some(Stretch { branch: side.branch, upto: Cycle(7) });
    let leaf = ok(store.create(&NewContext { from, first, ..new("leaf") }));
    assert_eq!((leaf.head, leaf.snapshots), (Some(head(7)), 7));
    assert_eq!(ok(store.journal(leaf.id)).1, [b"work".to_vec()]);

    let stretch = |branch, upto| Stretch { branch, upto: Cycle(upto) };
    let lineage = |branch| ok(store.lineage(branch));
    assert_eq!(lineage(main.branch), [stretch(main.branch, u32::MAX)]);
    assert_eq!(lineage(side.branch), [stretch(main.branch, 6), stretch(side.branch, u32::MAX)]);
    assert_eq!(
        lineage(leaf.branch),
        [stretch(main.branch, 6), stretch(side.branch, 7), stretch(leaf.branch, u32::MAX)]
    );
    // It begins with a snapshot that the branch has from its own parent.
    let early = fork(store, "early", side.branch, 4);
    assert_eq!(early.snapshots, 4);
    assert_eq!(
        lineage(early.branch),
        [stretch(main.branch, 4), stretch(side.branch, 4), stretch(early.branch, u32::MAX)]
    );
    refused(store.lineage(BranchId(early.branch.get() + 100)), "E_CONTEXT_NOT_FOUND");

    assert_eq!(ok(store.children(main.branch)), [stretch(side.branch, 6)]);
    let mut children = ok(store.children(side.branch));
    children.sort_by_key(|child| child.upto);
    assert_eq!(children, [stretch(early.branch, 4), stretch(leaf.branch, 7)]);
    assert_eq!(ok(store.children(leaf.branch)), []);
    assert!(cycles(&read(store, leaf.branch, 0, u32::MAX)).is_empty(), "history is not copied");
    ok(store.append(main.id, Revision(2), &commits([11])));
    assert_eq!(ok(store.find("side")).map(|row| row.snapshots), Some(8));
}

/// Otherwise it would show another snapshot than requested.
pub fn a_fork_begins_with_a_snapshot_that_is_there(store: &dyn Backend) {
    let main = create(store, "main");
    let gone = Commit { effects: None, ..commit(2) };
    let step = Step { commits: vec![commit(1), gone, commit(3)], ..commits([]) };
    ok(store.append(main.id, Revision(1), &step));
    ok(store.add_checkpoint(main.branch, &checkpoint(5)));
    let attempt = |branch, upto| {
        let from = Some(Stretch { branch, upto: Cycle(upto) });
        store.create(&NewContext { from, ..new("fork") })
    };
    refused(attempt(main.branch, 2), "E_CONTEXT_NOT_FOUND");
    refused(attempt(main.branch, 4), "E_CONTEXT_NOT_FOUND");
    refused(attempt(BranchId(main.branch.get() + 100), 1), "E_CONTEXT_NOT_FOUND");
    refused(attempt(BranchId(main.branch.get() + 100), 0), "E_CONTEXT_NOT_FOUND");
    assert_eq!(ok(store.find("fork")), None);
    let made = ok(attempt(main.branch, 3));
    assert_eq!(made.snapshots, 2, "a commit without effects is not a snapshot");
    ok(store.create(&NewContext {
        from: Some(Stretch { branch: made.branch, upto: Cycle(3) }),
        ..new("fork of the fork, at the same snapshot")
    }));
    fork(store, "at a checkpoint", main.branch, 5);
    let empty = fork(store, "at the very beginning", main.branch, 0);
    assert_eq!(empty.snapshots, 0);
}

/// An import whose history begins with a later cycle.
pub fn a_context_of_its_own_may_begin_with_a_tree(store: &dyn Backend) {
    let made = ok(store.create(&NewContext {
        base: Some(checkpoint(41)),
        first: commits([42, 43]),
        ..new("imported")
    }));
    assert_eq!((made.head, made.snapshots), (Some(head(43)), 2));
    assert_eq!(ok(store.lineage(made.branch)).len(), 1);
    assert_eq!(ok(store.checkpoint(made.branch, Cycle(42))), Some(checkpoint(41)));
    assert_eq!(ok(store.checkpoint_bodies(made.branch, Cycle(41))), Some(checkpoint(41).bodies));
    assert_eq!(ok(store.checkpoint(made.branch, Cycle(40))), None);
}
