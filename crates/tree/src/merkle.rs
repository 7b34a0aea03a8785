//! Digests of trees: computed once per version of a node, kept with it.
//!
//! The walk is here, next to what it walks; what is hashed, and how, is the canon's business.

use crate::class::{Class, Region};
use crate::list::{Children, Items, Run};
use crate::node::NodeRef;
use crate::view::TreeRef;

/// What the digests are made with.
pub trait MerkleHasher {
    /// Returns the digest of a node: its own headers and content, and the digest of its children, if it has any.
    fn node(&self, node: NodeRef<'_>, children: Option<[u8; 32]>) -> [u8; 32];

    /// Returns the digest of a sequence of digests. The level tells what kind of sequence it is: 0 a run of nodes, 1 a run of runs, 2
    /// the unfinished runs of a list from the highest level down, 3 a list of at most three nodes.
    fn join(&self, level: u8, digests: &mut dyn Iterator<Item = [u8; 32]>) -> [u8; 32];
}

/// Returns the digest of a whole tree. Costs what changed since the last tree that was digested.
pub fn root_digest(tree: TreeRef<'_>, hasher: &impl MerkleHasher) -> [u8; 32] {
    let mut regions = Region::ALL.into_iter().map(|region| tree.region(region).digest(hasher));
    let children = hasher.join(3, &mut regions);
    hasher.node(tree.root(), Some(children))
}

impl NodeRef<'_> {
    /// Returns the digest of the node and everything below it.
    pub fn digest(self, hasher: &impl MerkleHasher) -> [u8; 32] {
        // The lists of the regions are not in their rows, so neither can be the digests.
        match self.class() {
            Class::Root => return root_digest(self.tree, hasher),
            Class::Region => return hasher.node(self, list_digest(self.tree, self.list(), hasher)),
            _ => {}
        }
        *self.row.digest.get_or_init(|| {
            // As deep as the tree, whose depth is limited.
            hasher.node(self, list_digest(self.tree, &self.row.children, hasher))
        })
    }
}

fn list_digest(
    tree: TreeRef<'_>,
    children: &Children,
    hasher: &impl MerkleHasher,
) -> Option<[u8; 32]> {
    match children {
        Children::Few { len: 0, .. } => None,
        Children::Few { .. } => {
            let mut digests = children.iter().map(|row| tree.node_at(row).digest(hasher));
            Some(hasher.join(3, &mut digests))
        }
        Children::Many(list) => {
            let mut digests = list.levels.iter().rev().map(|run| run_digest(tree, run, hasher));
            Some(hasher.join(2, &mut digests))
        }
    }
}

fn run_digest(tree: TreeRef<'_>, run: &Run, hasher: &impl MerkleHasher) -> [u8; 32] {
    *run.digest.get_or_init(|| match &run.items {
        Items::Rows(rows) => {
            hasher.join(0, &mut rows.iter().map(|entry| tree.node_at(entry.row).digest(hasher)))
        }
        Items::Runs(runs) => {
            hasher.join(1, &mut runs.iter().map(|child| run_digest(tree, &child.run, hasher)))
        }
    })
}
