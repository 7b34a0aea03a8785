//! What the tests have in common: schemas, steps, and looking at what is stored.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use contextree_store::{Backend, Commit, ContextRow, Cycle, Head, NewContext, Step, StoreError};
use contextree_store_postgres::Postgres;
use contextree_testkit::postgres::Server;

/// Returns the parameters for a schema that nobody else uses.
pub(crate) fn schema() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("schema=test_{}_{number}", std::process::id())
}

/// Opens a store in a new schema of the shared server.
pub(crate) fn open() -> Postgres {
    Postgres::open(&contextree_testkit::postgres::shared().url_with(&schema())).unwrap()
}

/// Opens a store in a new schema of a server, with further parameters.
pub(crate) fn open_on(server: &Server, parameters: &str) -> (Postgres, String) {
    let url = server.url_with(&format!("{}&{parameters}", schema()));
    (Postgres::open(&url).unwrap(), url)
}

/// Returns a key that no other step has.
pub(crate) fn key() -> [u8; 16] {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let mut key = [0; 16];
    key[..4].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    key[4..8].copy_from_slice(&std::process::id().to_be_bytes());
    key
}

/// Returns what makes an empty context.
pub(crate) fn new(name: &str) -> NewContext {
    NewContext {
        name: name.to_owned(),
        created_ns: 1,
        settings: "{}".to_owned(),
        from: None,
        base: None,
        first: Step { key: key(), ..Step::default() },
    }
}

/// Makes an empty context.
pub(crate) fn create(store: &dyn Backend, name: &str) -> ContextRow {
    store.create(&new(name)).unwrap()
}

/// Returns a step of one commit that says something.
pub(crate) fn commit(cycle: u32, text: &str) -> Step {
    Step {
        now_ns: i64::from(cycle),
        key: key(),
        commits: vec![Commit {
            cycle: Cycle(cycle),
            effects: Some(text.as_bytes().to_vec()),
            bodies: text.as_bytes().to_vec(),
        }],
        head: Some(Head { cycle: Cycle(cycle), digest: [7; 32] }),
        ..Step::default()
    }
}

/// Returns what the commits of a context say, and checks that their numbers have no gaps.
pub(crate) fn history(store: &dyn Backend, context: &ContextRow) -> Vec<String> {
    let mut texts = Vec::new();
    store
        .commits(context.branch, Cycle::ZERO, Cycle::MAX, &mut |commit| {
            assert_eq!(commit.cycle.get() as usize, texts.len() + 1, "a gap in the history");
            let text = String::from_utf8(commit.effects.unwrap()).unwrap();
            assert_eq!(text.as_bytes(), commit.bodies, "half of a commit");
            texts.push(text);
            Ok(())
        })
        .unwrap();
    texts
}

/// Checks that a history has exactly these entries, in whatever order, none twice.
pub(crate) fn same_entries(history: &[String], expected: impl IntoIterator<Item = String>) {
    let set: BTreeSet<&str> = history.iter().map(String::as_str).collect();
    assert_eq!(set.len(), history.len(), "something landed twice");
    let expected: BTreeSet<String> = expected.into_iter().collect();
    assert_eq!(set, expected.iter().map(String::as_str).collect(), "something was lost");
}

/// Appends a commit to whatever the head is, until it has landed. Counts the errors on the way; only clear ones are allowed.
pub(crate) fn insist(store: &dyn Backend, name: &str, text: &str, on_error: &dyn Fn(&StoreError)) {
    'again: loop {
        let row = match store.find(name) {
            Ok(row) => row.unwrap(),
            Err(error) => {
                assert_eq!(error.code(), "E_STORE_UNAVAILABLE", "{error}");
                on_error(&error);
                continue;
            }
        };
        let step = commit(row.head.map_or(1, |head| head.cycle.next().get()), text);
        loop {
            match store.append(row.id, row.revision, &step) {
                Ok(now) => {
                    assert_eq!(now.revision, row.revision.next());
                    return;
                }
                Err(StoreError::Conflict { .. }) => continue 'again,
                // Whether it landed or not: the same step again is safe.
                Err(error @ StoreError::Unavailable { .. }) => on_error(&error),
                Err(error) => panic!("not a clear error: {error:?}"),
            }
        }
    }
}

/// Waits until something is true; fails after a minute.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..12_000 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("never happened: {what}");
}
