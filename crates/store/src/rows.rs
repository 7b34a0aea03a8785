//! The rows of a store, as plain values. Blobs are opaque to a backend: they carry their own checks.

use std::fmt;

use contextree_tree::Cycle;

/// The number of a context in its store. Never used again after a delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ContextId(pub i64);

impl ContextId {
    /// Returns the number as the database has it.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a branch of history in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct BranchId(pub i64);

impl BranchId {
    /// Returns the number as the database has it.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the steps of a context. The step that creates it makes revision 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of a context before its first step. No stored context has it.
    pub const ZERO: Revision = Revision(0);

    /// The revision that the first step makes.
    pub const FIRST: Revision = Revision(1);

    /// Returns the count.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the revision that the next step makes. The highest one is its own successor.
    #[must_use]
    pub const fn next(self) -> Revision {
        Revision(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The newest snapshot of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of its commit.
    pub cycle: Cycle,
    /// Its digest.
    pub digest: [u8; 32],
}

/// A context that is about to be created.
#[derive(Clone, Debug)]
pub struct NewContext {
    /// Its name; unique in the store.
    pub name: String,
    /// When it is created, in nanoseconds since 1970.
    pub created_ns: i64,
    /// Its settings, as JSON text.
    pub settings: String,
    /// The branch and the cycle that a fork begins with; `None` for a context of its own.
    pub from: Option<Stretch>,
    /// The tree before the first commit, for a context of its own: a checkpoint at that cycle.
    pub base: Option<Checkpoint>,
    /// What it contains already: an imported history, the working state of a fork.
    pub first: Step,
}

/// A context, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRow {
    /// Its number.
    pub id: ContextId,
    /// Its name.
    pub name: String,
    /// The branch of history that it appends to.
    pub branch: BranchId,
    /// Counts the steps. A writer names the last one that it knows.
    pub revision: Revision,
    /// The newest snapshot; `None` before the first commit.
    pub head: Option<Head>,
    /// How many snapshots there are, those before a fork included.
    pub snapshots: u64,
    /// Its settings, as JSON text.
    pub settings: String,
    /// When it was created, in nanoseconds since 1970.
    pub created_ns: i64,
    /// When it was last written to: the time of the last step.
    pub updated_ns: i64,
}

/// A part of a branch: its commits up to a cycle. A context's history is one stretch per branch, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The branch.
    pub branch: BranchId,
    /// The last cycle of it that belongs to the context; the highest possible one for the context's own branch.
    pub upto: Cycle,
}

/// The record of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its number.
    pub cycle: Cycle,
    /// The effects. `None` if retention removed this snapshot and only bodies that others need are left.
    pub effects: Option<Vec<u8>>,
    /// The bodies that the effects (and later checkpoints) refer to.
    pub bodies: Vec<u8>,
}

/// A whole tree, with bodies of its own or those of earlier commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The commit that the tree is the result of.
    pub cycle: Cycle,
    /// The tree.
    pub tree: Vec<u8>,
    /// Bodies that are in no commit before it.
    pub bodies: Vec<u8>,
}

/// A content that is stored once per store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentRow {
    /// SHA-256 of the content, before any compression.
    pub hash: [u8; 32],
    /// The content, as it is stored.
    pub data: Vec<u8>,
}

/// An attempt, as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    /// Its id: unique within the context.
    pub id: String,
    /// The record.
    pub record: String,
}

/// A snapshot that retention never removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The snapshot.
    pub cycle: Cycle,
    /// Why.
    pub label: String,
}

/// A value that is kept beside a context's history, under a kind and a key: what a running call sends, what an adapter remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideRecord {
    /// What it is for: `call`.
    pub kind: String,
    /// Its name; unique within the context and the kind.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
}

/// A change of a side record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideChange {
    /// The kind of the record.
    pub kind: String,
    /// Its key.
    pub key: String,
    /// The new value, or `None` to delete the record. Deleting one that does not exist is not an error.
    pub value: Option<Vec<u8>>,
}

/// Which side records of a context to return: those of one kind, by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SidePage<'p> {
    /// The kind.
    pub kind: &'p str,
    /// What the keys begin with.
    pub prefix: &'p str,
    /// Only keys after this one, in the order asked for.
    pub after: Option<&'p str>,
    /// The greatest key first.
    pub reverse: bool,
    /// At most this many.
    pub limit: usize,
}

impl<'p> SidePage<'p> {
    /// Returns a page with all records of a kind.
    #[must_use]
    pub const fn of(kind: &'p str) -> SidePage<'p> {
        SidePage { kind, prefix: "", after: None, reverse: false, limit: usize::MAX }
    }

    /// Returns the bounds of the keys: at least the first, less than the second.
    #[must_use]
    pub fn bounds(&self) -> (String, Option<String>) {
        let mut low = self.prefix.to_owned();
        let mut high = successor(self.prefix);
        match self.after {
            // The smallest text greater than a key is the key with a zero.
            Some(after) if !self.reverse && after >= self.prefix => low = format!("{after}\0"),
            Some(after) if self.reverse => {
                high =
                    Some(high.map_or_else(|| after.to_owned(), |high| high.min(after.to_owned())));
            }
            _ => {}
        }
        (low, high)
    }
}

/// Returns the smallest text that is greater than every text with a prefix; `None` if there is none.
pub(crate) fn successor(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// One durable step of a context: all of it is stored, or none.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// When, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Identifies this step, so that a retry after a lost answer is not stored twice. All zeros: it has no key.
    pub key: [u8; 16],
    /// Commits, oldest first. If there are any, the journal before them is emptied.
    pub commits: Vec<Commit>,
    /// The newest snapshot after this step, if there are commits. `None` leaves it as it is.
    pub head: Option<Head>,
    /// If true, the journal is emptied although there are no commits.
    pub reset_journal: bool,
    /// What was done to the working state, appended to the journal.
    pub journal: Option<Vec<u8>>,
    /// Contents that the blobs refer to; those that are stored already are only marked as used.
    pub contents: Vec<ContentRow>,
    /// Attempts that were started or ended. One that is there already gets this record and keeps its place.
    pub attempts: Vec<AttemptRow>,
    /// Side records that are written or deleted. Of two changes of one record the later counts.
    pub side: Vec<SideChange>,
    /// New settings.
    pub settings: Option<String>,
    /// Moves commits out of the context's history or back into it, before everything else in the step.
    pub line: Option<LineChange>,
}

/// Moves commits between a context's own branch and a context that keeps them: an undone line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// The commits after a cycle leave the context. The context ends with an earlier snapshot then.
    Leave {
        /// The last cycle that stays.
        after: Cycle,
        /// The newest snapshot that stays; `None` if there is none.
        head: Option<Head>,
        /// The name of a new context that has the commits from now on, with the pins of their snapshots and the branches that begin in
        /// them.
        name: String,
        /// Attempts that leave with them.
        attempts: Vec<String>,
        /// A side record of the new context, as it is stored.
        note: SideRecord,
    },
    /// The commits of an undone line become the newest of the context again, with their attempts, and the line is deleted. Fails with `E_CONFLICT` if the line
    /// was written since, or the context has other commits in their place.
    Rejoin {
        /// The name of the line.
        name: String,
    },
}

/// A change of what is stored of a branch. No snapshot that stays is changed by it.
#[derive(Clone, Debug, Default)]
pub struct Rewrite {
    /// The branches that begin within this one, as the caller knew them. If there are others now, nothing is changed.
    pub children: Vec<Stretch>,
    /// The cycles that are pinned, as the caller knew them. If there are others now, nothing is changed.
    pub pinned: Vec<Cycle>,
    /// Commits whose rows are replaced by these, after the others were removed.
    pub commits: Vec<Commit>,
    /// Commits whose rows are removed.
    pub dropped_commits: Vec<Cycle>,
    /// Checkpoints to be added, after the others were removed. One that is there already is replaced.
    pub checkpoints: Vec<Checkpoint>,
    /// Checkpoints that are removed.
    pub dropped_checkpoints: Vec<Cycle>,
    /// All contents that the branch still uses. Contents that no branch uses any more are removed.
    pub contents: Vec<[u8; 32]>,
    /// How many snapshots are removed.
    pub dropped_snapshots: u64,
    /// If true, the branch no longer begins in another one: everything that it needs of that one is among its own rows. The other one is
    /// removed if nothing else needs it.
    pub detach: bool,
}
