//! Checks the kind `insert`: positions among the children of a core, written in the selector
//! language and as a cue. Both must give the same result (ER-076).

use contextree::{Context, Cycle, NewNode, Place, Region};
use contextree_app::wire;
use contextree_json::{Object, Value};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{empty, header, strings, texts};

pub(super) fn insert(case: &Case, edition: Edition) -> Result<Got, String> {
    let new = case.field("new").as_str().ok_or("`new` is not a string")?;
    let position = case.field("position").as_str().ok_or("`position` is not a string")?;
    // The node as the call writes it; without a call, a plain block.
    let written = match case.field("call").as_str() {
        Some(call) => call.split('"').nth(3).ok_or("the call names no node")?,
        None => "block",
    };
    let (mut context, core) = before(case, edition)?;
    let untouched = context.export_working();
    let added = context.add_at(position, written, "new".into());

    let (mut other, _) = before(case, edition)?;
    let cue = case.field("cue").as_str().unwrap_or_default().to_owned();
    let place = wire::Place::Cue { parent: core.clone(), cue };
    let place = place.resolve(&mut other, None).map_err(|error| error.to_string())?;
    let by_cue = other.add(place, NewNode::text("new"));
    match (added, by_cue) {
        (Err(error), Err(other)) if error.code() == other.code() => {
            if context.export_working() != untouched {
                return Err("the refused insertion changed the tree".to_owned());
            }
            Ok(Got::from_iter([("error", Value::from(error.code()))]))
        }
        (Ok(id), Ok(other_id)) => {
            let order = order(&context, &core, &id, new)?;
            if order != self::order(&other, &core, &other_id, new)? {
                return Err("the selector and the cue give different positions".to_owned());
            }
            let node = context.working().get(&id).ok_or("the node was not added")?;
            let mut got = Got::from_iter([("order", order)]);
            if let Some(wanted) = case.expected("node").as_object() {
                let headers = wanted.keys().map(|name| (name, header(node, name)));
                got.insert("node", Value::Object(headers.collect::<Object>()));
            }
            Ok(got)
        }
        (added, by_cue) => Err(format!("by selector {added:?}, by cue {by_cue:?}")),
    }
}

/// Returns the context of a case, and the core to which it writes.
fn before(case: &Case, edition: Edition) -> Result<(Context, String), String> {
    let mut context = empty(Cycle::FIRST, edition)?;
    for id in strings(case.field("before"))? {
        context
            .add(Place::head(), NewNode::text(&id).id(&id))
            .map_err(|error| error.to_string())?;
    }
    let core = context.working().region(Region::Head).children().find(|node| node.is_core());
    let core = core.ok_or("the head has no core")?.id().to_owned();
    if case.field("sealed_core").as_bool() == Some(true) {
        context.commit().map_err(|error| error.to_string())?;
    }
    Ok((context, core))
}

/// Returns the children of the core, with the case's name for the new one.
fn order(context: &Context, core: &str, id: &str, new: &str) -> Result<Value, String> {
    let parent = context.working().get(core).ok_or("the core was removed")?;
    Ok(texts(parent.children().map(|node| if node.id() == id { new } else { node.id() })))
}
