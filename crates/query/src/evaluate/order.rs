//! The order of results: document order, newest first within a key, or by `@order`.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use contextree_selector::Order;
use contextree_tree::NodeRef;

use super::spot::Spot;
use crate::depth::Axis;
use crate::resolve::Arrangement;

/// Sorts nodes that are in document order.
pub(crate) fn arrange<'t>(
    nodes: Vec<NodeRef<'t>>,
    arrangement: Arrangement,
    axis: &Axis<'t>,
) -> Vec<NodeRef<'t>> {
    match arrangement {
        Arrangement::Document | Arrangement::Ordered(Order::Pre | Order::Path) => nodes,
        _ if nodes.len() < 2 => nodes,
        Arrangement::SameKey => sorted(nodes, axis, newer_first),
        Arrangement::Ordered(Order::Bfs) => {
            sorted(nodes, axis, |left, right| left.level.cmp(&right.level))
        }
        Arrangement::Ordered(Order::TurnAsc) => {
            sorted(nodes, axis, |left, right| turn(left).cmp(&turn(right)))
        }
        Arrangement::Ordered(Order::TurnDesc) => {
            sorted(nodes, axis, |left, right| turn(right).cmp(&turn(left)))
        }
        Arrangement::Ordered(Order::Post) => {
            let mut keyed: Vec<_> = nodes.into_iter().map(|node| (node.place(), node)).collect();
            keyed.sort_by(|(left, _), (right, _)| {
                // An ancestor's place is a prefix of its descendants' places.
                let shared = left.len().min(right.len());
                left[..shared].cmp(&right[..shared]).then(right.len().cmp(&left.len()))
            });
            keyed.into_iter().map(|(_, node)| node).collect()
        }
    }
}

fn sorted<'t>(
    nodes: Vec<NodeRef<'t>>,
    axis: &Axis<'t>,
    compare: impl Fn(&Spot<'t>, &Spot<'t>) -> Ordering,
) -> Vec<NodeRef<'t>> {
    let mut spots: Vec<Spot<'t>> = nodes.into_iter().map(|node| Spot::of(node, axis)).collect();
    // Stable: equal nodes stay in document order.
    spots.sort_by(compare);
    spots.into_iter().map(|spot| spot.node).collect()
}

/// Newest first: depth 0, 1, 2, … then the system region; then the later stamp; then the id
/// (ER-088).
pub(crate) fn newer_first(left: &Spot<'_>, right: &Spot<'_>) -> Ordering {
    let age = |spot: &Spot<'_>| match spot.depth {
        Some(depth @ 0..) => (0, depth),
        Some(depth) => (1, depth),
        None => (2, 0),
    };
    age(left)
        .cmp(&age(right))
        .then_with(|| right.node.created_at_ns().cmp(&left.node.created_at_ns()))
        .then_with(|| right.node.creation_index().cmp(&left.node.creation_index()))
        .then_with(|| left.node.id().cmp(right.node.id()))
}

/// Oldest first: the root, the system region, `^seq`, the turns, the head.
fn turn(spot: &Spot<'_>) -> (u8, i64) {
    match (spot.depth, spot.level) {
        (None, 0) => (0, 0),
        (Some(-1), _) => (1, 0),
        (None, _) => (2, 0),
        (Some(depth), _) => (3, -depth),
    }
}

/// Keeps the first node of each key; nodes without a key count by id.
pub(crate) fn unique(nodes: Vec<NodeRef<'_>>) -> Vec<NodeRef<'_>> {
    let mut seen: BTreeSet<(bool, &str)> = BTreeSet::new();
    nodes
        .into_iter()
        .filter(|node| seen.insert(node.key().map_or((false, node.id()), |key| (true, key))))
        .collect()
}
