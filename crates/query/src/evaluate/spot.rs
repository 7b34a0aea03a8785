//! What a selector can match: a node, or the elided core of a turn.

use contextree_tree::{Class, NodeRef};

use crate::depth::Axis;

/// A node with what is known about its position, or the elided core of `node` (ER-001).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'t> {
    /// The node; for an elided core, the turn or head it belongs to.
    pub(crate) node: NodeRef<'t>,
    /// The depth of the container that the node is or is in.
    pub(crate) depth: Option<i64>,
    /// Edges from the root.
    pub(crate) level: usize,
    /// Whether this is an elided core.
    pub(crate) is_core: bool,
}

impl<'t> Spot<'t> {
    /// Returns a spot of a node for conditions that do not depend on its position.
    pub(crate) fn anywhere(node: NodeRef<'t>) -> Spot<'t> {
        Spot { node, depth: None, level: 0, is_core: false }
    }

    /// Returns the spots from the root down to a node, with depth and level only if requested.
    pub(crate) fn path_to(node: NodeRef<'t>, axis: &Axis<'t>, asks_place: bool) -> Vec<Spot<'t>> {
        let mut nodes: Vec<NodeRef<'t>> = std::iter::once(node).chain(node.ancestors()).collect();
        nodes.reverse();
        if !asks_place {
            return nodes.into_iter().map(Spot::anywhere).collect();
        }
        let depth = nodes.get(1).and_then(|region| match Axis::region_depth(region.as_region()?) {
            Some(depth) => Some(depth),
            None => Some(axis.depth_at(nodes.get(2)?.position())),
        });
        let is_sequence = nodes
            .get(1)
            .is_some_and(|region| region.as_region().and_then(Axis::region_depth).is_none());
        let spot = |(level, node): (usize, &NodeRef<'t>)| {
            let has_depth = level >= 2 || (level == 1 && !is_sequence);
            Spot { node: *node, depth: depth.filter(|_| has_depth), level, is_core: false }
        };
        nodes.iter().enumerate().map(spot).collect()
    }

    /// Returns the spot of one node.
    pub(crate) fn of(node: NodeRef<'t>, axis: &Axis<'t>) -> Spot<'t> {
        Self::path_to(node, axis, true).pop().unwrap_or(Spot::anywhere(node))
    }

    /// Returns whether this is a turn in `^seq`, the head or the system region.
    pub(crate) fn is_on_axis(&self) -> bool {
        match self.node.class() {
            Class::Turn => self.level == 2 && self.depth.is_some_and(|depth| depth >= 1),
            Class::Region => self.depth.is_some(),
            _ => false,
        }
    }

    /// Returns the elided core of this node.
    pub(crate) fn core(&self) -> Spot<'t> {
        Spot { level: self.level + 1, is_core: true, ..*self }
    }
}

/// Returns whether children of a node have a zone: true for turns and the head.
pub(crate) fn is_zoned(node: NodeRef<'_>) -> bool {
    match node.class() {
        Class::Turn => true,
        Class::Region => node.is_zoned(),
        _ => false,
    }
}

/// Returns whether a turn or head has core content but no core: blocks at offset 0 and no container
/// there.
pub(crate) fn has_elided_core(node: NodeRef<'_>) -> bool {
    if !is_zoned(node) {
        return false;
    }
    let mut has_blocks = false;
    // Children are sorted by offset, so the core part ends at the first larger offset.
    for child in node.children() {
        match child.offset().signum() {
            -1 => {}
            0 => match child.class() {
                Class::Container if !child.node_type().contains(':') => return false,
                Class::Block => has_blocks = true,
                _ => {}
            },
            _ => break,
        }
    }
    has_blocks
}

/// Returns whether a child of a node with an elided core is in the core.
pub(crate) fn lies_in_core(child: NodeRef<'_>) -> bool {
    child.class() == Class::Block && child.offset().signum() == 0
}
