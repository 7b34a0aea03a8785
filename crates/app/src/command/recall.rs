//! `recall`: brings back what expired, was pruned or was removed, as a document of the turn in progress.

use contextree::{Content, NewNode, NodeRef, Place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::{NodeEventKind, NodeHistoryRequest, missing, node_history};
use crate::workspace::Address;
use crate::{Change, Control, Error, Workspace};

/// How many calls see what was brought back, unless the request says otherwise.
const TTL: i64 = 1;

/// Brings back a node of an older snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The id of the node.
    pub id: String,
    /// The state that has the node; the last snapshot that had it if this is absent.
    #[serde(default)]
    pub at: Option<Address>,
    /// How many calls see it; 1 if it is absent.
    #[serde(default)]
    pub ttl: Option<i64>,
    /// How the change is made.
    #[serde(default)]
    pub change: Change,
}

/// What was brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallResponse {
    /// The id of the new document.
    pub id: String,
    /// The state that its content comes from.
    pub from: String,
    /// How many calls see it.
    pub ttl: i64,
}

/// Brings back the content of a node as a document that expires. The snapshots of the past stay as they are.
///
/// # Errors
///
/// `E_NODE_NOT_FOUND` if no snapshot has the node, `E_USAGE` if it is still there or has no content, and those of `add`.
pub fn recall(
    workspace: &Workspace,
    request: &RecallRequest,
    control: &Control<'_>,
) -> Result<RecallResponse, Error> {
    let _span = workspace.span("recall");
    control.check()?;
    let ttl = request.ttl.unwrap_or(TTL);
    let address = match request.at {
        Some(address) => address,
        None => last_state_with(workspace, &request.id, control)?,
    };
    let mut reader = workspace.read()?;
    let state = reader.state(address)?;
    let node = state.tree().get(&request.id).ok_or_else(|| missing(&request.id, &state.label))?;
    let document = document(node, &state.label)?.ttl(ttl);
    let id = workspace.change("recall", &request.change, |context| {
        context.add(Place::head(), document.clone()).map_err(|error| Error::refused(&error))
    })?;
    Ok(RecallResponse { id, from: state.label, ttl })
}

/// Returns the snapshot before the commit that removed a node last.
fn last_state_with(
    workspace: &Workspace,
    id: &str,
    control: &Control<'_>,
) -> Result<Address, Error> {
    if workspace.read()?.working()?.tree().get(id).is_some() {
        let message = format!("`{id}` is in the working state; there is nothing to bring back");
        return Err(Error::usage(message)
            .with_detail("place", id)
            .with_hint("name the state whose content you want, such as `@t-3`"));
    }
    let mut removed = None;
    let mut after = None;
    loop {
        let request = NodeHistoryRequest { id: id.to_owned(), after, limit: None };
        let history = node_history(workspace, &request, control)?;
        let last = history.events.iter().rfind(|event| event.event == NodeEventKind::Removed);
        removed = last.map(|event| event.cycle).or(removed);
        after = history.next;
        if after.is_none() {
            break;
        }
    }
    // A node that snapshots still have, but the working state has not, was removed since the last commit.
    let before = removed.map_or("@t0".to_owned(), |cycle| format!("@c{}", cycle - 1));
    before.parse().map_err(|_| missing(id, "any snapshot"))
}

fn document(node: NodeRef<'_>, label: &str) -> Result<NewNode, Error> {
    let text = match node.content() {
        Content::Text(text) => text.to_string(),
        Content::Json(value) => String::from_utf8_lossy(&value.to_canonical()).into_owned(),
        Content::Absent => {
            let message = format!("`{}` has no content in {label}", node.id());
            return Err(Error::usage(message).with_detail("place", node.id()));
        }
    };
    let mut document = NewNode { content: Content::from(text.as_str()), ..NewNode::default() };
    document.provenance = Some(format!("{} of {label}", node.id()));
    match node.kind() {
        Some("image") => {
            document.role = Some("user".to_owned());
            document.kind = Some("image".to_owned());
            let header = |name| Some(node.header(name)?.as_str()?.to_owned());
            document.mime = header("mime");
            document.encoding = header("encoding");
        }
        _ => {
            document.kind = Some("document".to_owned());
            document.mime = Some("text/plain".to_owned());
        }
    }
    Ok(document)
}
