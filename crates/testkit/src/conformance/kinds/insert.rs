//! The kind `insert`: positions among the children of a core.

use contextree::{Cue, NewNode, Place, Region};
use contextree_json::{Object, Value};

use super::Got;
use super::step::new_node;
use crate::conformance::case::{Case, Edition};
use crate::conformance::document::{empty, header, ids, strings};

pub(super) fn insert(case: &Case, edition: Edition) -> Result<Got, String> {
    let mut context = empty(1, edition)?;
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
    // What is created is given in `expect`; the text of the call is parsed by the selector language.
    let (mut node, _) = match case.expected("node") {
        Value::Null => (NewNode::text("new"), None),
        node => new_node(node)?,
    };
    let id = case.field("new").as_str().ok_or("`new` is not a text")?;
    node.id = Some(id.to_owned());
    let cue = cue(case.field("cue").as_str().unwrap_or_default())?;
    let before = context.export_working();
    match context.add(Place::cue(&core, cue), node) {
        Err(_) if context.export_working() != before => {
            Err("the refused insertion changed the tree".to_owned())
        }
        Err(error) => Ok(Got::from_iter([("error", Value::from(error.code()))])),
        Ok(_) => {
            let tree = context.working();
            let parent = tree.get(&core).ok_or("the core is gone")?;
            let node = tree.get(id).ok_or("the node was not added")?;
            let mut got = Got::from_iter([("order", ids(parent.children()))]);
            if let Some(wanted) = case.expected("node").as_object() {
                let headers = wanted.keys().map(|name| (name, header(node, name)));
                got.insert("node", Value::Object(headers.collect::<Object>()));
            }
            Ok(got)
        }
    }
}

/// `start`, `end`, `+2` (after the second child), `-2` (before it).
pub(super) fn cue(text: &str) -> Result<Cue, String> {
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| format!("no cue: `{text}`"));
    match text {
        "start" => Ok(Cue::Start),
        "end" => Ok(Cue::End),
        _ => match text.split_at_checked(1) {
            Some(("+", digits)) => Ok(Cue::After(number(digits)?)),
            Some(("-", digits)) => Ok(Cue::Before(number(digits)?)),
            _ => Err(format!("no cue: `{text}`")),
        },
    }
}
