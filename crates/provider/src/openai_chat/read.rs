//! Reads Chat Completions requests and messages.

use contextree_json::{Object, Value};
use contextree_tree::{Content, NewNode};

use crate::Provider;
use crate::media::{audio_mime, extension, from_url};
use crate::parts::names::{self, form};
use crate::parts::{Role, role_of};
use crate::read::Request;
use crate::read::{Fields, Incoming, Shape, mark_provider, opaque, opaque_part, set};
use crate::render::wire::{fits_call_id, fits_name};
use crate::tools::{OWN, function};

const ME: Provider = Provider::OpenAiChat;

/// Reads a request.
pub(crate) fn read_request(mut fields: Fields) -> Result<Request, Shape> {
    let messages = fields.take_list("messages");
    let messages = messages.ok_or_else(|| Shape::new("a list").within("messages"))?;
    let tools = fields.take_filled("tools").unwrap_or_default();
    let tools = tools.into_iter().map(read_tool).collect();
    Ok(Request { settings: fields.0, tools, system: Vec::new(), messages })
}

/// Reads a tool definition.
fn read_tool(tool: Value) -> NewNode {
    let is_function = tool.get("type").and_then(Value::as_str) == Some("function")
        && tool
            .get("function")
            .and_then(|it| it.get("name"))
            .is_some_and(|it| it.as_str().is_some());
    let mut outer = match tool {
        Value::Object(object) if is_function => Fields(object),
        other => {
            let mut node = opaque("tool", other, ME);
            set(&mut node, names::FORM, OWN);
            return node;
        }
    };
    outer.take("type");
    let mut inner = Fields(outer.take_object("function").unwrap_or_default());
    let name = inner.take("name").unwrap_or_default();
    let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
    set(&mut node, names::NAME, name.clone());
    node.content = function(name, inner.take("description"), inner.take("parameters"));
    let mut extra = Fields::default();
    extra.put_back("function", inner);
    extra.put_back("outer", outer);
    extra.keep(&mut node, names::EXTRA, ME);
    // Mark it as this provider's even without further fields, so that rendering adds nothing to it.
    mark_provider(&mut node, ME);
    node
}

/// Reads a message.
pub(crate) fn read_message(message: Value) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(message)?;
    let word = fields.need_text("role")?;
    let role = role_of(&word);
    let mut parts = Vec::new();
    if role == Role::Tool && fields.text("tool_call_id").is_some() {
        parts.push(read_result(&mut fields));
    } else if &*word == "function" && fields.text("name").is_some() {
        parts.push(read_function_result(&mut fields));
    } else {
        read_content(&mut fields, role, &mut parts)?;
    }
    let first = parts.first_mut().expect("a message has at least one block");
    set_role(first, word, role, ME);
    fields.keep(first, names::MESSAGE_EXTRA, ME);
    Ok(Incoming::new(role, parts))
}

/// Records the name of a role if it is not the usual one. A name that only this provider may know
/// is marked as its own.
pub(crate) fn set_role(first: &mut NewNode, word: Box<str>, role: Role, provider: Provider) {
    let usual = match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    if *word != *usual {
        if &*word != "developer" {
            mark_provider(first, provider);
        }
        set(first, names::ROLE, Value::String(word));
    }
}

fn read_result(fields: &mut Fields) -> NewNode {
    let id = fields.take_text("tool_call_id").unwrap_or_default();
    let fits = fits_call_id(&id, ME);
    let mut node = read_output(fields);
    set(&mut node, names::CALL_ID, Value::String(id));
    if !fits {
        mark_provider(&mut node, ME);
    }
    node
}

/// Reads the result of a function call, which has the name of the function and no id.
fn read_function_result(fields: &mut Fields) -> NewNode {
    let name = fields.take("name").unwrap_or_default();
    let mut node = read_output(fields);
    set(&mut node, names::NAME, name);
    set(&mut node, names::FORM, form::FUNCTION);
    mark_provider(&mut node, ME);
    node
}

fn read_output(fields: &mut Fields) -> NewNode {
    let (content, shape) = match fields.take("content") {
        Some(Value::Null) => (Content::Absent, Some(form::NULL)),
        None => (Content::Absent, Some(form::ABSENT)),
        Some(list @ Value::Array(_)) => (Content::from(list), Some(form::LIST)),
        Some(other) => (Content::from(other), None),
    };
    let mut node = NewNode { content, ..NewNode::default() }.kind("result");
    if let Some(shape) = shape {
        set(&mut node, names::SHAPE, shape);
    }
    if shape == Some(form::LIST) {
        mark_provider(&mut node, ME);
    }
    node
}

/// Reads content and tool calls into blocks; there is at least one.
fn read_content(fields: &mut Fields, role: Role, parts: &mut Vec<NewNode>) -> Result<(), Shape> {
    let mut shape = None;
    let calls = match role {
        Role::Assistant => fields.take_filled("tool_calls").unwrap_or_default(),
        _ => Vec::new(),
    };
    let function_call = match role {
        Role::Assistant if calls.is_empty() => take_function_call(fields),
        _ => None,
    };
    let has_calls = !calls.is_empty() || function_call.is_some();
    match fields.0.get("content") {
        Some(Value::String(text)) if text.is_empty() && has_calls => {
            shape = Some(form::EMPTY);
            fields.take("content");
        }
        Some(Value::String(_)) => {
            let text = fields.take_text("content").unwrap_or_default();
            parts.push(NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text"));
        }
        Some(Value::Array(_)) => {
            let list = fields.take_list("content").unwrap_or_default();
            parts.extend(list.into_iter().map(read_part));
            shape = Some(form::LIST);
        }
        Some(Value::Null) => {
            fields.take("content");
            shape = Some(form::NULL);
        }
        // An unknown shape stays among the other fields.
        Some(_) => shape = Some(form::ABSENT),
        None => shape = Some(form::ABSENT),
    }
    let said = !parts.is_empty();
    if role == Role::Assistant
        && let Some(text) = fields.take_text("refusal")
    {
        let mut node = NewNode { content: Content::Text(text), ..NewNode::default() };
        set(&mut node, names::FORM, form::FIELD);
        parts.push(node.kind("refusal"));
    }
    for (index, call) in calls.into_iter().enumerate() {
        let read = read_call(call);
        parts.push(read.map_err(|it| it.within(&format!("tool_calls[{index}]")))?);
    }
    parts.extend(function_call);
    if shape == Some(form::LIST) && !said && !parts.is_empty() {
        shape = Some(form::EMPTY_LIST);
    }
    if parts.is_empty() {
        parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() });
    }
    let first = &mut parts[0];
    match shape {
        // `null` is the default next to tool calls or a refusal.
        Some(form::NULL) if first.kind.as_deref() != Some("text") => {}
        // A list of several parts, or of anything but text, is written as a list anyway.
        Some(form::LIST) if first.kind.as_deref() != Some("text") => {}
        Some(shape) => set(first, names::SHAPE, shape),
        None => {}
    }
    Ok(())
}

/// Takes the `function_call` of a message: a call without an id.
fn take_function_call(fields: &mut Fields) -> Option<NewNode> {
    fields.0.get("function_call")?.get("name")?.as_str()?;
    let mut inner = Fields(fields.take_object("function_call")?);
    let arguments = inner.take("arguments");
    let content = arguments.map_or(Content::Absent, Content::from);
    let mut node = NewNode { content, ..NewNode::default() }.kind("call");
    set(&mut node, names::NAME, inner.take("name").unwrap_or_default());
    set(&mut node, names::FORM, form::FUNCTION);
    mark_provider(&mut node, ME);
    inner.keep(&mut node, names::EXTRA, ME);
    Some(node)
}

fn read_call(call: Value) -> Result<NewNode, Shape> {
    let mut fields = Fields::of(call)?;
    let id = fields.need_text("id")?;
    let custom = fields.text("type") == Some("custom");
    let field = if custom { "custom" } else { "function" };
    let object = fields.take_object(field);
    let mut inner = Fields(object.ok_or_else(|| Shape::new("an object").within(field))?);
    let name = inner.need_text("name").map_err(|it| it.within(field))?;
    let arguments = inner.take(if custom { "input" } else { "arguments" });
    // Some logs have the arguments as an object instead of its JSON text.
    let content = arguments.map_or(Content::Absent, Content::from);
    let mut node = NewNode { content, ..NewNode::default() }.kind("call");
    fields.take("type");
    let whole = node.content != Content::Absent;
    if !fits_call_id(&id, ME) || !fits_name(&name, ME) || !whole {
        // Mark it as imported from here, so that it is rendered unchanged; other providers' calls
        // are adapted.
        mark_provider(&mut node, ME);
    }
    set(&mut node, names::CALL_ID, Value::String(id));
    set(&mut node, names::NAME, Value::String(name));
    if custom {
        set(&mut node, names::FORM, form::CUSTOM);
    }
    fields.put_back(field, inner);
    fields.keep(&mut node, names::EXTRA, ME);
    Ok(node)
}

/// Reads an element of a list of contents.
pub(crate) fn read_part(part: Value) -> NewNode {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut fields = match (kind, &part) {
        ("text", it) if it.get("text").is_some_and(|it| it.as_str().is_some()) => {
            let mut fields = take_fields(part);
            let text = fields.take_text("text").unwrap_or_default();
            let node = NewNode { content: Content::Text(text), ..NewNode::default() };
            return finish(node.kind("text"), fields);
        }
        ("refusal", it) if it.get("refusal").is_some_and(|it| it.as_str().is_some()) => {
            let mut fields = take_fields(part);
            let text = fields.take_text("refusal").unwrap_or_default();
            let node = NewNode { content: Content::Text(text), ..NewNode::default() };
            return finish(node.kind("refusal"), fields);
        }
        ("image_url", it)
            if it.get("image_url").and_then(|it| it.get("url")?.as_str()).is_some() =>
        {
            let mut fields = take_fields(part);
            let mut inner = Fields(fields.take_object("image_url").unwrap_or_default());
            let url = inner.take_text("url").unwrap_or_default();
            fields.put_back("image_url", inner);
            return finish(from_url("image", url), fields);
        }
        ("input_audio", it) if it.get("input_audio").is_some_and(is_audio) => {
            let mut fields = take_fields(part);
            let mut inner = Fields(fields.take_object("input_audio").unwrap_or_default());
            let data = inner.take_text("data").unwrap_or_default();
            let format = inner.take_text("format").unwrap_or_default();
            let node = NewNode { content: Content::Text(data), ..NewNode::default() };
            let node = node.kind("audio").mime(audio_mime(&format)).encoding("base64");
            return finish(node, fields);
        }
        ("file", it) if it.get("file").is_some_and(is_file) => take_fields(part),
        (kind, _) => {
            let kind = if kind.is_empty() { "unknown" } else { kind }.to_owned();
            return opaque_part(&kind, part, ME);
        }
    };
    let mut inner = Fields(fields.take_object("file").unwrap_or_default());
    let name = inner.take_text("filename");
    let mut node = match (inner.take_text("file_id"), inner.take_text("file_data")) {
        (Some(id), _) => NewNode { content: Content::Text(id), ..NewNode::default() }
            .kind("document")
            .encoding("file_id"),
        (None, data) => {
            let data = data.unwrap_or_default();
            let mut node = from_url("document", data);
            if node.encoding.as_deref() != Some("base64") {
                node.encoding = Some("base64".to_owned());
                set(&mut node, names::FORM, form::FIELD);
            }
            node
        }
    };
    if node.encoding.as_deref() == Some("file_id") {
        mark_provider(&mut node, ME);
    }
    if let Some(name) = name {
        set(&mut node, names::NAME, Value::String(name));
    }
    finish(node, fields)
}

fn is_audio(value: &Value) -> bool {
    let fields = value.as_object().map(Object::keys);
    let text = |name: &str| value.get(name).is_some_and(|it| it.as_str().is_some());
    // A format whose usual name differs must keep its own name.
    let format = value.get("format").and_then(Value::as_str).unwrap_or_default();
    let usual = extension(&audio_mime(format)) == format;
    text("data") && text("format") && usual && fields.is_some_and(|fields| fields.len() == 2)
}

fn is_file(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    let one = object.contains_key("file_id") != object.contains_key("file_data");
    let mut fields = object.iter();
    one && fields.all(|(name, value)| {
        matches!(name, "file_id" | "file_data" | "filename") && value.as_str().is_some()
    })
}

fn take_fields(value: Value) -> Fields {
    match value {
        Value::Object(object) => Fields(object),
        _ => Fields::default(),
    }
}

fn finish(mut node: NewNode, mut fields: Fields) -> NewNode {
    fields.take("type");
    fields.keep(&mut node, names::EXTRA, ME);
    node
}
