//! Contents that are stored once, and what deleting a context removes.

use super::{checkpoint, commits, content, create, cycles, fork, hash, ok, read, refused, stored};
use contextree_store::{
    Backend, ContentRow, ContextId, ContextRow, Cycle, Revision, Step, Stretch,
};

fn using(step: Step, numbers: &[u8]) -> Step {
    Step { contents: numbers.iter().map(|number| content(*number)).collect(), ..step }
}

fn delete(store: &dyn Backend, name: &str) {
    let row = ok(store.find(name)).expect("the context exists");
    ok(store.delete(row.id, row.revision));
    assert_eq!(ok(store.find(name)), None);
}

/// Across contexts; the first one is kept.
pub fn equal_contents_are_stored_once(store: &dyn Backend) {
    let (one, two) = (create(store, "one"), create(store, "two"));
    ok(store.append(one.id, Revision(1), &using(commits([1]), &[1, 2, 1])));
    let otherwise = ContentRow { hash: hash(1), data: b"packed in another way".to_vec() };
    let step = Step { contents: vec![otherwise, content(3)], ..commits([1]) };
    ok(store.append(two.id, Revision(1), &step));
    let asked = [hash(3), hash(1), hash(9), hash(1)];
    let (first, third) = (Some(content(1).data), Some(content(3).data));
    assert_eq!(ok(store.contents(&asked)), [third, first.clone(), None, first]);
    assert_eq!(ok(store.contents(&[])), Vec::<Option<Vec<u8>>>::new());
}

/// Not before.
pub fn contents_go_with_the_last_context_that_uses_them(store: &dyn Backend) {
    for name in ["one", "two", "three"] {
        create(store, name);
    }
    let id = |name| ok(store.find(name)).expect("the context exists").id;
    ok(store.append(id("one"), Revision(1), &using(commits([1]), &[1, 2])));
    ok(store.append(id("two"), Revision(1), &using(Step::default(), &[2, 3])));
    ok(store.append(id("three"), Revision(1), &using(commits([1]), &[1, 3])));
    refused(store.delete(id("one"), Revision(1)), "E_CONFLICT");
    assert_eq!(stored(store, &[1, 2, 3]), [1, 2, 3]);
    let branch = ok(store.find("one")).expect("the context exists").branch;
    delete(store, "one");
    assert_eq!(stored(store, &[1, 2, 3]), [1, 2, 3]);
    assert_eq!(read(store, branch, 0, u32::MAX), []);
    delete(store, "three");
    assert_eq!(stored(store, &[1, 2, 3]), [2, 3]);
    delete(store, "two");
    assert!(stored(store, &[1, 2, 3]).is_empty());
    assert_eq!(ok(store.list(None, 10)), []);
    refused(store.delete(id_of_nobody(), Revision(1)), "E_CONTEXT_NOT_FOUND");
}

fn id_of_nobody() -> ContextId {
    ContextId(i64::MAX)
}

/// Everything up to the fork, and nothing after it.
pub fn a_deleted_context_leaves_what_forks_need(store: &dyn Backend) {
    let main = create(store, "main");
    let mut revision = Revision::FIRST;
    for cycle in 1..=6 {
        let number = u8::try_from(cycle).expect("small");
        let row = ok(store.append(main.id, revision, &using(commits([cycle]), &[number])));
        revision = row.revision;
    }
    ok(store.append(main.id, revision, &using(Step::default(), &[7])));
    for cycle in [2, 5] {
        ok(store.add_checkpoint(main.branch, &checkpoint(cycle)));
    }
    let side = fork(store, "side", main.branch, 4);
    let early = fork(store, "early", main.branch, 2);
    ok(store.append(side.id, Revision(1), &using(commits([5]), &[6, 8])));
    delete(store, "main");
    assert_eq!(cycles(&read(store, main.branch, 0, u32::MAX)), [1, 2, 3, 4]);
    let newest = |store: &dyn Backend| ok(store.checkpoint(main.branch, Cycle::MAX));
    assert_eq!(newest(store), Some(checkpoint(2)));
    let all = [1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(stored(store, &all), [1, 2, 3, 4, 6, 8], "the sixth is used by the fork itself");
    assert_eq!(ok(store.lineage(side.branch)).len(), 2);

    // When the longer fork is deleted, the rest is cut back to what the shorter one needs.
    delete(store, "side");
    assert_eq!(cycles(&read(store, main.branch, 0, u32::MAX)), [1, 2]);
    assert_eq!(stored(store, &all), [1, 2]);
    assert_eq!(ok(store.children(main.branch)), [Stretch { branch: early.branch, upto: Cycle(2) }]);
    delete(store, "early");
    assert_eq!(read(store, main.branch, 0, u32::MAX), []);
    assert_eq!(newest(store), None);
    assert!(stored(store, &all).is_empty());
}

/// A chain of forks whose contexts are deleted one after the other.
pub fn deleting_forks_frees_the_branches_behind_them(store: &dyn Backend) {
    let mut rows: Vec<ContextRow> = vec![create(store, "f0")];
    let first = ok(store.append(rows[0].id, Revision(1), &using(commits([1]), &[0])));
    rows[0] = first;
    for number in 1_u8..4 {
        let parent = &rows[usize::from(number) - 1];
        let name = format!("f{number}");
        let row = fork(store, &name, parent.branch, u32::from(number));
        let step = using(commits([u32::from(number) + 1]), &[number]);
        rows.push(ok(store.append(row.id, Revision(1), &step)));
    }
    delete(store, "f1");
    delete(store, "f0");
    delete(store, "f2");
    assert_eq!(stored(store, &[0, 1, 2, 3]), [0, 1, 2, 3], "the last fork needs all of it");
    assert_eq!(ok(store.lineage(rows[3].branch)).len(), 4);
    delete(store, "f3");
    assert!(stored(store, &[0, 1, 2, 3]).is_empty());
    for row in &rows {
        refused(store.lineage(row.branch), "E_CONTEXT_NOT_FOUND");
        assert_eq!(read(store, row.branch, 0, u32::MAX), []);
    }
}

/// Another process may still hold it.
pub fn a_deleted_number_is_never_used_again(store: &dyn Backend) {
    let first = create(store, "main");
    delete(store, "main");
    let second = create(store, "main");
    assert!(second.id != first.id && second.branch != first.branch);
    refused(store.append(first.id, Revision(1), &Step::default()), "E_CONTEXT_NOT_FOUND");
    refused(store.journal(first.id), "E_CONTEXT_NOT_FOUND");
    assert_eq!(ok(store.attempts(first.id)), []);
}
