//! Flat logs: `{"role":…,"content":…}`, with an id and a kind if there are any; what else there is, is kept.
//!
//! The blocks are those of `Context::import_flat_log`.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::Value;
use contextree_tree::Content;

use super::Log;
use crate::import::{Fields, ImportErrorKind, Incoming, Session, Shape};
use crate::parts::role_of;

/// Reads flat logs.
pub(crate) struct Flat;

impl Log for Flat {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let messages = match value {
            Value::Array(messages) => messages,
            mut message => match message.get("messages") {
                Some(Value::Array(_)) => {
                    let mut fields = Fields::of(std::mem::take(&mut message))?;
                    fields.take_list("messages").unwrap_or_default()
                }
                _ => vec![message],
            },
        };
        let nodes: Vec<NewNode> = messages
            .into_iter()
            .enumerate()
            .map(|(index, message)| {
                read(message).map_err(|shape| shape.within(&format!("[{index}]")))
            })
            .collect::<Result<_, Shape>>()?;
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

fn read(message: Value) -> Result<NewNode, Shape> {
    let mut fields = Fields::of(message)?;
    let mut node = NewNode { role: Some(fields.need_text("role")?.into()), ..NewNode::default() };
    for (name, value) in fields.0 {
        match (&*name, value) {
            ("content", value) => {
                if value.as_str().is_some() && node.kind.is_none() {
                    node.kind = Some("text".to_owned());
                }
                node.content = Content::from(value);
            }
            ("id", Value::String(id)) => node.id = Some(id.into()),
            ("kind", Value::String(kind)) => node.kind = Some(kind.into()),
            ("id" | "kind", _) => return Err(Shape::new("a text").within(&name)),
            (_, value) if name.starts_with("data_") || name.starts_with("content_") => {
                node.attributes.push((name.into(), value));
            }
            (_, value) => node.attributes.push((format!("data_{name}"), value)),
        }
    }
    Ok(node)
}
