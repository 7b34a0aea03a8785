//! `contexts`: the contexts of a store.

use contextree::store::ContextRow as Row;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::ContextRow;
use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Lists the contexts of the store, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextsRequest {
    /// Returns only names after this one.
    pub after: Option<String>,
    /// Returns at most this many.
    pub limit: Option<usize>,
}

/// The contexts of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextsResponse {
    /// The contexts, by name.
    pub contexts: Vec<ContextRow>,
}

/// Lists the contexts of the store, by name.
///
/// # Errors
///
/// If the store cannot be read.
pub fn contexts(
    workspace: &Workspace,
    request: &ContextsRequest,
    control: &Control<'_>,
) -> Result<ContextsResponse, Error> {
    let _span = workspace.span("contexts");
    let store = workspace.store(Access::Read)?;
    let mut rows: Vec<Row> = Vec::new();
    let limit = request.limit.unwrap_or(usize::MAX);
    while rows.len() < limit {
        control.check()?;
        let after = rows.last().map(|row| row.name.as_str()).or(request.after.as_deref());
        let page = store.contexts(after, 1_000.min(limit - rows.len()))?;
        if page.is_empty() {
            break;
        }
        rows.extend(page);
    }
    Ok(ContextsResponse { contexts: rows.iter().map(ContextRow::from).collect() })
}
