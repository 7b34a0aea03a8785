//! A snapshot's tree: immutable, shared, readable from any thread.

use std::sync::{Arc, OnceLock};

use crate::edit::Draft;
use crate::store::Space;
use crate::view::{Base, TreeRef};

/// An immutable tree. Cloning it clones a few pointers.
///
/// Shares its rows with every other tree of the same context and its forks. Readers take no lock,
/// even while another thread appends.
#[derive(Clone, Debug)]
pub struct Tree(Arc<Base>);

impl Tree {
    pub(crate) fn new(base: Base) -> Self {
        Tree(Arc::new(Base { digest: OnceLock::new(), ..base }))
    }

    /// Returns a view for reading the tree.
    #[must_use]
    #[inline]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef { base: &self.0, overlay: None }
    }

    /// Returns a working copy that continues this tree's own branch.
    ///
    /// Only one such copy may exist at a time, and only of the branch's newest tree, because it
    /// appends to the branch's log. Use [`Tree::fork`] for every other purpose.
    #[must_use]
    pub fn continue_branch(&self) -> Draft {
        Draft::new(Base::clone(&self.0))
    }

    /// Returns a working copy on a new branch. Takes the same time for any size of tree.
    #[must_use]
    pub fn fork(&self) -> Draft {
        let base = Base::clone(&self.0);
        let space = Arc::new(base.space.fork(base.rows));
        Draft::new(Base { space, ..base })
    }

    /// Returns the same tree over another log that has the same rows.
    pub(crate) fn move_to(&self, space: &Arc<Space>) -> Tree {
        Tree(Arc::new(Base { space: Arc::clone(space), ..Base::clone(&self.0) }))
    }

    /// Returns the cell that caches the digest of the whole tree.
    #[must_use]
    pub fn digest_cell(&self) -> &OnceLock<[u8; 32]> {
        &self.0.digest
    }

    /// Returns whether both are the same tree in memory, and therefore equal.
    #[must_use]
    pub fn is_same(&self, other: &Tree) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
