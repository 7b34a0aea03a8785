//! The matches of a plan in one tree, before any node is fetched.

use contextree_tree::{NodeRef, RowNumber, TreeRef};

/// Nodes of one tree, in result order. They are stored as 4-byte numbers and fetched when they are
/// read.
#[derive(Clone, Debug)]
pub struct Matches<'t> {
    tree: TreeRef<'t>,
    versions: Vec<RowNumber>,
}

impl<'t> Matches<'t> {
    pub(crate) fn new(tree: TreeRef<'t>, versions: Vec<RowNumber>) -> Self {
        Matches { tree, versions }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Returns whether there are no matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// Returns the [versions](NodeRef::version) of the nodes.
    #[must_use]
    pub fn versions(&self) -> &[RowNumber] {
        &self.versions
    }

    /// Returns the nodes.
    pub fn iter(&self) -> impl Iterator<Item = NodeRef<'t>> {
        self.tree.at_versions(self.versions.iter().copied())
    }

    /// Returns the ids.
    #[must_use]
    pub fn ids(&self) -> Vec<&'t str> {
        self.iter().map(NodeRef::id).collect()
    }

    /// Replaces the nodes by others of the same tree.
    pub(crate) fn replaced(
        self,
        change: impl FnOnce(Vec<NodeRef<'t>>) -> Vec<NodeRef<'t>>,
    ) -> Self {
        let nodes = change(self.iter().collect());
        Matches { tree: self.tree, versions: nodes.into_iter().map(NodeRef::version).collect() }
    }

    /// Skips `skip` nodes and keeps at most `take` of the rest.
    pub(crate) fn cut(mut self, skip: usize, take: usize) -> Self {
        self.versions.truncate(skip.saturating_add(take));
        self.versions.drain(..skip.min(self.versions.len()));
        self
    }
}
