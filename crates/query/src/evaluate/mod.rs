//! Evaluates a plan on a tree; returns nodes in result order.

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

pub(crate) use automaton::{Automaton, MAX_STEPS};
pub(crate) use condition::{Env, tags};
pub(crate) use matches::find;
pub(crate) use order::{arrange, unique};
pub(crate) use spot::{Spot, has_elided_core, is_zoned};
pub(crate) use walk::Scope;
pub(crate) use window::Window;

use contextree_tree::{Cycle, NodeRef, TreeRef};

use crate::depth::Axis;
use crate::error::QueryError;
use crate::matches::Matches;
use crate::meter::{Meter, QueryLimits};
use crate::plan::Plan;

/// Returns the results of a plan in one tree, in result order: matches are sorted, deduplicated and
/// cut to the page.
///
/// `cycle` is that of the snapshot; `None` for the working state, where facets do not exist.
#[must_use]
pub fn evaluate<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<Cycle>) -> Vec<NodeRef<'t>> {
    evaluate_some(plan, tree, &Env::at(cycle), None)
}

/// Like [`evaluate`], but does not fetch the nodes.
#[must_use]
pub fn find_matches<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<Cycle>) -> Matches<'t> {
    matches_in(plan, tree, &Env::at(cycle), None)
}

/// Like [`evaluate`], within limits.
///
/// # Errors
///
/// `E_LIMIT` if a limit is reached.
pub fn evaluate_within<'t>(
    plan: &Plan,
    tree: TreeRef<'t>,
    cycle: Option<Cycle>,
    limits: &QueryLimits,
) -> Result<Vec<NodeRef<'t>>, QueryError> {
    Ok(find_matches_within(plan, tree, cycle, limits)?.iter().collect())
}

/// Like [`find_matches`], within limits.
///
/// # Errors
///
/// `E_LIMIT` if a limit is reached.
pub fn find_matches_within<'t>(
    plan: &Plan,
    tree: TreeRef<'t>,
    cycle: Option<Cycle>,
    limits: &QueryLimits,
) -> Result<Matches<'t>, QueryError> {
    let meter = Meter::new(limits);
    let matches = matches_in(plan, tree, &Env::metered(cycle, &meter), None);
    meter.check()?;
    Ok(matches)
}

/// Like [`find_matches`], but skips no part of the tree. For comparisons: the result is the same.
#[doc(hidden)]
#[must_use]
pub fn find_everywhere<'t>(plan: &Plan, tree: TreeRef<'t>, cycle: Option<Cycle>) -> Matches<'t> {
    matches_in(plan, tree, &Env { cycle, skips: false, meter: None }, None)
}

/// Like [`evaluate`], but returns only the first `window` results.
pub(crate) fn evaluate_some<'t>(
    plan: &Plan,
    tree: TreeRef<'t>,
    env: &Env<'_>,
    window: Option<usize>,
) -> Vec<NodeRef<'t>> {
    matches_in(plan, tree, env, window).iter().collect()
}

fn matches_in<'t>(
    plan: &Plan,
    tree: TreeRef<'t>,
    env: &Env<'_>,
    window: Option<usize>,
) -> Matches<'t> {
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

/// Returns how many results to skip, and how many to take at most.
fn page(plan: &Plan) -> (usize, usize) {
    let (skip, take) = plan.query.page.unwrap_or((0, usize::MAX));
    (skip, if plan.query.first { take.min(1) } else { take })
}

/// Returns the page, or the first node of it for `@first`.
pub(crate) fn cut<'t>(plan: &Plan, nodes: Vec<NodeRef<'t>>) -> Vec<NodeRef<'t>> {
    let (skip, take) = page(plan);
    if (skip, take) == (0, usize::MAX) {
        return nodes;
    }
    nodes.into_iter().skip(skip).take(take).collect()
}
