//! `fork`: another context with the same past.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::ContextRow;
use crate::workspace::{Access, Address};
use crate::{Control, Error, Workspace};

/// Forks a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkRequest {
    /// The name of the new context.
    pub name: String,
    /// The state that it begins with; the working state if it is absent.
    #[serde(default)]
    pub at: Option<Address>,
}

/// A forked context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkResponse {
    /// The new context.
    pub context: ContextRow,
}

/// Creates a context that begins with a state of this one; they share the past. Costs the same for any history.
///
/// # Errors
///
/// If the state does not exist, or the new context does.
pub fn fork(
    workspace: &Workspace,
    request: &ForkRequest,
    control: &Control<'_>,
) -> Result<ForkResponse, Error> {
    let _span = workspace.span("fork");
    control.check()?;
    let store = workspace.store(Access::Write)?;
    // The error for a missing context names those that exist.
    drop(workspace.session(&store)?);
    let address = match request.at {
        None | Some(Address::Working) => None,
        Some(Address::Snapshot(address)) => Some(address),
    };
    let session =
        store.for_new(&request.name)?.fork(workspace.context(), address, &request.name)?;
    Ok(ForkResponse { context: session.row().into() })
}
