//! Contexts and steps.

use super::{commit, commits, content, create, head, key, new, ok, read, refused, stored};
use contextree_store::{
    AttemptRow, Backend, BranchId, Commit, ContextId, Cycle, NewContext, Revision, Step, StoreError,
};

/// A created context exists.
pub fn a_new_context_is_found_and_listed(store: &dyn Backend) {
    assert_eq!(ok(store.find("main")), None);
    assert_eq!(ok(store.list(None, 10)), []);
    let made = ok(store.create(&NewContext { settings: r#"{"a":1}"#.to_owned(), ..new("main") }));
    assert_eq!((made.name.as_str(), made.revision, made.head), ("main", Revision(1), None));
    assert_eq!((made.snapshots, made.settings.as_str()), (0, r#"{"a":1}"#));
    assert_eq!((made.created_ns, made.updated_ns), (1_000, 1_000));
    assert_eq!(ok(store.find("main")), Some(made.clone()));
    assert_eq!(ok(store.list(None, 10)), std::slice::from_ref(&made));
    assert_eq!(ok(store.journal(made.id)), (Revision(1), vec![]));
    assert_eq!(ok(store.attempts(made.id)), []);
    assert_eq!(ok(store.pins(made.id)), []);

    let first = Step { journal: Some(b"edit".to_vec()), ..commits([1, 2]) };
    let settled = ok(store.create(&NewContext { first, ..new("settled") }));
    assert_eq!(
        (settled.revision, settled.snapshots, settled.head),
        (Revision(1), 2, Some(head(2)))
    );
    assert_eq!(settled.updated_ns, 1_000, "its initial state is as old as the context");
    assert_eq!(ok(store.journal(settled.id)), (Revision(1), vec![b"edit".to_vec()]));
    assert_eq!(read(store, settled.branch, 0, u32::MAX), [commit(1), commit(2)]);
}

/// Pages of a list follow each other without overlap.
pub fn names_are_unique_and_listed_in_the_order_of_their_bytes(store: &dyn Backend) {
    let names = ["b", "a", "Z", "é", "a/b", "ab", "a b", "日本", "_"];
    for name in names {
        create(store, name);
    }
    let error = refused(store.create(&new("é")), "E_CONTEXT_EXISTS");
    assert_eq!(error, StoreError::Exists { context: "é".to_owned() });

    let mut expected = names.to_vec();
    expected.sort_unstable();
    let mut found: Vec<String> = Vec::new();
    loop {
        let page = ok(store.list(found.last().map(String::as_str), 2));
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 2);
        found.extend(page.into_iter().map(|row| row.name));
    }
    assert_eq!(found, expected);
    assert_eq!(ok(store.list(None, 0)), []);
    assert_eq!(ok(store.list(Some("日本"), 10)), [], "nothing follows the last");
}

/// The row has what the step recorded.
pub fn a_step_counts_a_revision(store: &dyn Backend) {
    let made = create(store, "main");
    let edited = ok(store.append(made.id, Revision(1), &Step { now_ns: 5, ..Step::default() }));
    assert_eq!((edited.revision, edited.head, edited.updated_ns), (Revision(2), None, 5));
    let step = Step { settings: Some("{\"b\":2}".to_owned()), ..commits([1]) };
    let committed = ok(store.append(made.id, Revision(2), &step));
    assert_eq!((committed.revision, committed.head), (Revision(3), Some(head(1))));
    assert_eq!((committed.snapshots, committed.updated_ns), (1, 2_000));
    assert_eq!((committed.settings.as_str(), committed.created_ns), ("{\"b\":2}", 1_000));
    assert_eq!(ok(store.find("main")), Some(committed));
    let again = ok(store.append(made.id, Revision(3), &Step::default()));
    assert_eq!(again.head, Some(head(1)), "a step without commits leaves the head");
    assert_eq!(again.settings, "{\"b\":2}");
    assert_eq!(ok(store.find("main")), Some(again));
}

/// Nothing of the step is stored: neither its commit nor its contents, attempts or settings.
pub fn a_step_upon_an_old_revision_is_refused_and_leaves_nothing(store: &dyn Backend) {
    let made = create(store, "main");
    let row = ok(store.append(made.id, Revision(1), &Step { key: key(1), ..commits([1]) }));
    let late = Step {
        key: key(2),
        journal: Some(vec![1]),
        contents: vec![content(1)],
        attempts: vec![AttemptRow { id: "a".to_owned(), record: "{}".to_owned() }],
        settings: Some("{\"late\":true}".to_owned()),
        ..commits([1])
    };
    for expected in [0, 1, 3, u64::MAX].map(Revision) {
        let error = refused(store.append(made.id, expected, &late), "E_CONFLICT");
        let lost_to = Some(head(1));
        let context = "main".to_owned();
        assert_eq!(
            error,
            StoreError::Conflict { context, expected, found: Revision(2), head: lost_to }
        );
    }
    assert_eq!(ok(store.find("main")), Some(row));
    assert_eq!(read(store, made.branch, 0, u32::MAX), [commit(1)]);
    assert_eq!(ok(store.journal(made.id)), (Revision(2), vec![]));
    assert_eq!(ok(store.attempts(made.id)), []);
    assert!(stored(store, &[1]).is_empty());
    refused(store.append(ContextId(made.id.get() + 1), Revision(1), &late), "E_CONTEXT_NOT_FOUND");
}

/// A retry after a lost answer.
pub fn a_step_given_twice_lands_once(store: &dyn Backend) {
    let made = create(store, "main");
    let first = Step { key: key(1), ..commits([1]) };
    let landed = ok(store.append(made.id, Revision(1), &first));
    assert_eq!(ok(store.append(made.id, Revision(1), &first)), landed);
    assert_eq!(ok(store.append(made.id, Revision(1), &first)), landed);
    assert_eq!(cycles_of(store, made.branch), [1]);
    // Only the step that led to the current revision can be recognised.
    let second = ok(store.append(made.id, Revision(2), &Step { key: key(2), ..commits([2]) }));
    refused(store.append(made.id, Revision(1), &first), "E_CONFLICT");
    assert_eq!(ok(store.find("main")), Some(second));
    // A step without a key never equals another.
    let nameless = Step::default();
    let third = ok(store.append(made.id, Revision(3), &nameless));
    refused(store.append(made.id, Revision(3), &nameless), "E_CONFLICT");
    assert_eq!(ok(store.find("main")), Some(third));
}

/// The same for the step that creates a context.
pub fn a_context_made_twice_with_one_key_is_made_once(store: &dyn Backend) {
    let with =
        |number| NewContext { first: Step { key: key(number), ..commits([1]) }, ..new("main") };
    let made = ok(store.create(&with(1)));
    assert_eq!(ok(store.create(&with(1))), made);
    refused(store.create(&with(2)), "E_CONTEXT_EXISTS");
    ok(store.append(made.id, Revision(1), &Step { key: key(1), ..Step::default() }));
    refused(store.create(&with(1)), "E_CONTEXT_EXISTS");
    create(store, "nameless");
    refused(store.create(&new("nameless")), "E_CONTEXT_EXISTS");
}

/// A commit that exists cannot be stored again, and nothing of its step is stored.
pub fn a_step_that_fails_leaves_nothing(store: &dyn Backend) {
    let made = create(store, "main");
    let row = ok(store.append(made.id, Revision(1), &commits([1, 2])));
    let bad = Step { contents: vec![content(1)], journal: Some(vec![1]), ..commits([3, 2]) };
    refused(store.append(made.id, Revision(2), &bad), "E_STORE");
    assert_eq!(ok(store.find("main")), Some(row));
    assert_eq!(cycles_of(store, made.branch), [1, 2]);
    assert!(stored(store, &[1]).is_empty());
    assert_eq!(ok(store.journal(made.id)), (Revision(2), vec![]));

    let first = Step { contents: vec![content(1)], ..commits([1, 1]) };
    refused(store.create(&NewContext { first, ..new("bad") }), "E_STORE");
    assert_eq!(ok(store.find("bad")), None);
    assert!(stored(store, &[1]).is_empty());
    let good = ok(store.append(made.id, Revision(2), &commits([3])));
    assert_eq!((good.revision, good.snapshots), (Revision(3), 3), "the store works as before");
}

/// Edits of the working state are kept until a commit includes them.
pub fn the_journal_is_emptied_by_a_commit(store: &dyn Backend) {
    let made = create(store, "main");
    let other = create(store, "other");
    let edit = |text: &str| Step { journal: Some(text.as_bytes().to_vec()), ..Step::default() };
    ok(store.append(made.id, Revision(1), &edit("one")));
    ok(store.append(other.id, Revision(1), &edit("elsewhere")));
    ok(store.append(made.id, Revision(2), &Step::default()));
    ok(store.append(made.id, Revision(3), &edit("two")));
    assert_eq!(ok(store.journal(made.id)), (Revision(4), vec![b"one".to_vec(), b"two".to_vec()]));
    ok(store.append(
        made.id,
        Revision(4),
        &Step { journal: Some(b"after".to_vec()), ..commits([1]) },
    ));
    assert_eq!(ok(store.journal(made.id)), (Revision(5), vec![b"after".to_vec()]));
    ok(store.append(made.id, Revision(5), &edit("more")));
    assert_eq!(
        ok(store.journal(made.id)),
        (Revision(6), vec![b"after".to_vec(), b"more".to_vec()])
    );
    ok(store.append(made.id, Revision(6), &commits([2])));
    assert_eq!(ok(store.journal(made.id)), (Revision(7), vec![]));
    assert_eq!(ok(store.journal(other.id)), (Revision(2), vec![b"elsewhere".to_vec()]));
    refused(store.journal(ContextId(other.id.get() + 1)), "E_CONTEXT_NOT_FOUND");
}

/// An attempt that ends keeps its position.
pub fn attempts_keep_their_place(store: &dyn Backend) {
    let made = create(store, "main");
    let attempt =
        |id: &str, record: &str| AttemptRow { id: id.to_owned(), record: record.to_owned() };
    let with = |attempts: Vec<AttemptRow>| Step { attempts, ..Step::default() };
    ok(store.append(made.id, Revision(1), &with(vec![attempt("z", "{}"), attempt("a", "{}")])));
    ok(store.append(made.id, Revision(2), &with(vec![attempt("m", "{\"n\":1}")])));
    ok(store.append(made.id, Revision(3), &with(vec![attempt("z", "{\"done\":true}")])));
    let expected = [attempt("z", "{\"done\":true}"), attempt("a", "{}"), attempt("m", "{\"n\":1}")];
    assert_eq!(ok(store.attempts(made.id)), expected);
    let other = create(store, "other");
    ok(store.append(other.id, Revision(1), &with(vec![attempt("z", "[]")])));
    assert_eq!(ok(store.attempts(other.id)), [attempt("z", "[]")]);
    assert_eq!(ok(store.attempts(made.id)), expected, "ids belong to one context");
}

/// Empty blobs, large ones, and every byte.
pub fn blobs_of_any_size_come_back(store: &dyn Backend) {
    let made = create(store, "main");
    let every: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    for (cycle, size) in (1..).zip([0, 1, 255, 4_000, 4_096, 70_000, 3_000_000]) {
        let effects = Some(every[..size].to_vec());
        let bodies = every[every.len() - size..].to_vec();
        let row = Commit { cycle: Cycle(cycle), effects, bodies };
        let step = Step {
            commits: vec![row.clone()],
            head: Some(head(cycle)),
            journal: Some(every[..size].to_vec()),
            ..Step::default()
        };
        ok(store.append(made.id, Revision(u64::from(cycle)), &step));
        assert_eq!(read(store, made.branch, cycle, cycle), [row]);
        assert_eq!(ok(store.journal(made.id)).1, [every[..size].to_vec()]);
    }
    ok(store.append(made.id, Revision(8), &commits([u32::MAX])));
    assert_eq!(
        cycles_of(store, made.branch).last(),
        Some(&u32::MAX),
        "the whole range of numbers is valid"
    );
    let times = Step { now_ns: i64::MIN, ..Step::default() };
    assert_eq!(ok(store.append(made.id, Revision(9), &times)).updated_ns, i64::MIN);
}

fn cycles_of(store: &dyn Backend, branch: BranchId) -> Vec<u32> {
    super::cycles(&read(store, branch, 0, u32::MAX))
}
