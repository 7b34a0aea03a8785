//! The newest snapshots of a stored context, shared by readers and continued by writers.

use std::sync::atomic::{AtomicBool, Ordering};

use contextree_tree::{Log, Tree};

use super::restore::Restore;
use crate::context::Context;
use crate::snapshot::Snapshot;

/// The newest snapshots of a stored context, and what its working state continues. Immutable.
#[derive(Debug)]
pub struct Tail {
    history: Log<Snapshot>,
    skipped: usize,
    /// What the working state continues: the tree of the newest snapshot, or the one before the first commit.
    base: Tree,
    last_ns: i64,
    /// Whether a draft appends to the branch of `base` already. Only one may; others go on in a branch of their own.
    is_continued: AtomicBool,
}

impl Tail {
    pub(super) fn new(history: Log<Snapshot>, skipped: usize, base: Tree, last_ns: i64) -> Self {
        Tail { history, skipped, base, last_ns, is_continued: AtomicBool::new(false) }
    }

    /// Returns the snapshots, oldest first.
    #[must_use]
    pub fn history(&self) -> &Log<Snapshot> {
        &self.history
    }

    /// Returns how many snapshots come before these and are only in the store.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns the newest snapshot.
    #[must_use]
    pub fn newest(&self) -> Option<&Snapshot> {
        self.history.last()
    }

    /// Returns the number of nodes of the tree that the working state continues.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.base.view().node_count()
    }

    /// Continues the newest snapshot, to write: the journal of the working state comes next.
    #[must_use]
    pub fn resume(&self) -> Restore {
        // A second draft on one branch would write to the same rows of its log.
        let draft = match self.is_continued.swap(true, Ordering::Relaxed) {
            false => self.base.continue_branch(),
            true => self.base.fork(),
        };
        let history = self.history.fork(self.history.len());
        Restore::resumed(draft, self.base.clone(), history, self.skipped, self.last_ns)
    }

    /// Like [`Tail::resume`], but only to read: the branch stays free for a writer.
    #[must_use]
    pub fn resume_reading(&self) -> Restore {
        // A running call follows the newest snapshot.
        let history = self.history.fork(self.history.len());
        Restore::resumed(self.base.fork(), self.base.clone(), history, self.skipped, self.last_ns)
    }
}

impl Context {
    /// Returns the snapshots in memory, to be shared; `None` before the first commit.
    #[must_use]
    pub fn tail(&self) -> Option<Tail> {
        let head = self.newest()?;
        let history = self.history.fork(self.history.len());
        let tail = Tail::new(history, self.skipped, head.tree().clone(), head.last_ns);
        // This context keeps appending to the branch.
        tail.is_continued.store(true, Ordering::Relaxed);
        Some(tail)
    }
}
