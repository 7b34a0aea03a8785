//! Copies blocks that were added before, because the model sees them again in another place.

use contextree_engine::{Context, NewNode, SnapshotAddress};
use contextree_provider::parts::names;
use contextree_tree::{Cycle, NodeRef, TreeRef};

/// Returns copies of blocks that were added in a cycle, as they were before they were added.
pub(crate) fn copies_of(context: &Context, cycle: Cycle, ids: &[String]) -> Vec<NewNode> {
    let address = SnapshotAddress::from(cycle);
    let sealed = context.snapshot(address).ok().map(|snapshot| snapshot.view());
    let find = |tree: Option<TreeRef<'_>>, id: &str| tree?.resolve(id).map(copy);
    ids.iter()
        .filter_map(|id| find(sealed, id).or_else(|| find(Some(context.working()), id)))
        .collect()
}

fn copy(node: NodeRef<'_>) -> NewNode {
    let attribute = |name: &str| node.attribute(name).cloned();
    let body = node.body();
    let attributes = body.map(|body| body.attributes.iter());
    let mut new = NewNode {
        role: node.role().map(str::to_owned),
        kind: node.kind().map(str::to_owned),
        content: node.content().clone(),
        ..NewNode::default()
    };
    // Units, and where messages end, are decided anew.
    let own = attribute(names::TOOL_CALL_ID).or_else(|| attribute(names::CALL_ID));
    let is_own = matches!(node.kind(), Some("call" | "result"))
        || node.kind().is_some_and(|kind| kind.ends_with("tool_use") || kind.ends_with("_result"));
    let anew = [names::CALL_ID, names::TOOL_CALL_ID, names::MESSAGE, names::APART];
    for (name, value) in attributes.into_iter().flatten() {
        let text = || value.as_str().map(str::to_owned);
        match name {
            "mime" => new.mime = text(),
            "encoding" => new.encoding = text(),
            name if anew.contains(&name) => {}
            name => new.attributes.push((name.to_string(), value.clone())),
        }
    }
    if let Some(own) = own.filter(|_| is_own) {
        new.attributes.push((names::CALL_ID.to_owned(), own));
    }
    new
}
