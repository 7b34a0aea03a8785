//! Checks kinds that import flat logs.

use contextree::{Context, NodeRef, Region};
use contextree_json::{Object, Value};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{empty, header, thread_value};

pub(super) fn flat_log(case: &Case, edition: Edition) -> Result<Got, String> {
    let context = import(case, edition)?;
    let mut got = Got::new();
    // Prose for the reader of the case, not a result.
    got.insert("compare", case.expected("compare").clone());
    if let Some(root) = case.expected("tree_before_commit").get("root") {
        let found = shape(context.working().root(), root);
        let mut document = Object::new();
        document.insert("root", found);
        got.insert("tree_before_commit", document.into());
    }
    Ok(got)
}

pub(super) fn flat_log_commit(case: &Case, edition: Edition) -> Result<Got, String> {
    let mut context = import(case, edition)?;
    context.commit().map_err(|error| error.to_string())?;
    let snapshot = context.head().ok_or("the commit left no snapshot")?;
    let turns: Vec<NodeRef<'_>> = snapshot.view().region(Region::Seq).children().collect();
    let head: Vec<Value> =
        snapshot.view().region(Region::Head).children().map(|node| node.id().into()).collect();
    let (thread, _) = thread_value(&snapshot.thread())?;
    let mut roles = Vec::new();
    let mut blocks = Vec::new();
    for block in thread.as_array().unwrap_or_default() {
        let mut block = block.as_object().ok_or("a block of the thread is not an object")?.clone();
        // Ids are illustrative.
        block.remove("id");
        roles.push(block.get("role").cloned().unwrap_or_default());
        blocks.push(Value::Object(block));
    }
    Ok(Got::from_iter([
        ("seq_shape", shapes(turns, case.expected("seq_shape").as_array().unwrap_or_default())),
        ("ah_children", head.into()),
        ("thread", blocks.into()),
        ("thread_roles", roles.into()),
    ]))
}

fn import(case: &Case, edition: Edition) -> Result<Context, String> {
    let log = case.field("input").get("flat_log").and_then(Value::as_array);
    let log = log.ok_or("`input.flat_log` is not a list")?;
    let mut context = empty(1, edition)?;
    context.import_flat_log(log).map_err(|error| error.to_string())?;
    Ok(context)
}

/// Returns a node with the keys and children that the expectation describes. Ids are illustrative
/// and always agree.
fn shape(node: NodeRef<'_>, wanted: &Value) -> Value {
    let Some(wanted) = wanted.as_object() else { return Value::Null };
    let found = wanted.iter().map(|(name, value)| {
        let found = match (name, value) {
            ("id", id) => id.clone(),
            ("children", children) => {
                let children = children.as_array().unwrap_or_default();
                // A document may omit empty regions.
                let left_out = |child: &NodeRef<'_>| {
                    child.as_region().is_some()
                        && child.child_count() == 0
                        && !children.iter().any(|wanted| {
                            wanted.get("nodeType").and_then(Value::as_str)
                                == Some(child.node_type())
                        })
                };
                let found = node.children().filter(|child| !left_out(child)).collect();
                shapes(found, children)
            }
            (name, _) => header(node, name),
        };
        (name, found)
    });
    Value::Object(found.collect::<Object>())
}

/// Pairs nodes with their expectations; nodes without one are shown by their type.
fn shapes(found: Vec<NodeRef<'_>>, wanted: &[Value]) -> Value {
    let shapes = found.into_iter().enumerate().map(|(index, node)| match wanted.get(index) {
        Some(wanted) => shape(node, wanted),
        None => Value::from(format!("{node:?}")),
    });
    shapes.collect::<Vec<_>>().into()
}
