//! Converts the steps of sessions from JSON to operations of the engine.

use contextree::{Content, Edit, NewNode, Op, Place, Zone};
use contextree_json::{Object, Value};

use super::insert::cue;
use crate::document::strings;

/// Returns the operation of a step such as `{"op":"add","parent":"^ah","offset":1,"node":{…}}`.
pub(super) fn op(step: &Value) -> Result<Op, String> {
    let node = || text(step, "node");
    Ok(match text(step, "op")?.as_str() {
        "add" => {
            let (node, offset) = new_node(step.get("node").unwrap_or(&Value::Null))?;
            Op::Add { place: place(step, offset)?, node }
        }
        "edit" => Op::Edit { node: node()?, edit: edit(step)? },
        "remove" => Op::Remove { node: node()? },
        "move" => Op::Move { node: node()?, place: place(step, None)? },
        "set_priority" => Op::SetPriority {
            node: node()?,
            priority: step
                .get("priority")
                .and_then(Value::as_i64)
                .ok_or("`priority` is missing")?,
            policy: text(step, "policy")?,
        },
        "pin" => Op::Pin { node: node()? },
        "unpin" => Op::Unpin { node: node()? },
        other => return Err(format!("unknown step `{other}`")),
    })
}

fn text(value: &Value, name: &str) -> Result<String, String> {
    let text = value.get(name).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("`{name}` of a step is not a string"))
}

/// Reads `parent` with `offset`, `parent` with `cue`, or `turn` with `zone`.
fn place(step: &Value, offset: Option<i64>) -> Result<Place, String> {
    if step.get("turn").is_some() {
        let zone = match text(step, "zone")?.as_str() {
            "pre" => Zone::Pre,
            "core" => Zone::Core,
            "post" => Zone::Post,
            other => return Err(format!("unknown zone `{other}`")),
        };
        return Ok(Place::zone(text(step, "turn")?, zone));
    }
    let parent = text(step, "parent")?;
    match step.get("cue").and_then(Value::as_str) {
        Some(position) => Ok(Place::cue(parent, cue(position)?)),
        None => {
            let offset = step.get("offset").and_then(Value::as_i64).or(offset);
            Ok(Place::Into { parent, offset })
        }
    }
}

fn edit(step: &Value) -> Result<Edit, String> {
    let set = step.get("set").and_then(Value::as_object);
    let set = set.into_iter().flat_map(Object::iter);
    Ok(Edit {
        content: step.get("content").cloned().map(Content::from),
        set: set.map(|(name, value)| (name.to_owned(), value.clone())).collect(),
        unset: strings(step.get("unset").unwrap_or(&Value::Null))?,
    })
}

/// Returns a node as a case describes it, and its offset.
pub(super) fn new_node(value: &Value) -> Result<(NewNode, Option<i64>), String> {
    let fields = value.as_object().ok_or("a node is not an object")?;
    let (mut node, mut offset) = (NewNode::default(), None);
    for (name, value) in fields {
        let wrong = || format!("`{name}` of a node has the wrong type");
        let text = || value.as_str().map(str::to_owned).ok_or_else(wrong);
        match name {
            "id" => node.id = Some(text()?),
            "nodeType" => node.node_type = Some(text()?),
            "role" => node.role = Some(text()?),
            "kind" => node.kind = Some(text()?),
            "key" => node.key = Some(text()?),
            "provenance" => node.provenance = Some(text()?),
            "mime" => node.mime = Some(text()?),
            "encoding" => node.encoding = Some(text()?),
            "tags" => node.tags = strings(value)?,
            "content" => node.content = Content::from(value.clone()),
            "ttl" if value.is_null() => {}
            "ttl" => node.ttl = Some(value.as_i64().ok_or_else(wrong)?),
            "offset" => offset = Some(value.as_i64().ok_or_else(wrong)?),
            "priority" => node.priority = value.as_i64().ok_or_else(wrong)?,
            "removable" => node.removable = value.as_bool().ok_or_else(wrong)?,
            "pinned" => node.pinned = value.as_bool().ok_or_else(wrong)?,
            _ => node.attributes.push((name.to_owned(), value.clone())),
        }
    }
    Ok((node, offset))
}
