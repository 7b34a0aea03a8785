//! A snapshot's tree: immutable, shared, readable from any thread.

use std::sync::{Arc, OnceLock};

use crate::edit::Draft;
use crate::store::Space;
use crate::view::{Base, TreeRef};

/// An immutable tree. Cloning it clones a few pointers.
///
/// It shares its rows with every other tree of the same context and with forks. Readers take no lock, also while
/// another thread appends.
#[derive(Clone, Debug)]
pub struct Tree(Arc<Base>);

impl Tree {
    pub(crate) fn new(base: Base) -> Self {
        Tree(Arc::new(Base { digest: OnceLock::new(), ..base }))
    }

    /// Returns the tree to be read.
    #[must_use]
    #[inline]
    pub fn view(&self) -> TreeRef<'_> {
        TreeRef { base: &self.0, overlay: None }
    }

    /// Returns a working copy that continues this tree's own branch.
    ///
    /// There may be only one such copy at a time, and only of the branch's newest tree: it appends to the branch's log. Use [`Tree::fork`] for
    /// every other purpose.
    #[must_use]
    pub fn continue_branch(&self) -> Draft {
        Draft::new(Base::clone(&self.0))
    }

    /// Returns a working copy on a branch of its own. Costs the same whatever the size of the tree.
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
