//! `show`: the tree, or a part of it.

use std::collections::BTreeSet;

use contextree::{Answer, Edition, NodeRef, SelectOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{self, Node};
use crate::workspace::{Address, Range, Reader, is_name};
use crate::{Advice, Control, Error, Workspace};

/// Returns a tree, or parts of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShowRequest {
    /// The address of a state, the id of a node of the working state, or a selector; the working state if it is absent.
    pub what: Option<String>,
}

/// A tree, or parts of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowResponse {
    /// The nodes with everything below them, in document order.
    pub nodes: Vec<Node>,
    /// Messages about what is suspicious in the selector.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Returns a tree, or parts of one.
///
/// # Errors
///
/// If what is named does not exist, or is a range.
pub fn show(
    workspace: &Workspace,
    request: &ShowRequest,
    control: &Control<'_>,
) -> Result<ShowResponse, Error> {
    let _span = workspace.span("show");
    control.check()?;
    let found = find(&mut workspace.read()?, request.what.as_deref(), control)?;
    control.check_results(found.nodes.len())?;
    Ok(found)
}

fn find(
    reader: &mut Reader,
    what: Option<&str>,
    control: &Control<'_>,
) -> Result<ShowResponse, Error> {
    let edition = reader.edition();
    let response = |nodes: Vec<NodeRef<'_>>, warnings| response(nodes, warnings, edition);
    let Some(what) = what else {
        return Ok(response(vec![reader.working()?.tree().root()], vec![]));
    };
    if let Ok(address) = what.parse::<Address>() {
        return Ok(response(vec![reader.state(address)?.tree().root()], vec![]));
    }
    if let Ok(Range { to: Some(_), .. }) = what.parse() {
        return Err(Error::usage(format!("`{what}` names two states, but a tree has one"))
            .with_advice(Advice::DiffStates(what.to_owned())));
    }
    if let Some(node) = reader.working()?.tree().resolve(what) {
        return Ok(response(vec![node], vec![]));
    }
    let limits = Some(control.query_limits(None));
    match reader.select(what, &SelectOptions { limits, ..SelectOptions::default() }) {
        Ok(Answer::Nodes(selection)) => {
            let warnings = selection.warnings.iter().map(ToString::to_string).collect();
            Ok(response(tops(&selection.nodes), warnings))
        }
        Ok(Answer::Range(_)) => Err(Error::usage(format!("`{what}` is a range and has no tree"))
            .with_advice(Advice::SelectRange(what.to_owned()))),
        // `block:9.9` is meant as an id.
        Err(_) if is_name(what) => Err(Error::new(
            "E_NODE_NOT_FOUND",
            format!("there is no node `{what}` in the working state"),
        )
        .with_detail("place", what)
        .with_advice(Advice::FindEverywhere(what.to_owned()))),
        Err(error) => Err(error),
    }
}

fn response(nodes: Vec<NodeRef<'_>>, warnings: Vec<String>, edition: Edition) -> ShowResponse {
    let all = nodes.into_iter().flat_map(|node| node.subtree());
    ShowResponse { nodes: wire::nodes(all.map(|(_, node)| node), edition), warnings }
}

/// Leaves out nodes that are below another one of the list.
fn tops<'t>(nodes: &[NodeRef<'t>]) -> Vec<NodeRef<'t>> {
    let ids: BTreeSet<&str> = nodes.iter().map(|node| node.id()).collect();
    let is_top = |node: &NodeRef<'_>| !node.ancestors().any(|above| ids.contains(above.id()));
    nodes.iter().copied().filter(is_top).collect()
}
