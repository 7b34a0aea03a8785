//! The result of a selector on one tree, or on several.

use contextree_tree::NodeRef;

use crate::error::Warning;
use crate::resolve::Recency;
use crate::view::NodeView;

/// The nodes that a selector matched, in result order. Borrows the trees; copies nothing.
#[derive(Clone, Debug)]
pub struct Selection<'t> {
    /// The nodes, each id once.
    pub nodes: Vec<NodeRef<'t>>,
    /// Warnings about the selector.
    pub warnings: Vec<Warning>,
    pub(crate) recency: Recency,
}

impl<'t> Selection<'t> {
    /// Returns the ids, in result order.
    #[must_use]
    pub fn ids(&self) -> Vec<&'t str> {
        self.nodes.iter().map(|node| node.id()).collect()
    }

    /// Returns each node with its path and its coordinate, in result order.
    pub fn views(&self) -> impl Iterator<Item = NodeView<'t>> {
        self.nodes.iter().map(|node| NodeView::new(*node, self.recency))
    }
}
