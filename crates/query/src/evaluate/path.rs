//! Paths of hops and the scopes of deep searches.

use contextree_tree::{Class, NodeRef};

use super::condition::Env;
use super::spot::{Spot, has_elided_core, lies_in_core};
use crate::depth::Axis;
use crate::resolve::{Condition, Hop, HopKind};

/// From how many spots on it is worth looking for those that are there twice.
const MANY: usize = 100_000;

/// Returns the spots at the end of a path, in document order. The last hop reaches an elided core
/// only if allowed.
pub(crate) fn follow<'t>(
    stages: &[&[Hop]],
    axis: &Axis<'t>,
    env: &Env<'_>,
    may_end_in_core: bool,
) -> Vec<Spot<'t>> {
    let root = Spot { node: axis.tree().root(), depth: None, level: 0, is_core: false };
    let mut reached = vec![root];
    for (index, stage) in stages.iter().enumerate() {
        let is_last = index + 1 == stages.len();
        let accepts_core = !is_last || may_end_in_core;
        let mut next: Vec<Spot<'t>> = Vec::new();
        let mut sorted = 0;
        for hop in *stage {
            let from = if index == 0 { From::Tree(&root) } else { From::Spots(&reached) };
            next.extend(hop_from(hop, from, axis, env, accepts_core));
            if env.is_out() {
                return Vec::new();
            }
            // Hops that reach the same nodes take no more space than one.
            if next.len() > MANY && next.len() > 2 * sorted {
                sort(&mut next);
                sorted = next.len();
            }
        }
        sort(&mut next);
        reached = next;
    }
    reached
}

#[derive(Clone, Copy)]
enum From<'s, 't> {
    Tree(&'s Spot<'t>),
    Spots(&'s [Spot<'t>]),
}

fn hop_from<'t>(
    hop: &Hop,
    from: From<'_, 't>,
    axis: &Axis<'t>,
    env: &Env<'_>,
    accepts_core: bool,
) -> Vec<Spot<'t>> {
    let spots = match from {
        From::Tree(root) => std::slice::from_ref(root),
        From::Spots(spots) => spots,
    };
    let holds = |spot: &Spot<'t>| hop.tests.iter().all(|test| test.holds(spot, env));
    env.charge(spots.len());
    match hop.kind {
        HopKind::Depth(depth) => {
            let container = axis.container(depth).map(|node| Spot::of(node, axis));
            let is_below = |spot: &Spot<'t>| match from {
                From::Tree(_) => true,
                From::Spots(spots) => {
                    let parent = spot.node.parent_id();
                    spots.iter().any(|above| !above.is_core && Some(above.node.id()) == parent)
                }
            };
            let on_axis = container.filter(Spot::is_on_axis);
            on_axis.into_iter().filter(|spot| is_below(spot) && holds(spot)).collect()
        }
        HopKind::Turn => spots
            .iter()
            .copied()
            .filter(|spot| Condition::TurnLike.holds(spot, env) && holds(spot))
            .collect(),
        HopKind::Child(class, offset) => {
            let fits = |spot: &Spot<'t>| {
                let (is, at_zero) = (spot.node.class(), spot.is_core);
                let class_fits = class.is_none_or(|class| match spot.is_core {
                    true => class == Class::Container,
                    false => class == is,
                });
                let offset_fits = offset.is_none_or(|offset| match at_zero {
                    true => offset == 0,
                    false => spot.node.offset() == offset.into(),
                });
                class_fits && offset_fits && holds(spot)
            };
            let mut found: Vec<Spot<'t>> = Vec::new();
            for spot in spots {
                env.charge(spot.node.child_count() * (1 + hop.tests.len()));
                if env.is_out() {
                    break;
                }
                if accepts_core && class.is_some() && !spot.is_core && has_elided_core(spot.node) {
                    found.extend(Some(spot.core()).filter(fits));
                }
                found.extend(children(spot, axis).into_iter().filter(fits));
            }
            found
        }
    }
}

/// Returns the children of a spot; those of an elided core are the blocks in it.
pub(crate) fn children<'t>(spot: &Spot<'t>, axis: &Axis<'t>) -> Vec<Spot<'t>> {
    let place = |depth: Option<i64>, node: NodeRef<'t>| {
        let level = spot.node_level() + 1;
        Spot { node, depth, level, is_core: false }
    };
    let of_region = |node: NodeRef<'t>| node.as_region().and_then(Axis::region_depth);
    match spot.node.class() {
        Class::Root => spot.node.children().map(|node| place(of_region(node), node)).collect(),
        Class::Region if spot.depth.is_none() => {
            axis.turns().map(|(depth, node)| place(Some(depth), node)).collect()
        }
        _ => spot
            .node
            .children()
            .filter(|child| !spot.is_core || lies_in_core(*child))
            .map(|node| place(spot.depth, node))
            .collect(),
    }
}

impl Spot<'_> {
    /// Returns the level of `node` itself, whether or not the spot is its elided core.
    fn node_level(&self) -> usize {
        if self.is_core { self.level - 1 } else { self.level }
    }
}

/// Sorts spots in document order, each once. Only elided cores and unions can be out of order.
fn sort(spots: &mut Vec<Spot<'_>>) {
    if spots.len() < 2 {
        return;
    }
    let mut keyed: Vec<_> =
        spots.iter().map(|spot| (spot.node.place(), spot.is_core, *spot)).collect();
    keyed.sort_by(|left, right| left.0.cmp(&right.0).then(left.1.cmp(&right.1)));
    keyed.dedup_by(|later, before| later.0 == before.0 && later.1 == before.1);
    *spots = keyed.into_iter().map(|(.., spot)| spot).collect();
}
