//! `add`: a new node in the working state.

use contextree::{Op, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{NewNode, Place};
use crate::workspace::Change;
use crate::{Control, Error, Workspace};

/// Adds a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AddRequest {
    /// The node.
    pub node: NewNode,
    /// Where; the core of the turn in progress if it is absent.
    pub place: Place,
    /// How to change the context.
    pub change: Change,
}

/// An added node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddResponse {
    /// Its id.
    pub id: String,
    /// The id of the core that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
}

/// Adds a node to the working state.
///
/// # Errors
///
/// If the place does not exist, or the rules refuse the node.
pub fn add(
    workspace: &Workspace,
    request: &AddRequest,
    control: &Control<'_>,
) -> Result<AddResponse, Error> {
    let _span = workspace.span("add");
    control.check()?;
    let outcome = workspace.change(&request.change, |context| {
        let place = request.place.clone().resolve(context, workspace.edition())?;
        let op = Op::Add { place, node: request.node.0.clone() };
        context.apply(op).map_err(|error| Error::refused(&error))
    })?;
    match outcome {
        Outcome::Added { id, core } => Ok(AddResponse { id, core }),
        other => Err(Error::new("E_INTERNAL", format!("adding a node returned {other:?}"))),
    }
}
