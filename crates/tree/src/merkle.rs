//! Merkle digests of trees: computed once per version of a node and cached with it.
//!
//! This module walks the tree; `canon` defines what is hashed and how.

use crate::class::{Class, Region};
use crate::list::{Beside, Children, Entry, Items, Run};
use crate::node::NodeRef;
use crate::row::RowNumber;
use crate::rows::Rows;
use crate::view::TreeRef;

/// The hash functions that digests are made with.
pub trait MerkleHasher {
    /// Returns the digest of a node: its own headers and content, and the digest of its children,
    /// if any.
    fn node(&self, node: NodeRef<'_>, children: Option<[u8; 32]>) -> [u8; 32];

    /// Returns the digest of a sequence of digests. `level` is the kind of sequence: 0 a run of
    /// nodes, 1 a run of runs, 2 the unfinished runs of a list from the highest level down, 3 a
    /// list of at most 32 nodes.
    fn join(&self, level: u8, digests: &[[u8; 32]]) -> [u8; 32];
}

/// Returns the digest of a whole tree. The cost is proportional to what changed since the last tree
/// that was digested.
pub fn root_digest(tree: TreeRef<'_>, hasher: &impl MerkleHasher) -> [u8; 32] {
    let regions = Region::ALL.map(|region| tree.region(region).digest(hasher));
    hasher.node(tree.root(), Some(hasher.join(3, &regions)))
}

impl NodeRef<'_> {
    /// Returns the digest of the node and everything below it.
    pub fn digest(self, hasher: &impl MerkleHasher) -> [u8; 32] {
        if let Some(digest) = self.row.digest.get() {
            return *digest;
        }
        // The lists of the regions are not in their rows, so their digests cannot be cached there
        // either.
        match self.class() {
            Class::Root => return root_digest(self.tree, hasher),
            Class::Region => return hasher.node(self, list_digest(self.tree, self.list(), hasher)),
            _ => {}
        }
        *self.row.digest.get_or_init(|| {
            // The recursion is bounded by the depth limit of trees.
            hasher.node(self, list_digest(self.tree, &self.row.children, hasher))
        })
    }
}

/// Lists of at most this many nodes cache no digests: the rows of a turn's blocks are adjacent, and
/// fetching them is as fast.
const SHORT: usize = 8;

fn list_digest(
    tree: TreeRef<'_>,
    children: &Children,
    hasher: &impl MerkleHasher,
) -> Option<[u8; 32]> {
    Some(match children {
        Children::Few { len: 0, .. } => return None,
        Children::Few { .. } => hasher.join(3, &gather(tree, children.iter(), hasher)),
        Children::Some(run) => *run.digest.get_or_init(|| match &run.items {
            Items::Rows(rows) => {
                let stays = rows.len() > SHORT;
                hasher.join(3, &row_digests(tree, run, rows, stays, hasher))
            }
            Items::Runs(_) => unreachable!("an undivided list has no runs of runs"),
        }),
        Children::Many(list) => {
            let runs = list.levels.iter().rev();
            let digests: Vec<_> = runs.map(|run| run_digest(tree, run, false, hasher)).collect();
            hasher.join(2, &digests)
        }
    })
}

fn run_digest(
    tree: TreeRef<'_>,
    run: &Run,
    is_finished: bool,
    hasher: &impl MerkleHasher,
) -> [u8; 32] {
    *run.digest.get_or_init(|| match &run.items {
        Items::Rows(rows) => {
            let stays = is_finished && rows.len() > SHORT;
            hasher.join(0, &row_digests(tree, run, rows, stays, hasher))
        }
        Items::Runs(runs) => {
            let below = |run: &Run| run_digest(tree, run, true, hasher);
            hasher.join(1, &runs.digests(is_finished, below))
        }
    })
}

/// Returns the digests of a run's rows. Those of a finished run are cached with it.
fn row_digests(
    tree: TreeRef<'_>,
    run: &Run,
    rows: &[Entry],
    stays: bool,
    hasher: &impl MerkleHasher,
) -> Vec<[u8; 32]> {
    if let Some(beside) = run.beside.get() {
        let digest = |(at, entry): (usize, &Entry)| match beside.get(at) {
            Some(digest) => *digest,
            None => tree.node_at(entry.row).digest(hasher),
        };
        return rows.iter().enumerate().map(digest).collect();
    }
    let digests = gather(tree, rows.iter().map(|entry| entry.row), hasher);
    if stays && let Some(beside) = Beside::new(&digests) {
        run.beside.get_or_init(|| beside);
    }
    digests
}

/// Returns the digests of rows. All are fetched before any is hashed: they may be far apart, and
/// the processor overlaps the loads only if no hashing comes between them.
fn gather(
    tree: TreeRef<'_>,
    numbers: impl Iterator<Item = RowNumber>,
    hasher: &impl MerkleHasher,
) -> Vec<[u8; 32]> {
    let mut rows = Rows::of(tree);
    numbers
        .map(|number| {
            let row = rows.row(number);
            match row.digest.get() {
                Some(digest) => *digest,
                None => NodeRef { tree, number, row }.digest(hasher),
            }
        })
        .collect()
}
