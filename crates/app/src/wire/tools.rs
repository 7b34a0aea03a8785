//! The names of tools: a call has one, and its results are named after it.

use std::collections::BTreeMap;

use contextree::{Cycle, Edition, NodeRef, TreeRef};
use contextree_json::Value;

use super::Node;

/// Returns the wire forms of nodes, with the names of tools. Results find theirs by the id of their call, anywhere in the tree.
pub(crate) fn nodes<'t>(
    nodes: impl IntoIterator<Item = NodeRef<'t>>,
    edition: Edition,
) -> Vec<Node> {
    let mut names: Option<(Cycle, Names)> = None;
    let form = |node: NodeRef<'t>| {
        let mut form = Node::new(node, edition);
        if form.derived.tool.is_none() && form.kind() == Some("result") {
            let state = node.tree().next_cycle();
            if names.as_ref().is_none_or(|(known, _)| *known != state) {
                names = Some((state, Names::of(node.tree())));
            }
            form.derived.tool = names.as_ref().and_then(|(_, names)| names.find(node));
        }
        form
    };
    nodes.into_iter().map(form).collect()
}

/// Returns the name that a node of a call or a result has itself.
pub(super) fn own(node: NodeRef<'_>) -> Option<String> {
    let is_tool = matches!(node.kind(), Some("call" | "result"));
    node.attribute("data_name").and_then(Value::as_str).filter(|_| is_tool).map(str::to_owned)
}

/// Names by the ids of calls.
struct Names(BTreeMap<Vec<u8>, String>);

impl Names {
    fn of(tree: TreeRef<'_>) -> Self {
        let calls = tree.nodes().filter_map(|(_, node)| Some((id(node)?, own(node)?)));
        Names(calls.collect())
    }

    fn find(&self, node: NodeRef<'_>) -> Option<String> {
        self.0.get(&id(node)?).cloned()
    }
}

fn id(node: NodeRef<'_>) -> Option<Vec<u8>> {
    node.attribute("data_call_id").map(Value::to_canonical)
}
