//! Stores in folders that go away by themselves.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use contextree_engine::{Context, NewNode, Place};
use contextree_store::{
    Backend, ContextRow, Cycle, Session, Sqlite, SqliteOptions, Step, StoreError,
};
use contextree_testkit::suite::commits;
use tempfile::TempDir;

/// A store in a folder of its own.
pub(crate) struct Home {
    store: Sqlite,
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home::with(&SqliteOptions::default())
    }

    pub(crate) fn with(options: &SqliteOptions) -> Home {
        let folder = TempDir::new().unwrap();
        let store = Sqlite::open(folder.path().join("store.db"), options).unwrap();
        Home { store, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Closes the store, and keeps the folder.
    pub(crate) fn close(self) -> TempDir {
        drop(self.store);
        self.folder
    }
}

impl Deref for Home {
    type Target = Sqlite;

    fn deref(&self) -> &Sqlite {
        &self.store
    }
}

pub(crate) fn open(path: impl AsRef<Path>) -> Result<Sqlite, StoreError> {
    Sqlite::open(path, &SqliteOptions::default())
}

pub(crate) fn open_for_reading(path: impl AsRef<Path>) -> Result<Sqlite, StoreError> {
    Sqlite::open(path, &SqliteOptions { read_only: true, ..SqliteOptions::default() })
}

/// Returns the names of the files in a folder.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// Appends one commit after the other, each of about a kilobyte.
pub(crate) fn grow(store: &dyn Backend, mut row: ContextRow, count: u32) -> ContextRow {
    for _ in 0..count {
        row = store.append(row.id, row.revision, &kilobyte(&row)).unwrap();
    }
    row
}

/// Returns the next commit of a context.
pub(crate) fn kilobyte(row: &ContextRow) -> Step {
    let mut step = commits([row.head.map_or(0, |head| head.cycle.get()) + 1]);
    step.commits[0].bodies = vec![row.revision.get().to_le_bytes()[0]; 1_000];
    step
}

/// Returns everything that a store says about a context.
pub(crate) fn contents_of(store: &dyn Backend, name: &str) -> (ContextRow, Vec<Vec<u8>>) {
    let row = store.find(name).unwrap().unwrap();
    let mut bodies = Vec::new();
    let visit = &mut |commit: contextree_store::Commit| {
        bodies.push(commit.bodies);
        Ok(())
    };
    store.commits(row.branch, Cycle::ZERO, Cycle::MAX, visit).unwrap();
    (row, bodies)
}

/// Turns with a user block `u1`, an answer `a1`, and so on.
pub(crate) fn turns(count: usize) -> Context {
    let mut context = Context::new();
    for turn in 1..=count {
        for (role, id) in [("user", format!("u{turn}")), ("assistant", format!("a{turn}"))] {
            let text = format!("{id} says {}", "a few words ".repeat(turn % 5));
            context.add(Place::head(), NewNode::text(&*text).id(id).role(role)).unwrap();
        }
        context.commit().unwrap();
    }
    context
}

/// Commits an empty turn in a store.
pub(crate) fn commit_turn(session: &mut Session) {
    session.write(|context| context.commit().map(drop).map_err(anyhow::Error::from)).unwrap();
}
