//! One state of a context.

use contextree::{Cycle, Snapshot, TreeRef, Working};

/// One state of a context: a few pointers that keep the tree alive.
#[derive(Debug)]
pub(crate) struct State {
    tree: Kept,
    /// Its name: `@c12`, or `working state`.
    pub(crate) label: String,
}

#[derive(Debug)]
enum Kept {
    Snapshot(Snapshot),
    Working(Working),
    /// What a commit of the working state would make.
    Ahead(Snapshot),
}

impl State {
    pub(super) fn of_snapshot(snapshot: Snapshot) -> State {
        State { label: format!("@c{}", snapshot.cycle()), tree: Kept::Snapshot(snapshot) }
    }

    pub(super) fn of_working(working: Working) -> State {
        State { tree: Kept::Working(working), label: "working state".to_owned() }
    }

    /// Returns the working state as a commit would make it.
    pub(crate) fn to_be_sent(snapshot: Snapshot) -> State {
        State { tree: Kept::Ahead(snapshot), label: "working state".to_owned() }
    }

    /// Returns the tree.
    pub(crate) fn tree(&self) -> TreeRef<'_> {
        match &self.tree {
            Kept::Snapshot(snapshot) | Kept::Ahead(snapshot) => snapshot.view(),
            Kept::Working(working) => working.view(),
        }
    }

    /// Returns the snapshot; `None` for the working state.
    pub(crate) fn snapshot(&self) -> Option<&Snapshot> {
        match &self.tree {
            Kept::Snapshot(snapshot) => Some(snapshot),
            Kept::Working(_) | Kept::Ahead(_) => None,
        }
    }

    /// Returns the number of its commit; `None` for the working state.
    pub(crate) fn cycle(&self) -> Option<Cycle> {
        self.snapshot().map(Snapshot::cycle)
    }

    /// Like [`State::export`], but a snapshot carries its digest: an import refuses a copy that was changed.
    pub(crate) fn copy(&self) -> Vec<u8> {
        match &self.tree {
            Kept::Snapshot(snapshot) => snapshot.export_with_digest(),
            Kept::Ahead(_) | Kept::Working(_) => self.export(),
        }
    }

    /// Returns the state as a document.
    pub(crate) fn export(&self) -> Vec<u8> {
        match &self.tree {
            Kept::Snapshot(snapshot) | Kept::Ahead(snapshot) => snapshot.export(),
            Kept::Working(working) => working.export(),
        }
    }
}
