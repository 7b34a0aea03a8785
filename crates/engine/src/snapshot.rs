//! Snapshots and their addresses.

use std::fmt;
use std::str::FromStr;

use contextree_canon::thread::thread;
use contextree_canon::{
    Hash, export, export_with_digest, history_digest, reference_bytes, snapshot_digest,
};
use contextree_tree::{Cycle, Tree, TreeRef};

/// The result of one commit. Immutable; cloning it clones a pointer.
#[derive(Clone, Debug)]
pub struct Snapshot {
    tree: Tree,
    /// The latest creation stamp assigned so far.
    pub(crate) last_ns: i64,
    history_digest: Hash,
}

impl Snapshot {
    /// Creates the snapshot after another one.
    pub(crate) fn after(before: Option<&Snapshot>, tree: Tree, last_ns: i64) -> Self {
        let before = before.map_or(Hash([0; 32]), Snapshot::history_digest);
        let history_digest = history_digest(before, snapshot_digest(&tree));
        Snapshot { tree, last_ns, history_digest }
    }

    /// Creates a snapshot whose digest is known.
    pub(crate) fn restored(tree: Tree, last_ns: i64, history_digest: Hash) -> Self {
        Snapshot { tree, last_ns, history_digest }
    }

    /// Returns the same snapshot with an equal tree.
    pub(crate) fn with_tree(self, tree: Tree) -> Self {
        Snapshot { tree, ..self }
    }

    /// Returns an equal snapshot that shares only contents with any other.
    pub(crate) fn compacted(&self) -> Self {
        Snapshot { tree: self.tree.compacted(), ..*self }
    }

    /// Returns the latest creation stamp assigned so far.
    #[must_use]
    pub fn last_stamp(&self) -> i64 {
        self.last_ns
    }

    /// Returns the digest of the history that ends with this snapshot: equal exactly for equal
    /// histories.
    #[must_use]
    pub fn history_digest(&self) -> Hash {
        self.history_digest
    }

    /// Returns the number of the commit.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        self.tree.view().next_cycle().previous()
    }

    /// Returns a view for reading the tree.
    #[must_use]
    pub fn view(&self) -> TreeRef<'_> {
        self.tree.view()
    }

    /// Returns whether both belong to the same context or its forks.
    pub(crate) fn shares_history(&self, other: &Snapshot) -> bool {
        self.view().common_versions(other.view()).is_some()
    }

    /// Returns the tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the digest: two snapshots are equal exactly if their digests are.
    #[must_use]
    pub fn digest(&self) -> Hash {
        snapshot_digest(&self.tree)
    }

    /// Returns the snapshot as a document that can be imported.
    #[must_use]
    pub fn export(&self) -> Vec<u8> {
        export(self.view(), self.cycle())
    }

    /// Like [`Snapshot::export`], but with the digest in the envelope: an import refuses the document if
    /// anything in it was changed.
    #[must_use]
    pub fn export_with_digest(&self) -> Vec<u8> {
        export_with_digest(&self.tree)
    }

    /// Returns the provider-neutral thread.
    #[must_use]
    pub fn thread(&self) -> Vec<u8> {
        thread(self.view())
    }

    /// Returns the bytes of the specification's reference serializer.
    #[must_use]
    pub fn reference_bytes(&self) -> Vec<u8> {
        reference_bytes(self.view().root())
    }
}

/// The address of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotAddress {
    /// `@t0` is the newest, `@t-1` the one before it: N snapshots back.
    Back(
        /// The number of snapshots.
        u64,
    ),
    /// `@c12`: the snapshot of a commit. Made [from a `Cycle`](Cycle), too.
    Cycle(
        /// Its number. Wider than a [`Cycle`], because an address may name a commit that cannot exist.
        u64,
    ),
}

impl From<Cycle> for SnapshotAddress {
    fn from(cycle: Cycle) -> Self {
        SnapshotAddress::Cycle(cycle.into())
    }
}

impl fmt::Display for SnapshotAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotAddress::Back(0) => formatter.write_str("@t0"),
            SnapshotAddress::Back(back) => write!(formatter, "@t-{back}"),
            SnapshotAddress::Cycle(cycle) => write!(formatter, "@c{cycle}"),
        }
    }
}

impl FromStr for SnapshotAddress {
    type Err = SnapshotError;

    fn from_str(text: &str) -> Result<Self, SnapshotError> {
        let invalid = || SnapshotError::Invalid { text: text.to_owned() };
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if plain { digits.parse::<u64>().map_err(|_| invalid()) } else { Err(invalid()) }
        };
        if let Some(cycle) = text.strip_prefix("@c") {
            return Ok(SnapshotAddress::Cycle(number(cycle)?));
        }
        match text.strip_prefix("@t") {
            Some(back) if back.starts_with('-') => Ok(SnapshotAddress::Back(number(&back[1..])?)),
            Some("0") => Ok(SnapshotAddress::Back(0)),
            // `@t5` would be in the future.
            Some(future) => {
                number(future)?;
                Err(SnapshotError::NotFound {
                    address: text.to_owned(),
                    oldest: None,
                    newest: None,
                })
            }
            None => Err(invalid()),
        }
    }
}

/// Why there is no snapshot at an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The address is valid, but no snapshot has it. The present is never returned instead of the
    /// past.
    #[error("no snapshot `{address}`{}", existing(*.oldest, *.newest))]
    NotFound {
        /// The address.
        address: String,
        /// The oldest existing snapshot.
        oldest: Option<Cycle>,
        /// The newest existing snapshot.
        newest: Option<Cycle>,
    },
    /// Retention removed the snapshot.
    #[error("the snapshot `{address}` was removed by retention{}", existing(*.oldest, *.newest))]
    Retired {
        /// The address.
        address: String,
        /// The oldest snapshot that is left.
        oldest: Option<Cycle>,
        /// The newest snapshot.
        newest: Option<Cycle>,
    },
    /// The snapshot exists, but only in the store: this part of the history is not loaded.
    #[error("the snapshot `{address}` is in the store and was not loaded")]
    NotLoaded {
        /// The address.
        address: String,
    },
    /// The text is not an address.
    #[error("invalid snapshot address `{text}`: use `@t0`, `@t-3` or `@c12`")]
    Invalid {
        /// The text.
        text: String,
    },
}

impl SnapshotError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            SnapshotError::NotFound { .. } => "E_SNAPSHOT_NOT_FOUND",
            SnapshotError::Retired { .. } => "E_SNAPSHOT_RETIRED",
            SnapshotError::NotLoaded { .. } => "E_NOT_LOADED",
            SnapshotError::Invalid { .. } => "E_SELECTOR_INVALID",
        }
    }
}

/// Returns the range of existing snapshots for a message; empty if there are none.
fn existing(oldest: Option<Cycle>, newest: Option<Cycle>) -> String {
    match (oldest, newest) {
        (Some(oldest), Some(newest)) => format!("; existing: @c{oldest} to @c{newest}"),
        _ => String::new(),
    }
}
