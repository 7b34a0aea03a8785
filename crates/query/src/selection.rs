//! The result of a selector on one tree, or on several.

use contextree_tree::{NodeRef, TreeRef};
use std::collections::BTreeSet;

use contextree_selector::closest;

use crate::error::{Warning, WarningKind};
use crate::resolve::{Query, Recency};
use crate::view::NodeView;

/// The nodes a selector found, in result order. It borrows the trees; nothing is copied.
#[derive(Clone, Debug)]
pub struct Selection<'t> {
    /// The nodes, each id once.
    pub nodes: Vec<NodeRef<'t>>,
    /// What is suspicious about the selector.
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

/// Words that types are usually made of, for suggestions.
const WORDS: [&str; 6] = ["seg", "cont", "block", "mt", "mc", "cb"];

/// Returns a warning for each literal type of a query that no node of the trees has. Looks at every node, so it is asked only
/// where a selector found nothing.
pub(crate) fn unknown_types(query: &Query, trees: &[TreeRef<'_>]) -> Vec<Warning> {
    if query.literal_types.is_empty() {
        return Vec::new();
    }
    let types: BTreeSet<&str> =
        trees.iter().flat_map(|tree| tree.nodes()).map(|(_, node)| node.node_type()).collect();
    let mut candidates: Vec<&str> =
        types.iter().copied().filter(|name| !name.starts_with('^')).collect();
    candidates.extend(WORDS);
    let unknown = query.literal_types.iter().filter(|(written, _)| !types.contains(&**written));
    unknown
        .map(|(written, span)| Warning {
            kind: WarningKind::UnknownType {
                written: written.to_string(),
                suggestion: closest(written, &candidates).map(str::to_owned),
            },
            span: *span,
        })
        .collect()
}
