//! Reads ShareGPT conversations:
//! `{"conversations":[{"from":"human","value":…}],"system":…,"tools":…}`. Calls have no ids in this
//! format; they are made from message numbers. Some files have messages as in Chat Completions.

use contextree_json::{Value, parse};
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{Fields, Incoming, Role, Shape, function, set};
use contextree_tree::{Content, NewNode};

use super::{Log, chat, foreign};
use crate::error::ImportErrorKind;
use crate::fingerprint::fingerprint;
use crate::session::{CallInfo, Listed, Session};

/// Reads conversations.
#[derive(Clone, Debug)]
pub(crate) struct ShareGpt;

/// The kinds of entries.
enum Read {
    Message(Incoming),
    Conversation(Conversation),
    Empty,
}

/// A conversation that was read.
struct Conversation {
    system: Vec<NewNode>,
    messages: Vec<Listed>,
}

impl Log for ShareGpt {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let list = match value {
            Value::Array(list) => list,
            entry => vec![entry],
        };
        // Read everything before adding the first message.
        let read: Vec<Read> = list.into_iter().map(read_entry).collect::<Result<_, Shape>>()?;
        for entry in read {
            match entry {
                Read::Message(message) => session.message(message)?,
                Read::Conversation(Conversation { system, messages }) => {
                    session.system(system)?;
                    session.conversation(messages, |_| CallInfo::default())?;
                }
                Read::Empty => session.state.skip("empty"),
            }
        }
        Ok(())
    }
}

fn read_entry(value: Value) -> Result<Read, Shape> {
    let mut fields = Fields::of(value)?;
    let names = ["conversations", "conversation", "messages"];
    let Some((name, messages)) =
        names.into_iter().find_map(|name| Some((name, fields.take_list(name)?)))
    else {
        return Ok(Read::Message(read(Value::Object(fields.0))?));
    };
    if messages.is_empty() {
        return Ok(Read::Empty);
    }
    let mut system = Vec::new();
    if let Some(text) = fields.take_text("system") {
        system.push(text_node(text));
    }
    let mut incoming = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        let place = format!("{name}[{index}]");
        let own = fingerprint(&message);
        let message = read(message).map_err(|shape| shape.within(&place))?;
        if message.role == Role::System && incoming.is_empty() {
            system.extend(message.into_nodes());
        } else {
            incoming.push((own, message));
        }
    }
    let mut nodes = read_tools(&mut fields);
    if !fields.0.is_empty() {
        let entry = NewNode::container(names::REQUEST_TYPE);
        nodes.push(entry.attribute(names::ENTRY, Value::Object(fields.0)));
    }
    nodes.extend(system);
    Ok(Read::Conversation(Conversation { system: nodes, messages: incoming }))
}

fn text_node(text: Box<str>) -> NewNode {
    NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text")
}

/// Reads tools, which are a list, or text that contains one.
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

/// Reads a message: `from` and `value`, or `role` and `content`.
fn read(message: Value) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(message)?;
    let from = match fields.take_text("from") {
        Some(from) => from,
        None if fields.text("role").is_some() => return read_chat(fields),
        None => return Err(Shape::new("a string").within("from")),
    };
    let value = ["value", "content"].into_iter().find_map(|name| fields.take(name));
    let value = match value {
        Some(Value::String(text)) => Some(text),
        Some(Value::Null) => None,
        _ => return Err(Shape::new("a string").within("value")),
    };
    let mut message = speak(&from, value)?;
    if let Some(first) = message.parts.first_mut().filter(|_| !fields.0.is_empty()) {
        set(first, names::ENTRY, Value::Object(fields.0));
    }
    Ok(message)
}

fn speak(from: &str, value: Option<Box<str>>) -> Result<Incoming, Shape> {
    let nothing = || NewNode { kind: Some("text".into()), ..NewNode::default() };
    let text = |value: Option<Box<str>>| vec![value.map_or_else(nothing, text_node)];
    let (role, parts) = match from {
        "human" | "user" => (Role::User, text(value)),
        "gpt" | "assistant" | "chatgpt" | "model" | "bot" => (Role::Assistant, text(value)),
        "system" => (Role::System, text(value)),
        "observation" | "tool" | "tool_response" | "tool_result" | "function_response" => {
            let mut node = value.map_or_else(nothing, text_node).kind("result");
            set(&mut node, names::FORM, form::ANONYMOUS);
            (Role::Tool, vec![node])
        }
        "function_call" | "tool_call" | "tool_calls" => {
            (Role::Assistant, value.map_or_else(|| vec![nothing()], read_calls))
        }
        _ => return Err(Shape::new("a known speaker").within("from")),
    };
    Ok(Incoming::new(role, parts))
}

/// Reads a message as in Chat Completions. Fields that are unknown there are not part of it.
fn read_chat(mut fields: Fields) -> Result<Incoming, Shape> {
    let role: Box<str> = fields.text("role").unwrap_or_default().into();
    if matches!(&*role, "human" | "gpt" | "chatgpt" | "bot" | "observation")
        || role.ends_with("_call")
        || role.ends_with("_response")
    {
        fields.take("role");
        fields.0.insert("from", Value::String(role));
        return read(Value::Object(fields.0));
    }
    let says = |name: &str| match fields.0.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    };
    let said = ["content", "tool_calls", "function_call", "tool_call_id", "refusal"];
    if !said.into_iter().any(says) {
        return speak(&role, None);
    }
    chat::read(Value::Object(fields.0), "sharegpt")
}

/// Reads calls from a text: `{"name":…,"arguments":…}`, or a list of these. Any other text stays
/// text.
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
