//! `move`: a node gets another place.

use contextree::{Op, Outcome, WriteError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::Place;
use crate::workspace::{Change, targets};
use crate::{Control, Error, Workspace};

/// Moves a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    /// The id of a node, or a selector that matches one.
    pub target: String,
    /// Where to.
    pub place: Place,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// A moved node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveResponse {
    /// The id that it had.
    pub id: String,
    /// Nodes that were created again under new ids, because they are in another region now.
    pub renamed: Vec<Renamed>,
}

/// A node that was created again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// The old id.
    pub from: String,
    /// The new id.
    pub to: String,
}

/// Moves a node with everything below it.
///
/// # Errors
///
/// If the target does not match exactly one node, the place does not exist, or the rules refuse it.
pub fn move_(
    workspace: &Workspace,
    request: &MoveRequest,
    control: &Control<'_>,
) -> Result<MoveResponse, Error> {
    let _span = workspace.span("move");
    control.check()?;
    let edition = workspace.edition();
    let limits = control.query_limits(None);
    let (id, outcome) = workspace.change("move", &request.change, |context| {
        let ids = targets(context, &request.target, edition, &limits)?;
        let [node] = ids.as_slice() else {
            let error = WriteError::Ambiguous { selector: request.target.clone(), ids };
            return Err(Error::write(&error, &request.target));
        };
        let node = node.clone();
        let place = request.place.clone().resolve_within(context, edition, &limits)?;
        let op = Op::Move { node: node.clone(), place };
        let outcome = context.apply(op).map_err(|error| Error::refused(&error))?;
        Ok((node, outcome))
    })?;
    let renamed = match outcome {
        Outcome::Moved { renamed, .. } => renamed,
        _ => Vec::new(),
    };
    let renamed = renamed.into_iter().map(|(from, to)| Renamed { from, to }).collect();
    Ok(MoveResponse { id, renamed })
}
