//! A second evaluator, as simple as possible: straight from the syntax tree and the rulings,
//! without lookups, plans or early exits. Tests compare the real one with it.

mod chain;
mod filter;
mod spots;

use contextree_json::Value;
use contextree_selector::{BehaviorKind, Body, Flag, Hop, HopKind, Order, Selector};
use contextree_tree::{Class, Cycle, NodeRef, TreeRef};

use spots::{Place, Spots};

/// Returns the matches of a selector in one tree, in result order; ignores its time prefix.
pub fn select<'t>(
    selector: &Selector,
    tree: TreeRef<'t>,
    cycle: Option<Cycle>,
) -> Vec<NodeRef<'t>> {
    let spots = Spots::new(tree, selector.edition, cycle);
    let matched = match &selector.body {
        Body::Chains(chains) => {
            let mut all: Vec<usize> =
                chains.iter().flat_map(|each| chain::matches(each, &spots)).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        Body::Position(position) => {
            let mut at = None;
            for (index, hop) in position.hops.iter().enumerate() {
                at = Some(follow(&spots, at, hop, index + 1 < position.hops.len()));
            }
            at.unwrap_or_default()
        }
        Body::Step => spots.all().filter(|at| spots.places[*at].level == 1).collect(),
        Body::Deep(None) => spots.all().filter(|at| spots.places[*at].level > 0).collect(),
        Body::Deep(Some(within)) => {
            let mut scope = None;
            for stage in within.stages() {
                let mut next: Vec<usize> =
                    stage.iter().flat_map(|hop| follow(&spots, scope.clone(), hop, true)).collect();
                next.sort_unstable();
                scope = Some(next);
            }
            let scope = scope.unwrap_or_default();
            spots.all().filter(|at| scope.iter().any(|above| spots.is_below(*at, *above))).collect()
        }
        Body::Tree => spots.all().collect(),
    };
    let matched: Vec<usize> = matched
        .into_iter()
        .filter(|at| spots.places[*at].node.is_some() && keeps(selector, &spots, *at))
        .collect();
    finish(selector, &spots, matched)
}

/// Evaluates one hop from the positions reached so far (at first from the root).
fn follow(spots: &Spots<'_>, from: Option<Vec<usize>>, hop: &Hop, may_be_core: bool) -> Vec<usize> {
    let is_first = from.is_none();
    let from = from.unwrap_or_else(|| vec![0]);
    let below = |at: usize| from.iter().any(|above| spots.is_child(at, *above));
    let is_candidate = |at: usize| {
        let place = &spots.places[at];
        match hop.kind {
            HopKind::Depth(depth) => {
                spots.is_on_axis(at) && place.depth == Some(depth) && (is_first || below(at))
            }
            HopKind::Segment(_) => {
                from.contains(&at) && (spots.is_on_axis(at) || place.class() == Class::Turn)
            }
            HopKind::Step => place.node.is_some() && below(at),
            HopKind::Child { class, offset } => {
                let is_class =
                    class.is_none_or(|word| filter::is_class(place.class(), word.class()));
                let is_offset = offset.is_none_or(|offset| {
                    place.node.map_or(offset == 0, |node| node.offset() == offset.into())
                });
                let is_core = place.node.is_none();
                below(at) && is_class && is_offset && (!is_core || (may_be_core && class.is_some()))
            }
        }
    };
    (0..spots.places.len())
        .filter(|at| {
            is_candidate(*at) && hop.filters.iter().all(|each| filter::holds(each, spots, *at))
        })
        .collect()
}

fn keeps(selector: &Selector, spots: &Spots<'_>, at: usize) -> bool {
    let Some(node) = spots.places[at].node else { return false };
    selector.filters.iter().all(|each| filter::holds(each, spots, at))
        && selector
            .tags
            .iter()
            .all(|tag| filter::tags(node).iter().any(|carried| **carried == *tag.name))
        && selector.behavior.iter().all(|behavior| match &behavior.kind {
            BehaviorKind::Filter(each) => filter::holds(each, spots, at),
            BehaviorKind::Flag(flag) => match node.header(flag.as_str()) {
                Some(Value::Bool(truth)) => truth,
                Some(Value::String(text)) => &*text == "true",
                None | Some(Value::Null) => match flag {
                    Flag::Ephemeral => node.ttl().is_some(),
                    Flag::Sticky => node.ttl().is_none(),
                },
                Some(_) => true,
            },
        })
}

/// Applies order, unique, window, first.
fn finish<'t>(selector: &Selector, spots: &Spots<'t>, mut matched: Vec<usize>) -> Vec<NodeRef<'t>> {
    let controls = &selector.controls;
    match controls.order {
        Some(order) => matched.sort_by_key(|at| rank(order.value, spots, *at)),
        None if has_key_equality(selector) => {
            matched.sort_by(|left, right| spots.newer_first(*left, *right));
        }
        None => {}
    }
    let mut nodes: Vec<NodeRef<'t>> =
        matched.into_iter().filter_map(|at| spots.places[at].node).collect();
    if controls.unique.is_some() {
        let mut seen: Vec<(bool, &str)> = Vec::new();
        nodes.retain(|node| {
            let name = node.key().map_or((false, node.id()), |key| (true, key));
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
    }
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limit = controls.limit.map(|limit| size(limit.value));
    let page = controls.page.map_or(1, |page| size(page.value));
    let nodes = match limit {
        Some(limit) => nodes
            .into_iter()
            .skip(page.saturating_sub(1).saturating_mul(limit))
            .take(limit)
            .collect(),
        None if page == 1 => nodes,
        None => Vec::new(),
    };
    let first = if controls.first.is_some() { 1 } else { usize::MAX };
    nodes.into_iter().take(first).collect()
}

fn has_key_equality(selector: &Selector) -> bool {
    let tail = selector.filters.iter().chain(selector.behavior.iter().filter_map(|behavior| {
        match &behavior.kind {
            BehaviorKind::Filter(filter) => Some(filter),
            BehaviorKind::Flag(_) => None,
        }
    }));
    if tail.into_iter().any(|filter| filter.key_equality().is_some()) {
        return true;
    }
    match &selector.body {
        Body::Chains(chains) => {
            let mut keys: Vec<Option<&str>> = chains
                .iter()
                .map(|chain| chain.steps.last().and_then(|step| step.compound.key_equality()))
                .collect();
            keys.dedup();
            keys.len() == 1 && keys[0].is_some()
        }
        Body::Position(position) => position
            .hops
            .last()
            .is_some_and(|hop| hop.filters.iter().any(|filter| filter.key_equality().is_some())),
        _ => false,
    }
}

/// Returns a sort key for a position; ties keep document order.
fn rank(order: Order, spots: &Spots<'_>, at: usize) -> i64 {
    let place: &Place<'_> = &spots.places[at];
    let turn = match (place.depth, place.level) {
        (None, 0) => -1_000_002,
        (Some(-1), _) => -1_000_001,
        (None, _) => -1_000_000,
        (Some(depth), _) => -depth,
    };
    match order {
        Order::Pre | Order::Path => 0,
        // After all descendants: the number of positions up to the end of its subtree, deeper ones
        // first.
        Order::Post => {
            let end = (0..spots.places.len())
                .filter(|other| spots.is_below(*other, at))
                .max()
                .unwrap_or(at);
            (end as i64) * 100_000 - place.level as i64
        }
        Order::Bfs => place.level as i64,
        Order::TurnAsc => turn,
        Order::TurnDesc => -turn,
    }
}
