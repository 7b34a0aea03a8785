//! Reads a model call: its input and output messages. Lists may be JSON, or text that contains
//! JSON.

use contextree_json::{Object, Value, parse};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Shape, function, role_of, set};
use contextree_tree::{Content, NewNode};

use crate::fingerprint::{Fingerprint, fingerprint};
use crate::logs::{foreign, note};
use crate::session::Listed;

/// A model call that was read.
pub(super) struct Call {
    /// The fingerprints of its messages.
    pub(super) fingerprints: Vec<Fingerprint>,
    pub(super) system: Vec<NewNode>,
    /// The messages that were sent.
    pub(super) messages: Vec<Listed>,
    /// The messages that were returned.
    pub(super) answers: Vec<Listed>,
    pub(super) model: Option<(Value, Provider)>,
    /// The other attributes.
    pub(super) rest: Object,
}

/// Reads a call from its attributes.
pub(super) fn read_call(mut fields: Fields) -> Result<Call, Shape> {
    let mut messages = take_list(&mut fields, "gen_ai.input.messages")?;
    let sent = messages.len();
    messages.extend(take_list(&mut fields, "gen_ai.output.messages")?);
    let messages: Vec<Value> = messages.into_iter().map(with_parts).collect();
    // An output message has more fields than the same message in the next call's input.
    let same: Vec<Value> = messages
        .iter()
        .map(|message| {
            let parts = message.get("parts").cloned().unwrap_or_default();
            Value::Array(vec![message.get("role").cloned().unwrap_or_default(), parts])
        })
        .collect();
    let fingerprints: Vec<Fingerprint> = same.iter().map(fingerprint).collect();
    let mut system = Vec::new();
    for tool in take_list(&mut fields, "gen_ai.tool.definitions")? {
        system.push(read_tool(tool));
    }
    for part in take_list(&mut fields, "gen_ai.system_instructions")? {
        system.push(read_part(part));
    }
    let (mut incoming, mut answers) = (Vec::new(), Vec::new());
    for (index, message) in messages.into_iter().enumerate() {
        let place = format!("messages[{index}]");
        let message = read_message(message).map_err(|shape| shape.within(&place))?;
        if message.role == Role::System && incoming.is_empty() {
            system.extend(message.into_nodes());
        } else if index < sent {
            incoming.push((fingerprints[index], message));
        } else {
            answers.push((fingerprints[index], message));
        }
    }
    let model = fields.0.get("gen_ai.request.model").filter(|it| it.as_str().is_some());
    let model = model.map(|model| (model.clone(), provider_of(&fields)));
    Ok(Call { fingerprints, system, messages: incoming, answers, model, rest: fields.0 })
}

/// Returns the provider of a request. An unknown provider is read like Chat Completions, the format
/// that most use.
fn provider_of(fields: &Fields) -> Provider {
    let name = fields.text("gen_ai.provider.name").or_else(|| fields.text("gen_ai.system"));
    match &*name.unwrap_or_default().to_lowercase() {
        "anthropic" => Provider::Anthropic,
        name if name.contains("gemini") || name.contains("vertex") || name.starts_with("gcp") => {
            Provider::Gemini
        }
        _ => Provider::OpenAiChat,
    }
}

/// Takes a list that may be encoded as text.
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

/// Returns the message of an event of the first conventions, and whether it is the model's answer.
pub(super) fn of_event(name: &str, body: Value) -> Option<(Value, bool)> {
    let mut fields = Fields::of(body).ok()?;
    let usual = match name {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" | "gen_ai.choice" => "assistant",
        "gen_ai.tool.message" => "tool",
        _ => return None,
    };
    let answers = name == "gen_ai.choice";
    if answers {
        let message = match fields.take("message") {
            Some(Value::String(text)) => parse(text.as_bytes()).unwrap_or(Value::String(text)),
            message => message.unwrap_or_default(),
        };
        match message {
            Value::Object(message) => fields.merge(Fields(message)),
            text @ Value::String(_) => drop(fields.0.insert("content", text)),
            _ => {}
        }
        fields.take("index");
    }
    for name in ["event.name", "gen_ai.system", "gen_ai.provider.name", "gen_ai.message.index"] {
        fields.take(name);
    }
    if fields.text("role").is_none_or(|role| role_of(role) != role_of(usual)) {
        fields.0.insert("role", Value::from(usual));
    }
    Some((with_parts(Value::Object(fields.0)), answers))
}

/// Converts a message to the form with `parts`; earlier conventions had `content` and `tool_calls`.
fn with_parts(message: Value) -> Value {
    let mut fields = match message {
        Value::Object(object) if !object.contains_key("parts") => Fields(object),
        message => return message,
    };
    let part = |kind: &str, rest: Vec<(&str, Value)>| {
        let kind = std::iter::once(("type", Value::from(kind)));
        Value::Object(kind.chain(rest).collect())
    };
    let content = fields.take("content");
    let is_tool = fields.text("role").is_some_and(|role| role_of(role) == Role::Tool);
    let mut parts = Vec::new();
    if is_tool {
        let id = fields.take("id").or_else(|| fields.take("tool_call_id"));
        let id = id.filter(|it| !it.is_null()).map(|id| ("id", id));
        let response = ("response", content.unwrap_or_default());
        parts.push(part("tool_call_response", id.into_iter().chain([response]).collect()));
    } else {
        let list = match content {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        for one in list {
            let text = one.get("text").or_else(|| one.get("content"));
            let text = text.filter(|it| it.as_str().is_some()).cloned();
            parts.push(match (one, text) {
                (text @ Value::String(_), _) | (_, Some(text)) => {
                    part("text", vec![("content", text)])
                }
                (other, None) => other,
            });
        }
    }
    for call in fields.take_list("tool_calls").unwrap_or_default() {
        let function = call.get("function").unwrap_or(&call);
        let names = ["id", "name", "arguments"];
        let take = |name: &'static str| {
            Some((name, call.get(name).or_else(|| function.get(name))?.clone()))
        };
        parts.push(part("tool_call", names.into_iter().filter_map(take).collect()));
    }
    fields.0.insert("parts", Value::Array(parts));
    Value::Object(fields.0)
}

fn read_tool(tool: Value) -> NewNode {
    let tool = tool.get("function").filter(|it| it.as_object().is_some()).cloned().unwrap_or(tool);
    let Some(name) = tool.get("name").cloned() else { return foreign("otel", tool) };
    let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
    set(&mut node, names::NAME, name.clone());
    let (description, parameters) = (tool.get("description"), tool.get("parameters"));
    node.content = function(name, description.cloned(), parameters.cloned());
    node
}

/// Reads a message.
pub(super) fn read_message(message: Value) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(with_parts(message))?;
    let role = role_of(&fields.need_text("role")?);
    let list = fields.take_list("parts");
    let list = list.ok_or_else(|| Shape::new("a list").within("parts"))?;
    let mut parts: Vec<NewNode> = list.into_iter().map(read_part).collect();
    if parts.is_empty() {
        parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() });
    }
    note(&mut parts[0], fields.0);
    Ok(Incoming::new(role, parts))
}

fn read_part(part: Value) -> NewNode {
    let mut fields = match part {
        Value::String(text) => return NewNode::text(text).kind("text"),
        Value::Object(object) => Fields(object),
        part => return foreign("otel", part),
    };
    let kind: Box<str> = fields.text("type").unwrap_or_default().into();
    let taken = |fields: &mut Fields, name: &str| {
        let value = fields.take(name).filter(|value| !value.is_null());
        NewNode { content: value.map_or(Content::Absent, Content::from), ..NewNode::default() }
    };
    let mut node = match &*kind {
        "text" => taken(&mut fields, "content").kind("text"),
        "reasoning" | "thinking" => taken(&mut fields, "content").kind("reasoning"),
        "tool_call" => {
            let mut node = taken(&mut fields, "arguments").kind("call");
            take_id(&mut fields, &mut node);
            set(&mut node, names::NAME, fields.take("name").unwrap_or_default());
            node
        }
        "tool_call_response" => {
            let field = if fields.0.contains_key("response") { "response" } else { "result" };
            let mut node = taken(&mut fields, field).kind("result");
            take_id(&mut fields, &mut node);
            if let Some(name) = fields.take_text("name") {
                set(&mut node, names::NAME, Value::String(name));
            }
            node
        }
        "blob" | "uri" | "file" => match read_media(&kind, &mut fields) {
            Some(node) => node,
            None => return foreign("otel", Value::Object(fields.0)),
        },
        _ => return foreign("otel", Value::Object(fields.0)),
    };
    fields.take("type");
    note(&mut node, fields.0);
    node
}

fn take_id(fields: &mut Fields, node: &mut NewNode) {
    if let Some(id) = fields.take_text("id") {
        set(node, names::CALL_ID, Value::String(id));
    }
}

fn read_media(kind: &str, fields: &mut Fields) -> Option<NewNode> {
    let (places, encoding): (&[&str], _) = match kind {
        "blob" => (&["content", "data"], "base64"),
        "uri" => (&["uri"], "uri"),
        _ => (&["file_id"], "file_id"),
    };
    let content = Content::Text(places.iter().find_map(|name| fields.take_text(name))?);
    let mime = fields.take_text("mime_type");
    let modality = fields.take_text("modality");
    let modality = modality.as_deref().or_else(|| mime.as_deref()?.split('/').next());
    let kind = modality.filter(|it| matches!(*it, "image" | "audio")).unwrap_or("document");
    let mut node = NewNode { content, ..NewNode::default() }.kind(kind).encoding(encoding);
    node.mime = mime.map(Into::into);
    Some(node)
}
