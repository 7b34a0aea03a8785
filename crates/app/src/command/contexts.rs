//! `contexts`: the contexts of a store.

use std::collections::BTreeMap;

use contextree::store::{BranchId, ContextRow as Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::ContextRow;
use crate::workspace::{Access, OpenStore};
use crate::{Control, Error, Workspace};

/// Lists the contexts of the store, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextsRequest {
    /// Returns only names after this one.
    pub after: Option<String>,
    /// Returns at most this many.
    pub limit: Option<usize>,
    /// Also returns which contexts were forked, and from where.
    pub branches: bool,
}

/// The contexts of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextsResponse {
    /// The contexts, by name.
    pub contexts: Vec<ContextRow>,
    /// The contexts of the list that were forked, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<ContextBranch>>,
}

/// Where a context was forked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextBranch {
    /// The context.
    pub context: String,
    /// The context that it was forked from; null if that is not in the list.
    pub from: Option<String>,
    /// The last commit that both share; 0 if there is none.
    pub cycle: u32,
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
    let limit = control.most_of_list(request.limit);
    while rows.len() < limit {
        control.check()?;
        let after = rows.last().map(|row| row.name.as_str()).or(request.after.as_deref());
        let page = store.contexts(after, 1_000.min(limit - rows.len()))?;
        if page.is_empty() {
            break;
        }
        rows.extend(page);
    }
    control.check_list(rows.len())?;
    let branches = request.branches.then(|| branches(&store, &rows, control)).transpose()?;
    Ok(ContextsResponse { contexts: rows.iter().map(ContextRow::from).collect(), branches })
}

/// Returns where the contexts of a list were forked.
fn branches(
    store: &OpenStore,
    rows: &[Row],
    control: &Control<'_>,
) -> Result<Vec<ContextBranch>, Error> {
    let owners: BTreeMap<BranchId, &str> =
        rows.iter().map(|row| (row.branch, row.name.as_str())).collect();
    let mut branches = Vec::new();
    for row in rows {
        control.check()?;
        let lineage = store.for_context(&row.name)?.backend().lineage(row.branch)?;
        // The last stretch is the context's own.
        let Some(from) = lineage.len().checked_sub(2).and_then(|parent| lineage.get(parent)) else {
            continue;
        };
        let owner = owners.get(&from.branch).map(|&name| name.to_owned());
        branches.push(ContextBranch {
            context: row.name.clone(),
            from: owner,
            cycle: from.upto.get(),
        });
    }
    Ok(branches)
}
