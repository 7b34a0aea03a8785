//! `pin` and `unpin`: protection from pruning.

use contextree::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::{Change, targets};
use crate::{Control, Error, Workspace};

/// Protects nodes from pruning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinRequest {
    /// Ids of nodes, or selectors without a time.
    pub targets: Vec<String>,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Protected nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinResponse {
    /// Their ids.
    pub pinned: Vec<String>,
}

/// Removes the protection from pruning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnpinRequest {
    /// Ids of nodes, or selectors without a time.
    pub targets: Vec<String>,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Nodes that are no longer protected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnpinResponse {
    /// Their ids.
    pub unpinned: Vec<String>,
}

/// Protects nodes from pruning.
///
/// # Errors
///
/// If no node matches, or the rules refuse it.
pub fn pin(
    workspace: &Workspace,
    request: &PinRequest,
    control: &Control<'_>,
) -> Result<PinResponse, Error> {
    let _span = workspace.span("pin");
    control.check()?;
    let pinned = apply("pin", workspace, &request.targets, &request.change, control, |node| {
        Op::Pin { node }
    })?;
    Ok(PinResponse { pinned })
}

/// Removes the protection from pruning.
///
/// # Errors
///
/// If no node matches, or the rules refuse it.
pub fn unpin(
    workspace: &Workspace,
    request: &UnpinRequest,
    control: &Control<'_>,
) -> Result<UnpinResponse, Error> {
    let _span = workspace.span("unpin");
    control.check()?;
    let unpinned = apply("unpin", workspace, &request.targets, &request.change, control, |node| {
        Op::Unpin { node }
    })?;
    Ok(UnpinResponse { unpinned })
}

fn apply(
    command: &'static str,
    workspace: &Workspace,
    names: &[String],
    change: &Change,
    control: &Control<'_>,
    op: impl Fn(String) -> Op,
) -> Result<Vec<String>, Error> {
    let limits = control.query_limits(None);
    workspace.change(command, change, |context| {
        let mut ids = Vec::new();
        for name in names {
            ids.extend(targets(context, name, workspace.edition(), &limits)?);
        }
        let ops = ids.iter().cloned().map(&op).collect();
        context.batch(ops).map_err(|batch| Error::refused(&batch.error))?;
        Ok(ids)
    })
}
