//! A snapshot's tree: immutable, shared, readable from any thread.

use std::sync::{Arc, OnceLock};

use crate::edit::Draft;
use crate::list::Children;
use crate::store::Space;
use crate::view::{Fixed, TreeRef};

/// An immutable tree. Cloning it clones a few pointers.
///
/// It shares its rows with every other tree of the same context and with forks. Readers take no lock, also while
/// another thread appends.
#[derive(Clone, Debug)]
pub struct Tree(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    space: Arc<Space>,
    fixed: Fixed,
    regions: [Children; 3],
    rows: u32,
    next_cycle: u32,
    count: usize,
    digest: OnceLock<[u8; 32]>,
}

impl Tree {
    pub(crate) fn new(
        space: Arc<Space>,
        fixed: Fixed,
        regions: [Children; 3],
        rows: u32,
        next_cycle: u32,
        count: usize,
    ) -> Self {
        let digest = OnceLock::new();
        Tree(Arc::new(Inner { space, fixed, regions, rows, next_cycle, count, digest }))
    }

    /// Returns the tree to be read.
    #[must_use]
    #[inline]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef {
            space: &self.0.space,
            fixed: self.0.fixed,
            regions: &self.0.regions,
            rows: self.0.rows,
            overlay: None,
            next_cycle: self.0.next_cycle,
            count: self.0.count,
        }
    }

    /// Returns a working copy that continues this tree's own branch.
    ///
    /// There may be only one such copy at a time, and only of the branch's newest tree: it appends to the branch's log. Use [`Tree::fork`] for
    /// every other purpose.
    #[must_use]
    pub fn continue_branch(&self) -> Draft {
        self.draft_in(Arc::clone(&self.0.space))
    }

    /// Returns a working copy on a branch of its own. Costs the same whatever the size of the tree.
    #[must_use]
    pub fn fork(&self) -> Draft {
        self.draft_in(Arc::new(self.0.space.fork(self.0.rows)))
    }

    fn draft_in(&self, space: Arc<Space>) -> Draft {
        let Inner { fixed, regions, rows, next_cycle, count, .. } = &*self.0;
        Draft::new(space, *fixed, regions.clone(), *rows, *next_cycle, *count)
    }

    /// Where the digest of the whole tree is kept once it is computed.
    #[must_use]
    pub fn digest_cell(&self) -> &OnceLock<[u8; 32]> {
        &self.0.digest
    }

    /// True if both are the same tree in memory, and so certainly equal.
    #[must_use]
    pub fn is_same(&self, other: &Tree) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
