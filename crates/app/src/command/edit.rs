//! `edit`: new content or attributes for nodes of the turn in progress.

use contextree::{Content, Edit, Op};
use contextree_json::{Object, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{AnyObject, AnyValue};
use crate::workspace::{Change, targets};
use crate::{Control, Error, Workspace};

/// Edits nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// The id of a node, or a selector without a time.
    pub target: String,
    /// The new content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub content: Option<Value>,
    /// `key`, `tags`, `provenance`, `mime`, `encoding` and attributes to set.
    #[serde(default)]
    #[schemars(with = "AnyObject")]
    pub set: Object,
    /// The same, to remove.
    #[serde(default)]
    pub unset: Vec<String>,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Edited nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditResponse {
    /// Their ids.
    pub changed: Vec<String>,
}

/// Edits all nodes that the target names, or none.
///
/// # Errors
///
/// If there is nothing to change, no node matches, or the rules refuse the change: sealed nodes cannot be edited.
pub fn edit(
    workspace: &Workspace,
    request: &EditRequest,
    control: &Control<'_>,
) -> Result<EditResponse, Error> {
    let _span = workspace.span("edit");
    control.check()?;
    let set = request.set.iter().map(|(name, value)| (name.to_owned(), value.clone()));
    let edit = Edit {
        content: request.content.clone().map(Content::from),
        set: set.collect(),
        unset: request.unset.clone(),
    };
    if edit == Edit::default() {
        return Err(Error::usage("there is nothing to change")
            .with_hint("pass a new content, or attributes to set or unset"));
    }
    let limits = control.query_limits(None);
    let changed = workspace.change("edit", &request.change, |context| {
        let ids = targets(context, &request.target, workspace.edition(), &limits)?;
        let op = |node: &String| Op::Edit { node: node.clone(), edit: edit.clone() };
        context
            .batch(ids.iter().map(op).collect())
            .map_err(|batch| Error::refused(&batch.error))?;
        Ok(ids)
    })?;
    Ok(EditResponse { changed })
}
