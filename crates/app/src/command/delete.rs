//! `delete`: removes a context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Deletes a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteRequest {
    /// The name of the context.
    pub name: String,
    /// Reports what would be deleted and deletes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// A deleted context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteResponse {
    /// Its name.
    pub name: String,
    /// The number of its snapshots.
    pub snapshots: u64,
    /// False for a dry run.
    pub deleted: bool,
}

/// Deletes a context, with everything that no other context needs, and returns its space: its text is in the file no longer.
///
/// # Errors
///
/// If the context does not exist.
pub fn delete(
    workspace: &Workspace,
    request: &DeleteRequest,
    control: &Control<'_>,
) -> Result<DeleteResponse, Error> {
    let _span = workspace.span("delete");
    control.check()?;
    let store = workspace.store(if request.dry_run { Access::Read } else { Access::Delete })?;
    let reader = store.reader(&request.name)?;
    let snapshots = reader.row().snapshots;
    if !request.dry_run {
        drop(reader);
        let stored = store.for_context(&request.name)?;
        stored.delete(&request.name)?;
        // The context is gone in any case. Without space or a turn to write, its text stays in the file until the next `gc`.
        if let Err(error) = stored.backend().reclaim() {
            tracing::warn!(context = request.name, %error, "the space was not reclaimed");
        }
    }
    Ok(DeleteResponse { name: request.name.clone(), snapshots, deleted: !request.dry_run })
}
