//! The diff of two trees, restricted by a selector: `ctx.diff(A, B, selector)`.

use std::collections::BTreeMap;

use contextree_tree::diff::{Changed, Diff, changed_fields};
use contextree_tree::{Cycle, NodeRef, TreeRef};

use super::compare::compare_sets;
use crate::error::QueryError;
use crate::evaluate::evaluate_within;
use crate::meter::QueryLimits;
use crate::plan::Plan;

/// Returns what changed from the older tree to the newer one among the nodes that a plan matches:
/// nodes matched in both that differ, and nodes matched in only one (ER-042).
///
/// # Errors
///
/// `E_LIMIT` if it is more work than the limits allow.
pub fn diff_selected<'t>(
    plan: &Plan,
    older: (TreeRef<'t>, Option<Cycle>),
    newer: (TreeRef<'t>, Option<Cycle>),
    limits: &QueryLimits,
) -> Result<Diff, QueryError> {
    let matches = |(tree, cycle): (TreeRef<'t>, Option<Cycle>)| {
        let nodes = evaluate_within(plan, tree, cycle, limits)?;
        Ok::<BTreeMap<&'t str, NodeRef<'t>>, QueryError>(
            nodes.into_iter().map(|node| (node.id(), node)).collect(),
        )
    };
    let mut matched = compare_sets(&matches(older)?, &matches(newer)?);
    matched.order_removed(newer.0);
    let ids = |nodes: &[NodeRef<'_>]| nodes.iter().map(|node| node.id().to_owned()).collect();
    Ok(Diff {
        added: ids(&matched.added),
        removed: ids(&matched.removed),
        changed: matched
            .changed
            .iter()
            .map(|(new, old)| Changed {
                id: new.id().to_owned(),
                fields: changed_fields(*old, *new).into_iter().map(Into::into).collect(),
            })
            .collect(),
    })
}
