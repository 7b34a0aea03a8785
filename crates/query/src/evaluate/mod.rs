//! Evaluating: a plan and a tree give nodes, in result order.

mod automaton;
mod condition;
mod matches;
mod order;
mod path;
mod scan;
mod spot;
mod table;
mod walk;
mod window;

pub(crate) use automaton::Automaton;
pub(crate) use condition::Env;
pub(crate) use matches::find;
pub(crate) use order::{arrange, unique};
pub(crate) use spot::{Spot, has_elided_core, is_zoned};
pub(crate) use walk::Scope;
pub(crate) use window::Window;

use contextree_tree::{NodeRef, TreeRef};

use crate::depth::Axis;
use crate::plan::Plan;

/// Returns what a plan finds in one tree, in result order: matches, arranged, made unique, cut to the page.
///
/// `cycle` is the snapshot's; nothing for the working state, where facets do not exist.
#[must_use]
pub fn evaluate<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<u32>) -> Vec<NodeRef<'t>> {
    evaluate_some(plan, tree, cycle, None)
}

/// As [`evaluate`], where the first `window` results are enough.
pub(crate) fn evaluate_some<'t>(
    plan: &Plan,
    tree: TreeRef<'t>,
    cycle: Option<u32>,
    window: Option<usize>,
) -> Vec<NodeRef<'t>> {
    let axis = Axis::new(tree, plan.query.recency);
    let found = find(plan, &axis, &Env { cycle }, plan.enough(window));
    let mut nodes = arrange(found, plan.query.arrangement, &axis);
    if plan.query.unique {
        nodes = unique(nodes);
    }
    cut(plan, nodes)
}

/// The page, and the first of it.
pub(crate) fn cut<'t>(plan: &Plan, nodes: Vec<NodeRef<'t>>) -> Vec<NodeRef<'t>> {
    let (skip, take) = plan.query.page.unwrap_or((0, usize::MAX));
    let take = if plan.query.first { take.min(1) } else { take };
    if (skip, take) == (0, usize::MAX) {
        return nodes;
    }
    nodes.into_iter().skip(skip).take(take).collect()
}
