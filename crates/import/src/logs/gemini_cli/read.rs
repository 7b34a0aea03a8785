//! Reads a record of a Gemini CLI session: `{"id":…,"timestamp":…,"type":"gemini","content":…}`.

use std::collections::HashSet;

use contextree_engine::{CallOutcome, CallResponse};
use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Shape, read_message, read_part, set};
use contextree_tree::{Content, NewNode};

use super::super::note;
use crate::time;

/// A record of a session.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) id: Box<str>,
    pub(super) time: Option<i64>,
    pub(super) body: Body,
}

/// What a record is.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// A message of the user.
    User(Incoming),
    /// An answer of the model.
    Answer(Box<Answer>),
    /// Text of the program, counted under this name.
    Other(Box<str>),
}

/// An answer of the model.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) message: Incoming,
    /// The results of its calls.
    pub(super) results: Option<Incoming>,
    pub(super) model: Option<Box<str>>,
    pub(super) outcome: CallOutcome,
}

/// Returns the calls that messages of the user answer.
pub(super) fn answered_in(records: &[Value]) -> HashSet<Box<str>> {
    let is_user = |record: &&Value| record.get("type").and_then(Value::as_str) == Some("user");
    let contents = records.iter().filter(is_user).filter_map(|it| it.get("content")?.as_array());
    let answered =
        contents.flatten().filter_map(|part| part.get("functionResponse")?.get("id")?.as_str());
    answered.map(Box::from).collect()
}

/// Reads a record. Leaves out the results of calls that other records answer.
pub(super) fn read(value: Value, answered: &HashSet<Box<str>>) -> Result<Record, Shape> {
    let mut fields = Fields::of(value)?;
    let kind = fields.need_text("type")?;
    let time = fields.0.get("timestamp").and_then(time::read);
    let id = fields.text("id").unwrap_or_default().into();
    let body = match &*kind {
        "user" => {
            let parts = take_parts(fields.take("content"))?;
            let mut message = content("user", parts)?;
            if let Some(first) = message.parts.first_mut() {
                set(first, names::ENTRY, Value::Object(fields.0));
            }
            Body::User(message)
        }
        "gemini" => Body::Answer(Box::new(read_answer(fields, answered)?)),
        _ => Body::Other(kind),
    };
    Ok(Record { id, time, body })
}

fn read_answer(mut fields: Fields, answered: &HashSet<Box<str>>) -> Result<Answer, Shape> {
    let model = fields.text("model").map(Box::from);
    let outcome = outcome_of(&fields);
    let thoughts = fields.take_list("thoughts").unwrap_or_default();
    let mut nodes: Vec<NewNode> = thoughts.into_iter().map(read_thought).collect();
    let parts = take_parts(fields.take("content"))?;
    let called: HashSet<&str> =
        parts.iter().filter_map(|part| part.get("functionCall")?.get("id")?.as_str()).collect();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for call in fields.take_list("toolCalls").unwrap_or_default() {
        let mut call = Fields::of(call)?;
        let id = call.take("id").unwrap_or_default();
        let name = call.take("name").unwrap_or_default();
        let result = call.take("result");
        if id.as_str().is_none_or(|id| !answered.contains(id)) {
            results.extend(read_result(result, &id, &name));
        }
        if id.as_str().is_some_and(|id| called.contains(id)) {
            continue;
        }
        let mut part = Object::from_iter([("id", id), ("name", name)]);
        part.insert("args", call.take("args").unwrap_or_default());
        let part = [("functionCall", Value::Object(part))];
        let mut node = read_part(Provider::Gemini, Value::Object(part.into_iter().collect()));
        note(&mut node, call.0);
        calls.push(node);
    }
    let says = |part: &&Value| part.get("text").is_none_or(|text| text.as_str() != Some(""));
    let is_empty = parts.iter().filter(says).count() == 0;
    if !is_empty || calls.is_empty() {
        nodes.extend(content("model", parts)?.into_nodes());
    }
    nodes.extend(calls);
    if let Some(first) = nodes.first_mut() {
        note(first, fields.0);
    }
    let results = match results.is_empty() {
        true => None,
        false => Some(content("user", results)?),
    };
    Ok(Answer { message: Incoming::new(Role::Assistant, nodes), results, model, outcome })
}

/// Returns what was billed. Thoughts are not part of the output in this format.
fn outcome_of(fields: &Fields) -> CallOutcome {
    let number = |name: &str| fields.0.get("tokens")?.get(name)?.as_u64();
    let thoughts = number("thoughts");
    CallOutcome {
        token_in: number("input"),
        token_out: number("output").map(|said| said.saturating_add(thoughts.unwrap_or(0))),
        response: CallResponse {
            cache_read: number("cached"),
            reasoning: thoughts,
            model: fields.text("model").map(str::to_owned),
            ..CallResponse::default()
        },
    }
}

/// Reads a summary of the model's reasoning. The program does not send it again, so it belongs to no
/// provider.
fn read_thought(thought: Value) -> NewNode {
    let text = |name: &str| thought.get(name).and_then(Value::as_str).unwrap_or_default();
    let said = match (text("subject"), text("description")) {
        ("", description) => description.to_owned(),
        (subject, description) => format!("**{subject}**\n{description}"),
    };
    let node = NewNode { content: Content::Text(said.into()), ..NewNode::default() };
    let mut node = node.kind("reasoning").attribute(names::PROVIDER, "gemini-cli");
    if let Value::Object(mut object) = thought {
        object.remove("subject");
        object.remove("description");
        note(&mut node, object);
    }
    node
}

/// Returns the parts of a content, which may also be a text or a single part.
fn take_parts(content: Option<Value>) -> Result<Vec<Value>, Shape> {
    let part = |value: Value| match value {
        text @ Value::String(_) => Value::Object(Object::from_iter([("text", text)])),
        part => part,
    };
    match content {
        Some(Value::Array(list)) => Ok(list.into_iter().map(part).collect()),
        Some(value @ (Value::String(_) | Value::Object(_))) => Ok(vec![part(value)]),
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(_) => Err(Shape::new("a string or a list").within("content")),
    }
}

/// Returns the parts of a result: as they were sent, or a text as the output of the tool.
fn read_result(result: Option<Value>, id: &Value, name: &Value) -> Vec<Value> {
    let parts = take_parts(result).unwrap_or_default();
    let is_whole = parts.iter().any(|part| part.get("functionResponse").is_some());
    if is_whole || parts.is_empty() {
        return parts;
    }
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    let output = Value::from(texts.collect::<Vec<_>>().join("\n"));
    let response = Object::from_iter([("output", output)]);
    let result = Object::from_iter([
        ("id", id.clone()),
        ("name", name.clone()),
        ("response", Value::Object(response)),
    ]);
    let result = Object::from_iter([("functionResponse", Value::Object(result))]);
    let others = parts.into_iter().filter(|part| part.get("text").is_none());
    std::iter::once(Value::Object(result)).chain(others).collect()
}

fn content(role: &str, parts: Vec<Value>) -> Result<Incoming, Shape> {
    let said = [("role", Value::from(role)), ("parts", Value::Array(parts))];
    read_message(Provider::Gemini, Value::Object(said.into_iter().collect()))
}
