//! Contents of Gemini, read.

use contextree_engine::NewNode;
use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::Provider;
use crate::import::{Fields, Incoming, Shape, mark_provider, opaque, set};
use crate::parts::names::{self, form};
use crate::parts::{Role, role_of};
use crate::requests::Request;
use crate::tools::{OWN, function};

const ME: Provider = Provider::Gemini;

/// The name under which fields of an inner object are kept.
pub(super) const INNER: &str = "inner";

/// Reads a request.
pub(crate) fn read_request(mut fields: Fields) -> Result<Request, Shape> {
    let messages = match fields.take("contents") {
        Some(Value::Array(contents)) => contents,
        Some(content @ Value::Object(_)) => vec![content],
        _ => return Err(Shape::new("a list").within("contents")),
    };
    let mut tools = Vec::new();
    for (index, tool) in fields.take_list("tools").unwrap_or_default().into_iter().enumerate() {
        read_tool(tool, index as u64, &mut tools);
    }
    let mut system = Vec::new();
    if let Some(instruction) = fields.take_object("systemInstruction") {
        let mut instruction = Fields(instruction);
        let parts = instruction.take_list("parts").unwrap_or_default();
        system.extend(parts.into_iter().map(read_part));
        if let Some(first) = system.first_mut() {
            instruction.keep(first, names::MESSAGE_EXTRA, ME);
        }
    }
    Ok(Request { settings: fields.0, tools, system, messages })
}

/// Reads an entry of the list of tools: any number of functions, or something of the provider's own.
fn read_tool(tool: Value, index: u64, tools: &mut Vec<NewNode>) {
    let only_functions = tool.as_object().is_some_and(|tool| {
        let functions = tool.get("functionDeclarations").and_then(Value::as_array);
        let named = |it: &Value| it.get("name").is_some_and(|name| name.as_str().is_some());
        tool.len() == 1 && functions.is_some_and(|it| !it.is_empty() && it.iter().all(named))
    });
    let mut entry = match tool {
        Value::Object(object) if only_functions => Fields(object),
        other => {
            let mut node = opaque("tool", other, ME);
            set(&mut node, names::FORM, OWN);
            tools.push(node);
            return;
        }
    };
    for declaration in entry.take_list("functionDeclarations").unwrap_or_default() {
        let Ok(mut fields) = Fields::of(declaration) else { continue };
        let name = fields.take("name").unwrap_or_default();
        let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
        set(&mut node, names::NAME, name.clone());
        set(&mut node, names::MESSAGE, index);
        let description = fields.take("description");
        let schema = match fields.take("parametersJsonSchema") {
            Some(schema) => Some(schema),
            None => {
                let schema = fields.take("parameters");
                if schema.is_some() {
                    set(&mut node, names::FORM, form::FIELD);
                    mark_provider(&mut node, ME);
                }
                schema
            }
        };
        node.content = function(name, description, schema);
        fields.keep(&mut node, names::EXTRA, ME);
        tools.push(node);
    }
}

/// Reads an entry of the conversation.
pub(crate) fn read_content(content: Value) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(content)?;
    let word = fields.take_text("role");
    let list = fields.take_list("parts");
    let list = list.ok_or_else(|| Shape::new("a list").within("parts"))?;
    let mut parts: Vec<NewNode> = list.into_iter().map(read_part).collect();
    if parts.is_empty() {
        let mut node = NewNode { kind: Some("text".into()), ..NewNode::default() };
        set(&mut node, names::FORM, form::LIST);
        parts.push(node);
    }
    let answers = parts.iter().any(|part| part.kind.as_deref() == Some("result"));
    let role = match role_of(word.as_deref().unwrap_or("user")) {
        Role::User if answers => Role::Tool,
        role => role,
    };
    let first = &mut parts[0];
    match word.as_deref() {
        Some("user" | "model") => {}
        None => set(first, names::ROLE, Value::Null),
        Some(other) => set(first, names::ROLE, other),
    }
    fields.keep(first, names::MESSAGE_EXTRA, ME);
    if role == Role::Tool {
        for part in &mut parts {
            if part.kind.as_deref() != Some("result") {
                part.role = Some("user".to_owned());
            }
        }
    }
    Ok(Incoming::new(role, parts))
}

/// Reads a part.
pub(crate) fn read_part(part: Value) -> NewNode {
    let Value::Object(object) = part else { return opaque("unknown", part, ME) };
    let mut fields = Fields(object);
    let mut extra = Object::new();
    let known = [
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
    ];
    let data = known.into_iter().find(|name| fields.0.contains_key(name));
    let mut node = match data.unwrap_or_default() {
        "text" if fields.text("text").is_some() => {
            let content = Content::Text(fields.take_text("text").unwrap_or_default());
            let node = NewNode { content, ..NewNode::default() };
            if fields.0.get("thought").and_then(Value::as_bool) == Some(true) {
                fields.take("thought");
                let mut node = node.kind("reasoning");
                mark_provider(&mut node, ME);
                node
            } else {
                node.kind("text")
            }
        }
        "inlineData" if has_texts(&fields, "inlineData", &["mimeType", "data"]) => {
            let mut inner = Fields(fields.take_object("inlineData").unwrap_or_default());
            let content = Content::Text(inner.take_text("data").unwrap_or_default());
            let mime: String = inner.take_text("mimeType").unwrap_or_default().into();
            let kind = kind_of_mime(&mime);
            let mut node =
                NewNode { content, ..NewNode::default() }.kind(kind).mime(mime).encoding("base64");
            name_of(&mut inner, &mut node);
            keep_inner(inner, &mut extra);
            node
        }
        "fileData" if has_texts(&fields, "fileData", &["fileUri"]) => {
            let mut inner = Fields(fields.take_object("fileData").unwrap_or_default());
            let content = Content::Text(inner.take_text("fileUri").unwrap_or_default());
            let mime: Option<String> = inner.take_text("mimeType").map(Into::into);
            let kind = kind_of_mime(mime.as_deref().unwrap_or_default());
            let mut node =
                NewNode { content, mime, ..NewNode::default() }.kind(kind).encoding("uri");
            name_of(&mut inner, &mut node);
            keep_inner(inner, &mut extra);
            node
        }
        "functionCall" if has_texts(&fields, "functionCall", &["name"]) => {
            let mut inner = Fields(fields.take_object("functionCall").unwrap_or_default());
            let content = inner.take("args").map_or(Content::Absent, Content::from);
            let mut node = NewNode { content, ..NewNode::default() }.kind("call");
            identify(&mut inner, &mut node);
            keep_inner(inner, &mut extra);
            node
        }
        "functionResponse" if has_texts(&fields, "functionResponse", &["name"]) => {
            let mut inner = Fields(fields.take_object("functionResponse").unwrap_or_default());
            let content = inner.take("response").map_or(Content::Absent, Content::from);
            let mut node = NewNode { content, ..NewNode::default() }.kind("result");
            identify(&mut inner, &mut node);
            keep_inner(inner, &mut extra);
            node
        }
        other => {
            let kind = if other.is_empty() { "unknown" } else { other };
            return opaque(kind, Value::Object(fields.0), ME);
        }
    };
    if let Some(signature) = fields.take("thoughtSignature") {
        set(&mut node, names::SIGNATURE, signature);
        mark_provider(&mut node, ME);
    }
    for (name, value) in fields.0 {
        extra.insert(name, value);
    }
    Fields(extra).keep(&mut node, names::EXTRA, ME);
    node
}

fn has_texts(fields: &Fields, object: &str, names: &[&str]) -> bool {
    let inner = fields.0.get(object);
    let text = |name: &&str| {
        inner.and_then(|inner| inner.get(name)).is_some_and(|value| value.as_str().is_some())
    };
    names.iter().all(text)
}

fn keep_inner(inner: Fields, extra: &mut Object) {
    if !inner.0.is_empty() {
        extra.insert(INNER, Value::Object(inner.0));
    }
}

fn name_of(inner: &mut Fields, node: &mut NewNode) {
    if let Some(name) = inner.take_text("displayName") {
        set(node, names::NAME, Value::String(name));
    }
}

fn identify(inner: &mut Fields, node: &mut NewNode) {
    match inner.take_text("id") {
        Some(id) => set(node, names::CALL_ID, Value::String(id)),
        None => set(node, names::FORM, form::ANONYMOUS),
    }
    set(node, names::NAME, inner.take("name").unwrap_or_default());
}

fn kind_of_mime(mime: &str) -> &'static str {
    match mime.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        _ => "document",
    }
}
