//! Stores for tests, and shared helpers.

use std::sync::atomic::{AtomicU32, Ordering};

use contextree::{CommitReport, Context, NewNode, Place};
use contextree_store::{Session, Store, StoreError, StoreOptions};
use tempfile::TempDir;

/// The URL of an empty store, which is removed on drop.
pub(crate) struct Home {
    pub(crate) url: String,
    _folder: Option<TempDir>,
}

impl Home {
    pub(crate) fn file() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("store.db").display());
        Home { url, _folder: Some(folder) }
    }

    pub(crate) fn server() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let parameters = format!("schema=kit_{}_{number}", std::process::id());
        Home { url: contextree_testkit::postgres::shared().url_with(&parameters), _folder: None }
    }

    /// Returns the path of a file.
    pub(crate) fn path(&self) -> &str {
        self.url.strip_prefix("sqlite:").unwrap()
    }

    pub(crate) fn open(&self) -> Store {
        open(&self.url)
    }
}

/// Opens a store that keeps nothing in memory, so that every session is read from rows.
pub(crate) fn open(url: &str) -> Store {
    let options = StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() };
    contextree_store_postgres::open(url, options).unwrap()
}

/// Runs a test on every kind of store.
pub(crate) fn on_every_store(test: impl Fn(&Store)) {
    test(&open("memory:"));
    let file = Home::file();
    test(&file.open());
    let server = Home::server();
    test(&server.open());
}

/// Returns a block whose content is its id.
pub(crate) fn block(id: &str) -> NewNode {
    NewNode::text(id).id(id)
}

pub(crate) fn commit(context: &mut Context) -> CommitReport {
    context.commit().expect("a plain commit never fails")
}

/// Commits in a store.
pub(crate) fn commit_stored(session: &mut Session) {
    session
        .write(|context| {
            commit(context);
            Ok::<_, StoreError>(())
        })
        .unwrap();
}

/// Returns a context with a system block `s`, and turns with a user block `u1`, an answer `a1` and
/// post-context `p1`, and so on. Some contents are long.
pub(crate) fn turns(count: usize) -> Context {
    let mut context = Context::new();
    context.add(Place::system(), block("s").role("system")).unwrap();
    for turn in 1..=count {
        let long = format!("turn {turn}: {}", "a document that is long enough. ".repeat(40));
        context.add(Place::head(), block(&format!("u{turn}")).role("user")).unwrap();
        context
            .add(Place::head(), NewNode::text(&*long).id(format!("a{turn}")).role("assistant"))
            .unwrap();
        context.add(Place::at("^ah", 1), block(&format!("p{turn}")).role("tool").ttl(3)).unwrap();
        commit(&mut context);
    }
    context
}

pub(crate) fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("everything we write is UTF-8")
}
