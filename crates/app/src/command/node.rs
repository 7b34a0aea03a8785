//! `node`: one node of any state, and what happened to it.

use contextree::diff::changed_fields;
use contextree::{Cycle, NodeRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diff::StateName;
use super::tokens::tokenizer;
use crate::wire::{Node, Report};
use crate::workspace::Address;
use crate::{Advice, Control, Error, Workspace};

/// How many snapshots are looked at if the request does not say.
const SNAPSHOTS: usize = 1_000;

/// How many snapshots are read together.
const TOGETHER: usize = 64;

/// Returns one node of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeRequest {
    /// The id of the node.
    pub id: String,
    /// The state; the working state if it is absent.
    #[serde(default)]
    pub at: Option<Address>,
    /// What counts the tokens; without it they are not counted.
    #[serde(default)]
    pub model: Option<String>,
}

/// One node of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeResponse {
    /// The state.
    pub state: StateName,
    /// The node.
    pub node: Node,
    /// The ids of its children, in canonical order.
    pub children: Vec<String>,
    /// The tokens of its content, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_by: Option<String>,
}

/// Returns one node of a state.
///
/// # Errors
///
/// If the state or the node does not exist, or the model is unknown.
pub fn node(
    workspace: &Workspace,
    request: &NodeRequest,
    control: &Control<'_>,
) -> Result<NodeResponse, Error> {
    let _span = workspace.span("node");
    control.check()?;
    let tokenizer = request.model.as_deref().map(tokenizer).transpose()?;
    let mut reader = workspace.read()?;
    let state = reader.state(request.at.unwrap_or(Address::Working))?;
    let Some(node) = state.tree().resolve(&request.id) else {
        return Err(missing(&request.id, &state.label));
    };
    let counter = tokenizer.map(|tokenizer| workspace.memo().counter(tokenizer));
    Ok(NodeResponse {
        node: Node::new(node, reader.edition()),
        children: node.children().map(|child| child.id().to_owned()).collect(),
        tokens: counter.map(|counter| counter.count_node(node)),
        counted_by: tokenizer.map(|tokenizer| tokenizer.to_string()),
        state: (&state).into(),
    })
}

pub(super) fn missing(id: &str, label: &str) -> Error {
    Error::new("E_NODE_NOT_FOUND", format!("there is no node `{id}` in {label}"))
        .with_detail("place", id)
        .with_advice(Advice::FindEverywhere(id.to_owned()))
}

/// Lists what happened to a node, snapshot by snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeHistoryRequest {
    /// The id of the node.
    pub id: String,
    /// Begins after this commit; with the first if it is absent.
    #[serde(default)]
    pub after: Option<u32>,
    /// Looks at no more than this many snapshots; 1,000 if it is absent.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What happened to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeHistoryResponse {
    /// The snapshots in which something was different from the one before, oldest first.
    pub events: Vec<NodeEvent>,
    /// The commit to go on after; absent if all snapshots were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// What a commit did to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeEvent {
    /// The number of the commit.
    pub cycle: u32,
    /// What happened.
    pub event: NodeEventKind,
    /// The fields that changed, the parent included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Why it was removed, if that is recorded: `expired`, `pruned`, `cleared`, `cascaded`, `dropped`, `removed`, `along`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeEventKind {
    /// It is in this snapshot, and not in the one before.
    Added,
    /// It changed.
    Changed,
    /// It is not in this snapshot any more.
    Removed,
}

/// Lists what happened to a node, snapshot by snapshot. A ttl that only counts down is not a change.
///
/// # Errors
///
/// If the context cannot be read, or no snapshot has the node.
pub fn node_history(
    workspace: &Workspace,
    request: &NodeHistoryRequest,
    control: &Control<'_>,
) -> Result<NodeHistoryResponse, Error> {
    let _span = workspace.span("node-history");
    let mut reader = workspace.read()?;
    let id = request.id.as_str();
    let first = match request.after {
        Some(cycle) => reader.position_after(Cycle(cycle))?,
        // A node that exists says which commit added it.
        None => match reader.working()?.tree().get(id).map(NodeRef::cycle) {
            Some(cycle) => reader.position_after(cycle.previous())?,
            None => 0,
        },
    };
    let count = reader.snapshot_count();
    let last = first.saturating_add(request.limit.unwrap_or(SNAPSHOTS)).min(count);
    let mut events = Vec::new();
    let mut cycle = request.after.unwrap_or(0);
    // The snapshot before the first is what it is compared with.
    let mut before: Option<contextree::Snapshot> = match first {
        0 => None,
        _ => reader.snapshots_at(first - 1, first, control)?.pop(),
    };
    let mut position = first;
    while position < last {
        control.check()?;
        let end = (position + TOGETHER).min(last);
        for snapshot in reader.snapshots_at(position, end, control)? {
            cycle = snapshot.cycle().get();
            let old = before.as_ref().and_then(|before| before.view().get(id));
            let event = event(cycle, old, snapshot.view().get(id));
            events.extend(event);
            before = Some(snapshot);
        }
        position = end;
    }
    for event in events.iter_mut().filter(|event| event.event == NodeEventKind::Removed) {
        let reports = reader.reports(Cycle(event.cycle - 1), Cycle(event.cycle))?;
        event.reason = reports.values().find_map(|report| reason(&Report::from(report), id));
    }
    if events.is_empty() && first == 0 && last == count {
        return Err(missing(id, "any snapshot"));
    }
    Ok(NodeHistoryResponse { events, next: (last < count).then_some(cycle) })
}

fn event(cycle: u32, before: Option<NodeRef<'_>>, after: Option<NodeRef<'_>>) -> Option<NodeEvent> {
    let (event, fields) = match (before, after) {
        (None, None) => return None,
        (None, Some(_)) => (NodeEventKind::Added, Vec::new()),
        (Some(_), None) => (NodeEventKind::Removed, Vec::new()),
        (Some(before), Some(after)) => {
            let fields = changed_fields(before, after);
            let mut fields: Vec<String> =
                fields.into_iter().filter(|field| field != "ttl").map(Into::into).collect();
            if before.parent_id() != after.parent_id() {
                fields.push("parent".to_owned());
            }
            if fields.is_empty() {
                return None;
            }
            (NodeEventKind::Changed, fields)
        }
    };
    Some(NodeEvent { cycle, event, fields, reason: None })
}

/// Returns why a commit removed a node.
fn reason(report: &Report, id: &str) -> Option<String> {
    let has = |ids: &[String]| ids.iter().any(|other| other == id);
    let word = if has(&report.expired) {
        "expired"
    } else if report.pruned.iter().any(|pruned| pruned.id == id) {
        "pruned"
    } else if report.cleared.iter().any(|cleared| cleared.id == id) {
        "cleared"
    } else if has(&report.cascaded) {
        "cascaded"
    } else if has(&report.dropped) {
        "dropped"
    } else if has(&report.along) || report.pruned.iter().any(|pruned| has(&pruned.along)) {
        "along"
    } else if report.operations.iter().any(|it| it.operation == "remove" && it.node == id) {
        "removed"
    } else {
        return None;
    };
    Some(word.to_owned())
}
