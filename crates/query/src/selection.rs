//! The result of a selector on one tree, or on several.

use contextree_tree::{NodeRef, TreeRef};
use std::collections::BTreeSet;

use contextree_selector::{Span, closest};

use crate::error::{Warning, WarningKind};
use crate::resolve::{Query, Recency};
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

/// Common type names, for suggestions.
const WORDS: [&str; 6] = ["seg", "cont", "block", "mt", "mc", "cb"];

/// Pseudo-classes that may follow a type.
const PSEUDOS: [&str; 5] = ["first", "last", "core", "post", "depth"];

/// Returns a warning for each literal type of a query that no node of the trees has. Visits every
/// node, so it is called only if a selector matched nothing.
pub(crate) fn unknown_types(query: &Query, trees: &[TreeRef<'_>]) -> Vec<Warning> {
    if query.literal_types.is_empty() {
        return Vec::new();
    }
    let (mut types, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for (_, node) in trees.iter().flat_map(|tree| tree.nodes()) {
        types.insert(node.node_type());
        kinds.extend(node.kind());
    }
    let mut candidates: Vec<&str> =
        types.iter().copied().filter(|name| !name.starts_with('^')).collect();
    candidates.extend(WORDS);
    let is_known = |written: &str| {
        types.contains(written)
            || written.split_once(':').is_some_and(|(_, kind)| kinds.contains(kind))
    };
    let unknown = query.literal_types.iter().filter(|(written, _)| !is_known(written));
    let warning = |(written, span): &(Box<str>, Span)| {
        let near = closest(written, &candidates).map(str::to_owned);
        // `.cb:frist` is parsed as a type and a kind; a type and a pseudo-class was meant.
        let pseudo = written
            .rsplit_once(':')
            .and_then(|(before, name)| Some(format!("{before}:{}", closest(name, &PSEUDOS)?)));
        let written = written.to_string();
        Warning {
            kind: WarningKind::UnknownType { written, suggestion: near.or(pseudo) },
            span: *span,
        }
    };
    unknown.map(warning).collect()
}
