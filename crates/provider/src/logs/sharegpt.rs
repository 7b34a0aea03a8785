//! Conversations of ShareGPT: `{"conversations":[{"from":"human","value":…}],"system":…,"tools":…}`. Calls have no ids here; they are
//! made of the number of the message.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::{Value, parse};
use contextree_tree::Content;

use super::{Log, foreign};
use crate::import::{Fields, ImportErrorKind, Incoming, Session, Shape, digests, set};
use crate::parts::Role;
use crate::parts::names::{self, form};
use crate::tools::function;

/// Reads conversations.
pub(crate) struct ShareGpt;

impl Log for ShareGpt {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        if let Value::Array(entries) = value {
            return entries.into_iter().try_for_each(|entry| self.entry(entry, session, _skipped));
        }
        let mut fields = Fields::of(value)?;
        let Some(messages) = fields.take_list("conversations") else {
            let (_, message) = read(Value::Object(fields.0))?;
            return session.message(message);
        };
        let digests = digests(&messages);
        let known = session.known(&digests);
        let mut system = Vec::new();
        if let Some(text) = fields.take_text("system") {
            system.push(text_node(text));
        }
        let mut incoming = Vec::new();
        for (index, message) in messages.into_iter().enumerate() {
            let place = format!("conversations[{index}]");
            let (is_system, message) = read(message).map_err(|shape| shape.within(&place))?;
            if is_system && incoming.is_empty() {
                system.extend(message.into_nodes());
            } else {
                incoming.push((index, message));
            }
        }
        let mut nodes = read_tools(&mut fields);
        if !fields.0.is_empty() {
            let entry = NewNode::container(names::REQUEST_TYPE);
            nodes.push(entry.attribute(names::ENTRY, Value::Object(fields.0)));
        }
        nodes.extend(system);
        session.begin_request(digests)?;
        session.system(nodes)?;
        for (index, message) in incoming {
            if index >= known {
                session.message(message)?;
            }
        }
        Ok(())
    }
}

fn text_node(text: Box<str>) -> NewNode {
    NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text")
}

/// Tools are a text with a list in it, or the list.
fn read_tools(fields: &mut Fields) -> Vec<NewNode> {
    let list = match fields.0.get("tools") {
        Some(Value::String(text)) => match parse(text.as_bytes()) {
            Ok(Value::Array(list)) => list,
            _ => return Vec::new(),
        },
        Some(Value::Array(list)) => list.clone(),
        _ => return Vec::new(),
    };
    fields.take("tools");
    let read = |tool: Value| {
        let tool = tool.get("function").cloned().unwrap_or(tool);
        let Some(name) = tool.get("name").cloned() else { return foreign("sharegpt", tool) };
        let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
        set(&mut node, names::NAME, name.clone());
        let parameters = tool.get("parameters").cloned();
        node.content = function(name, tool.get("description").cloned(), parameters);
        node
    };
    list.into_iter().map(read).collect()
}

/// Reads a message; and whether it is the system's.
fn read(message: Value) -> Result<(bool, Incoming), Shape> {
    let mut fields = Fields::of(message)?;
    let from = fields.need_text("from")?;
    let value = fields.need_text("value")?;
    let (role, mut parts) = match &*from {
        "human" | "user" => (Role::User, vec![text_node(value)]),
        "gpt" | "assistant" | "chatgpt" | "model" => (Role::Assistant, vec![text_node(value)]),
        "system" => (Role::System, vec![text_node(value)]),
        "observation" | "tool" | "function_response" => {
            let mut node = text_node(value).kind("result");
            set(&mut node, names::FORM, form::ANONYMOUS);
            (Role::Tool, vec![node])
        }
        "function_call" => (Role::Assistant, read_calls(value)),
        _ => return Err(Shape::new("a known speaker").within("from")),
    };
    if !fields.0.is_empty() {
        set(&mut parts[0], names::ENTRY, Value::Object(fields.0));
    }
    Ok((role == Role::System, Incoming::new(role, parts)))
}

/// Reads calls out of a text: `{"name":…,"arguments":…}`, or a list of these. Any other text is a text.
fn read_calls(value: Box<str>) -> Vec<NewNode> {
    let calls = match parse(value.as_bytes()) {
        Ok(Value::Array(calls)) => calls,
        Ok(call @ Value::Object(_)) => vec![call],
        _ => return vec![text_node(value)],
    };
    if calls.is_empty() || calls.iter().any(|call| call.get("name").is_none()) {
        return vec![text_node(value)];
    }
    let read = |call: Value| {
        let arguments = call.get("arguments").or_else(|| call.get("parameters")).cloned();
        let content = arguments.map_or(Content::Absent, Content::from);
        let mut node = NewNode { content, ..NewNode::default() }.kind("call");
        set(&mut node, names::NAME, call.get("name").cloned().unwrap_or_default());
        set(&mut node, names::FORM, form::ANONYMOUS);
        node
    };
    calls.into_iter().map(read).collect()
}
