//! Evaluating: a plan and a tree give nodes, in result order.

mod automaton;
mod condition;
mod matches;
mod order;
mod path;
mod pick;
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
use crate::matches::Matches;
use crate::plan::Plan;

/// Returns what a plan finds in one tree, in result order: matches, arranged, made unique, cut to the page.
///
/// `cycle` is the snapshot's; nothing for the working state, where facets do not exist.
#[must_use]
pub fn evaluate<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<u32>) -> Vec<NodeRef<'t>> {
    evaluate_some(plan, tree, cycle, None)
}

/// As [`evaluate`], without fetching the nodes.
#[must_use]
pub fn find_matches<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<u32>) -> Matches<'t> {
    matches_in(plan, tree, &Env::at(cycle), None)
}

/// As [`find_matches`], but no part of the tree is left out because it cannot match. For comparisons: the result is the same.
#[doc(hidden)]
#[must_use]
pub fn find_everywhere<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<u32>) -> Matches<'t> {
    matches_in(plan, tree, &Env { cycle, skips: false }, None)
}

/// As [`evaluate`], where the first `window` results are enough.
pub(crate) fn evaluate_some<'t>(
    plan: &Plan,
    tree: TreeRef<'t>,
    cycle: Option<u32>,
    window: Option<usize>,
) -> Vec<NodeRef<'t>> {
    matches_in(plan, tree, &Env::at(cycle), window).iter().collect()
}

fn matches_in<'t>(plan: &Plan, tree: TreeRef<'t>, env: &Env, window: Option<usize>) -> Matches<'t> {
    let axis = Axis::new(tree, plan.query.recency);
    let mut matches = find(plan, &axis, env, plan.enough(window));
    if !plan.is_in_document_order() && matches.len() > 1 {
        matches = matches.replaced(|nodes| arrange(nodes, plan.query.arrangement, &axis));
    }
    if plan.query.unique {
        matches = matches.replaced(unique);
    }
    let (skip, take) = page(plan);
    matches.cut(skip, take)
}

/// How many results are skipped and how many are taken at most.
fn page(plan: &Plan) -> (usize, usize) {
    let (skip, take) = plan.query.page.unwrap_or((0, usize::MAX));
    (skip, if plan.query.first { take.min(1) } else { take })
}

/// The page, and the first of it.
pub(crate) fn cut<'t>(plan: &Plan, nodes: Vec<NodeRef<'t>>) -> Vec<NodeRef<'t>> {
    let (skip, take) = page(plan);
    if (skip, take) == (0, usize::MAX) {
        return nodes;
    }
    nodes.into_iter().skip(skip).take(take).collect()
}
