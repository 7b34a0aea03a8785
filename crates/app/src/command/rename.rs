//! `rename`: another name for a context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::ContextRow;
use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Renames a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameRequest {
    /// The name that it has.
    pub name: String,
    /// The name that it gets.
    pub to: String,
}

/// A renamed context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameResponse {
    /// The context under its new name.
    pub context: ContextRow,
}

/// Gives a context another name. Its history, and the contexts that began with it, stay as they are.
///
/// # Errors
///
/// If the context does not exist, or there is one of the new name.
pub fn rename(
    workspace: &Workspace,
    request: &RenameRequest,
    control: &Control<'_>,
) -> Result<RenameResponse, Error> {
    let _span = workspace.span("rename");
    control.check()?;
    let store = workspace.store(Access::Write)?;
    // The error for a missing context names those that exist.
    drop(store.reader(&request.name)?);
    let row = store.for_new(&request.to)?.rename(&request.name, &request.to)?;
    Ok(RenameResponse { context: (&row).into() })
}
