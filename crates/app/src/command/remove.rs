//! `remove`: nodes leave the working state.

use std::collections::BTreeSet;

use contextree::{Op, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::{Change, targets};
use crate::{Control, Error, Workspace};

/// Removes nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveRequest {
    /// Ids of nodes, or selectors without a time.
    pub targets: Vec<String>,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Removed nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveResponse {
    /// Their ids, those below them included.
    pub removed: Vec<String>,
}

/// Removes nodes with everything below them. Snapshots keep them.
///
/// # Errors
///
/// If no node matches, or the rules refuse it: the core of a sealed turn cannot be removed.
pub fn remove(
    workspace: &Workspace,
    request: &RemoveRequest,
    control: &Control<'_>,
) -> Result<RemoveResponse, Error> {
    let _span = workspace.span("remove");
    control.check()?;
    let limits = control.query_limits(None);
    let removed = workspace.change("remove", &request.change, |context| {
        let mut ids = BTreeSet::new();
        for target in &request.targets {
            ids.extend(targets(context, target, workspace.edition(), &limits)?);
        }
        // A node below another one is removed with it.
        let is_top = |id: &&String| {
            let node = context.working().get(id);
            !node.is_some_and(|node| node.ancestors().any(|above| ids.contains(above.id())))
        };
        let ops = ids.iter().filter(is_top).map(|id| Op::Remove { node: id.clone() }).collect();
        let outcomes = context.batch(ops).map_err(|batch| Error::refused(&batch.error))?;
        let removed = outcomes.into_iter().flat_map(|outcome| match outcome {
            Outcome::Removed(ids) => ids,
            _ => Vec::new(),
        });
        Ok(removed.collect())
    })?;
    Ok(RemoveResponse { removed })
}
