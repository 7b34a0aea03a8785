//! Node views: a result and its position. Only the path to the node is copied.

use std::fmt;

use contextree_selector::Edition;
use contextree_tree::{NodeRef, Region};

use crate::depth::Axis;
use crate::resolve::Recency;

/// A node of a selection with its position in the tree. Headers and content are read from
/// [`node`](Self::node), which borrows them.
#[derive(Clone, Debug)]
pub struct NodeView<'t> {
    /// The node: id, headers, content, neighbours.
    pub node: NodeRef<'t>,
    /// The ids from the root down to the node itself.
    pub path: Vec<&'t str>,
    /// Its position.
    pub coordinate: Coordinate,
}

impl<'t> NodeView<'t> {
    pub(crate) fn new(node: NodeRef<'t>, recency: Recency) -> Self {
        let mut way: Vec<NodeRef<'t>> = std::iter::once(node).chain(node.ancestors()).collect();
        way.reverse();
        let mut below = way.iter().skip(1);
        let region = below.next().and_then(|node| node.as_region());
        if region == Some(Region::Seq) {
            below.next();
        }
        let children = below.map(|node| node.position() + 1).collect();
        let depth = depth(node, recency);
        NodeView {
            node,
            path: way.iter().map(|node| node.id()).collect(),
            coordinate: Coordinate { region, depth, children },
        }
    }
}

/// Returns the depth that a node belongs to in selectors of an edition: −1 for the system region, 0
/// for the head, 1 for the newest turn; `None` for the root and the sequence.
#[must_use]
pub fn depth_of(node: NodeRef<'_>, edition: Edition) -> Option<i64> {
    depth(node, Recency::of(edition))
}

fn depth(node: NodeRef<'_>, recency: Recency) -> Option<i64> {
    match node.as_region().or_else(|| node.region())? {
        Region::Seq => {
            let mut way = std::iter::once(node).chain(node.ancestors());
            let turn =
                way.find(|node| node.parent().and_then(NodeRef::as_region) == Some(Region::Seq))?;
            Some(Axis::new(node.tree(), recency).depth_at(turn.position()))
        }
        region => Axis::region_depth(region),
    }
}

/// The position of a node: a depth, then the number of the child on each level below, counted from
/// 1 as in cues.
///
/// Formatted as `d1/2/1`: in the newest turn, in its second child, the first child. The root is
/// `^root`, the sequence `^seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The region; `None` for the root.
    pub region: Option<Region>,
    /// The depth: −1 for the system region, 0 for the head, 1 and more for turns. `None` for the
    /// root and the sequence.
    pub depth: Option<i64>,
    /// The numbers of the children on the path below it.
    pub children: Vec<usize>,
}

impl fmt::Display for Coordinate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.region, self.depth) {
            (None, _) => return formatter.write_str("^root"),
            (Some(_), None) => return formatter.write_str("^seq"),
            (Some(_), Some(depth)) => write!(formatter, "d{depth}")?,
        }
        self.children.iter().try_for_each(|child| write!(formatter, "/{child}"))
    }
}
