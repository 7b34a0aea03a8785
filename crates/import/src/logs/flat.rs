//! Reads flat logs: `{"role":…,"content":…}`, optionally with an id and a kind; other fields are
//! kept. The list may be alone, or under `flat_log` as the specification prints it, or `messages`.
//!
//! The blocks equal those of `Context::import_flat_log`, which is stricter about ids: here `null`
//! means no id, and a number is kept like any other field.

use contextree_engine::{Context, NewNode, Op, Place};
use contextree_json::Value;
use contextree_provider::read::{Fields, Incoming, Shape, role_of};
use contextree_tree::Content;

use super::Log;
use crate::error::ImportErrorKind;
use crate::session::Session;
use crate::time::time_of;

/// Reads flat logs.
#[derive(Clone, Debug)]
pub(crate) struct Flat;

impl Log for Flat {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        session.state.at(value.as_object().and_then(time_of));
        let messages = match value {
            Value::Array(messages) => messages,
            mut message => {
                let list = ["flat_log", "messages"]
                    .into_iter()
                    .find(|name| message.get(name).and_then(Value::as_array).is_some());
                match list {
                    Some(name) => {
                        let mut fields = Fields::of(std::mem::take(&mut message))?;
                        fields.take_list(name).unwrap_or_default()
                    }
                    None => vec![message],
                }
            }
        };
        let nodes: Vec<NewNode> = messages
            .into_iter()
            .enumerate()
            .map(|(index, message)| {
                read(message).map_err(|shape| shape.within(&format!("[{index}]")))
            })
            .collect::<Result<_, Shape>>()?;
        if nodes.len() > 1 || nodes.iter().any(may_be_refused) {
            try_all(&nodes, session.context)?;
        }
        for node in nodes {
            let role = role_of(node.role.as_deref().unwrap_or("user"));
            if node.role.as_deref() == Some("system") {
                session.add_system(node)?;
            } else {
                session.flat(Incoming::new(role, vec![node]))?;
            }
        }
        Ok(())
    }
}

/// Returns whether the engine could refuse a well-formed block.
fn may_be_refused(node: &NewNode) -> bool {
    node.id.is_some() || node.attributes.iter().any(|(name, _)| name.ends_with('_'))
}

/// Adds all blocks and rolls them back, to detect a refused block before anything is committed.
fn try_all(nodes: &[NewNode], context: &mut Context) -> Result<(), ImportErrorKind> {
    let place = |node: &NewNode| match node.role.as_deref() {
        Some("system") => Place::system(),
        _ => Place::head(),
    };
    let add = |node: &NewNode| Op::Add { place: place(node), node: node.clone() };
    // The empty id never exists, so this operation always fails and rolls back the rest.
    let last = Op::Remove { node: String::new() };
    match context.batch(nodes.iter().map(add).chain([last]).collect()) {
        Err(refused) if refused.index < nodes.len() => {
            Err(ImportErrorKind::Refused(Box::new(refused.error)))
        }
        _ => Ok(()),
    }
}

fn read(message: Value) -> Result<NewNode, Shape> {
    let mut fields = Fields::of(message)?;
    let mut node = NewNode { role: Some(fields.need_text("role")?.into()), ..NewNode::default() };
    for (name, value) in fields.0 {
        match (&*name, value) {
            ("content", value) => {
                if value.as_str().is_some() && node.kind.is_none() {
                    node.kind = Some("text".to_owned());
                }
                node.content = match value {
                    Value::Null => Content::Absent,
                    value => Content::from(value),
                };
            }
            ("id" | "kind", Value::Null) => {}
            ("id", Value::String(id)) => node.id = Some(id.into()),
            ("kind", Value::String(kind)) => node.kind = Some(kind.into()),
            ("kind", _) => return Err(Shape::new("a string").within(&name)),
            (_, value) if name.starts_with("data_") || name.starts_with("content_") => {
                node.attributes.push((name.into(), value));
            }
            (_, value) => node.attributes.push((format!("data_{name}"), value)),
        }
    }
    Ok(node)
}
