//! Spans and events of OpenTelemetry's conventions for generative models: every call of a model has the whole conversation so far.
//!
//! Understood are exports of OTLP (`resourceSpans`), single spans or events with `attributes`, and single messages. The
//! messages may be JSON, or a text with JSON in it.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::{Object, Value, parse};
use contextree_tree::Content;

use super::{Log, foreign};
use crate::import::{Fields, ImportErrorKind, Incoming, Session, Shape, digests, set};
use crate::parts::{Role, names, role_of};
use crate::tools::function;

/// Reads spans and events.
pub(crate) struct OTel;

impl Log for OTel {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        match value {
            Value::Array(entries) => {
                entries.into_iter().try_for_each(|entry| self.entry(entry, session, skipped))
            }
            Value::Object(object) if object.contains_key("resourceSpans") => {
                for span in spans(&Value::Object(object)) {
                    self.entry(span, session, skipped)?;
                }
                Ok(())
            }
            Value::Object(object) if object.contains_key("role") => {
                let message = read_message(Value::Object(object))?;
                session.message(message)
            }
            Value::Object(object) => {
                let attributes = attributes(object);
                let is_call = attributes
                    .keys()
                    .any(|name| matches!(name, "gen_ai.input.messages" | "gen_ai.output.messages"));
                if is_call {
                    call(Fields(attributes), session)
                } else {
                    *skipped.entry("other_span".to_owned()).or_default() += 1;
                    Ok(())
                }
            }
            _ => Err(Shape::new("an object").into()),
        }
    }
}

/// Returns the spans of an export, and the events in them.
fn spans(export: &Value) -> Vec<Value> {
    let list = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_array).unwrap_or_default().to_vec()
    };
    let mut found = Vec::new();
    for resource in list(export, "resourceSpans") {
        for scope in list(&resource, "scopeSpans") {
            for span in list(&scope, "spans") {
                let events = list(&span, "events");
                found.push(span);
                found.extend(events);
            }
        }
    }
    found
}

/// Returns the attributes of a span, whichever way they are written.
fn attributes(mut span: Object) -> Object {
    match span.remove("attributes") {
        Some(Value::Object(attributes)) => attributes,
        Some(Value::Array(list)) => list
            .into_iter()
            .filter_map(|entry| {
                let name = entry.get("key")?.as_str()?.to_owned();
                Some((name, plain(entry.get("value")?)))
            })
            .collect(),
        _ => span,
    }
}

/// Returns the value of an OTLP attribute.
fn plain(value: &Value) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    for (kind, inner) in object {
        match (kind, inner) {
            ("arrayValue", inner) => {
                let values = inner.get("values").and_then(Value::as_array).unwrap_or_default();
                return Value::Array(values.iter().map(plain).collect());
            }
            ("kvlistValue", inner) => {
                let values = inner.get("values").and_then(Value::as_array).unwrap_or_default();
                let pair = |it: &Value| {
                    Some((it.get("key")?.as_str()?.to_owned(), plain(it.get("value")?)))
                };
                return Value::Object(values.iter().filter_map(pair).collect());
            }
            (kind, inner) if kind.ends_with("Value") => return inner.clone(),
            _ => {}
        }
    }
    value.clone()
}

/// Takes a list that may be a text.
fn take_list(fields: &mut Fields, name: &str) -> Result<Vec<Value>, Shape> {
    match fields.take(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list),
        Some(Value::String(text)) => match parse(text.as_bytes()) {
            Ok(Value::Array(list)) => Ok(list),
            _ => Err(Shape::new("a list").within(name)),
        },
        Some(_) => Err(Shape::new("a list").within(name)),
    }
}

/// One call of a model: what it was given, and what it answered.
fn call(mut fields: Fields, session: &mut Session) -> Result<(), ImportErrorKind> {
    let mut messages = take_list(&mut fields, "gen_ai.input.messages")?;
    messages.extend(take_list(&mut fields, "gen_ai.output.messages")?);
    // An answer has more fields than the same message in the next call.
    let same: Vec<Value> = messages
        .iter()
        .map(|message| {
            let parts = message.get("parts").cloned().unwrap_or_default();
            Value::Array(vec![message.get("role").cloned().unwrap_or_default(), parts])
        })
        .collect();
    let digests = digests(&same);
    let known = session.known(&digests);
    let mut system = Vec::new();
    for tool in take_list(&mut fields, "gen_ai.tool.definitions")? {
        system.push(read_tool(tool));
    }
    for part in take_list(&mut fields, "gen_ai.system_instructions")? {
        system.push(read_part(part));
    }
    let mut incoming = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        let place = format!("messages[{index}]");
        let message = read_message(message).map_err(|shape| shape.within(&place))?;
        if message.role == Role::System && incoming.is_empty() {
            system.extend(message.into_nodes());
        } else {
            incoming.push((index, message));
        }
    }
    session.begin_request(digests)?;
    session.system(system)?;
    let mut entry = Some(fields.0).filter(|entry| !entry.is_empty());
    for (index, mut message) in incoming {
        if index < known {
            continue;
        }
        if let (Some(entry), Some(first)) = (entry.take(), message.parts.first_mut()) {
            first.attributes_mut().retain(|(name, _)| name != names::ENTRY);
            set(first, names::ENTRY, Value::Object(entry));
        }
        session.message(message)?;
    }
    Ok(())
}

fn read_tool(tool: Value) -> NewNode {
    let Some(name) = tool.get("name").cloned() else { return foreign("otel", tool) };
    let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
    set(&mut node, names::NAME, name.clone());
    let (description, parameters) = (tool.get("description"), tool.get("parameters"));
    node.content = function(name, description.cloned(), parameters.cloned());
    node
}

fn read_message(message: Value) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(message)?;
    let role = role_of(&fields.need_text("role")?);
    let list = fields.take_list("parts");
    let list = list.ok_or_else(|| Shape::new("a list").within("parts"))?;
    let mut parts: Vec<NewNode> = list.into_iter().map(read_part).collect();
    if parts.is_empty() {
        parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() });
    }
    if !fields.0.is_empty() {
        set(&mut parts[0], names::ENTRY, Value::Object(fields.0));
    }
    Ok(Incoming::new(role, parts))
}

fn read_part(part: Value) -> NewNode {
    let Value::Object(object) = part else { return foreign("otel", part) };
    let mut fields = Fields(object);
    let kind: Box<str> = fields.text("type").unwrap_or_default().into();
    let text =
        |fields: &mut Fields, name: &str| fields.take(name).map_or(Content::Absent, Content::from);
    let mut node = match &*kind {
        "text" => {
            NewNode { content: text(&mut fields, "content"), ..NewNode::default() }.kind("text")
        }
        "reasoning" | "thinking" => {
            NewNode { content: text(&mut fields, "content"), ..NewNode::default() }
                .kind("reasoning")
        }
        "tool_call" => {
            let content = text(&mut fields, "arguments");
            let mut node = NewNode { content, ..NewNode::default() }.kind("call");
            if let Some(id) = fields.take_text("id") {
                set(&mut node, names::CALL_ID, Value::String(id));
            }
            set(&mut node, names::NAME, fields.take("name").unwrap_or_default());
            node
        }
        "tool_call_response" => {
            let field = if fields.0.contains_key("response") { "response" } else { "result" };
            let content = text(&mut fields, field);
            let mut node = NewNode { content, ..NewNode::default() }.kind("result");
            if let Some(id) = fields.take_text("id") {
                set(&mut node, names::CALL_ID, Value::String(id));
            }
            node
        }
        "blob" | "uri" | "file" => {
            let (fields_of, encoding): (&[&str], _) = match &*kind {
                "blob" => (&["content", "data"], "base64"),
                "uri" => (&["uri"], "uri"),
                _ => (&["file_id"], "file_id"),
            };
            let content = fields_of.iter().find_map(|name| fields.take_text(name));
            let modality = fields.take_text("modality").unwrap_or_default();
            let kind = match &*modality {
                "image" => "image",
                "audio" => "audio",
                _ => "document",
            };
            let content = Content::Text(content.unwrap_or_default());
            let mut node = NewNode { content, ..NewNode::default() }.kind(kind).encoding(encoding);
            node.mime = fields.take_text("mime_type").map(Into::into);
            node
        }
        _ => return foreign("otel", Value::Object(fields.0)),
    };
    fields.take("type");
    if !fields.0.is_empty() {
        set(&mut node, names::ENTRY, Value::Object(fields.0));
    }
    node
}
