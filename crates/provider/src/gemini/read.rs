//! Reads Gemini requests and contents.

use contextree_json::{Object, Value};
use contextree_tree::{Content, NewNode};

use super::ME;
use super::spelling::{
    self, CONTENT, INNER_NULL, NULL, ROLE_NULL, Reader, SNAKE, content, get, note, note_list,
};
use super::tools::read_tool;
use crate::messages::note_positions;
use crate::parts::names::{self, form};
use crate::parts::{Role, role_of};
use crate::read::Request;
use crate::read::{Fields, Incoming, Shape, mark_provider, opaque, set};

/// The fields that determine what a part is. Text is last: next to another field, it is empty.
const DATA: [&str; 9] = [
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "text",
];

/// Reads a request.
pub(crate) fn read_request(mut fields: Fields) -> Result<Request, Shape> {
    let messages = match fields.take("contents") {
        Some(Value::Array(contents)) => contents,
        // The SDK accepts a single content in place of a list. The setting records that; no other
        // setting has this name.
        Some(content @ (Value::Object(_) | Value::String(_))) => {
            fields.0.insert("contents", Value::Bool(false));
            vec![content]
        }
        _ => return Err(Shape::new("a list").within("contents")),
    };
    // Fields from which nothing is read stay in the settings, so that they are rendered back.
    let mut tools = Vec::new();
    if matches!(fields.0.get("tools").and_then(Value::as_array), Some([_, ..])) {
        let list = fields.take_list("tools").unwrap_or_default();
        for (index, tool) in list.into_iter().enumerate() {
            read_tool(tool, index as u64, &mut tools);
        }
    }
    let mut system = Vec::new();
    for name in ["systemInstruction", "system_instruction"] {
        if system.is_empty() && fields.0.get(name).is_some_and(says_something) {
            system = read_system(fields.take(name).unwrap_or_default());
            if name == "system_instruction" {
                note_snake(&mut system[0], "systemInstruction");
            }
        }
    }
    Ok(Request { settings: fields.0, tools, system, messages })
}

/// Returns whether a system instruction has at least one part.
fn says_something(instruction: &Value) -> bool {
    match instruction {
        Value::String(text) => !text.is_empty(),
        Value::Object(object) => match object.get("parts") {
            Some(Value::Array(parts)) => !parts.is_empty(),
            Some(part) => part.as_object().is_some(),
            None => get(object, "text").is_some(),
        },
        _ => false,
    }
}

fn read_system(instruction: Value) -> Vec<NewNode> {
    let mut fields = match instruction {
        Value::Object(object) if object.contains_key("parts") => Fields(object),
        other => return vec![read_bare(other)],
    };
    let mut parts = match fields.take("parts") {
        Some(Value::Array(list)) => list.into_iter().map(read_part).collect(),
        part => {
            let mut node = read_part(part.unwrap_or_default());
            note(&mut node, CONTENT, Value::from(content::ONE));
            vec![node]
        }
    };
    if fields.0.get("role").is_some_and(Value::is_null) {
        fields.take("role");
        note(&mut parts[0], ROLE_NULL, Value::Bool(true));
    }
    fields.keep(&mut parts[0], names::MESSAGE_EXTRA, ME);
    parts
}

/// Reads a content, one entry of the conversation.
pub(crate) fn read_content(content: Value) -> Result<Incoming, Shape> {
    match content {
        Value::Object(object) if object.contains_key("candidates") => read_answer(object),
        Value::Object(object) if is_content(&object) => read_entry(Fields(object)),
        part @ (Value::Object(_) | Value::String(_)) => {
            let node = read_bare(part);
            let is_result = node.kind.as_deref() == Some("result");
            let role = if is_result { Role::Tool } else { Role::User };
            Ok(Incoming::new(role, vec![node]))
        }
        _ => Err(Shape::new("an object")),
    }
}

fn is_content(object: &Object) -> bool {
    let is_part = DATA.into_iter().any(|name| get(object, name).is_some());
    object.contains_key("parts") || object.contains_key("role") || !is_part
}

/// Reads a text or a part that was given in place of a content.
fn read_bare(part: Value) -> NewNode {
    let (mut node, form) = match part {
        Value::String(text) => {
            let node = NewNode { content: Content::Text(text), ..NewNode::default() };
            (node.kind("text"), content::TEXT)
        }
        part => (read_part(part), content::PART),
    };
    mark_provider(&mut node, ME);
    note(&mut node, CONTENT, Value::from(form));
    node
}

fn read_entry(mut fields: Fields) -> Result<Incoming, Shape> {
    let word = fields.take_text("role");
    let role_null = fields.0.get("role").is_some_and(Value::is_null);
    if role_null {
        fields.take("role");
    }
    let (mut parts, form): (Vec<NewNode>, Option<&str>) = match fields.take("parts") {
        Some(Value::Array(list)) if list.is_empty() => (Vec::new(), Some(content::EMPTY)),
        Some(Value::Array(list)) => (list.into_iter().map(read_part).collect(), None),
        Some(part @ Value::Object(_)) => (vec![read_part(part)], Some(content::ONE)),
        Some(Value::Null) => (Vec::new(), Some(content::NULL)),
        // An object with neither parts nor a role is not a content; other fields mean that it has
        // another format.
        None if word.is_some() && fields.0.is_empty() => (Vec::new(), Some(content::ABSENT)),
        _ => return Err(Shape::new("a list").within("parts")),
    };
    if parts.is_empty() {
        let mut node = NewNode { kind: Some("text".into()), ..NewNode::default() };
        mark_provider(&mut node, ME);
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
    if role_null {
        note(first, ROLE_NULL, Value::Bool(true));
    }
    if let Some(form) = form {
        note(first, CONTENT, Value::from(form));
    }
    fields.keep(first, names::MESSAGE_EXTRA, ME);
    if role == Role::Tool {
        for part in &mut parts {
            if part.kind.as_deref() != Some("result") {
                part.role = Some("user".to_owned());
            }
        }
    }
    note_positions(&mut parts);
    Ok(Incoming::new(role, parts))
}

/// Reads a complete model response: the content of its first candidate. Everything else is
/// metadata, which a request cannot contain.
fn read_answer(mut answer: Object) -> Result<Incoming, Shape> {
    let first = match answer.get_mut("candidates") {
        Some(Value::Array(candidates)) => candidates.first_mut(),
        _ => None,
    };
    let content = match first {
        Some(Value::Object(candidate)) => candidate.remove("content"),
        _ => None,
    };
    let mut read = match content {
        Some(Value::Object(mut content)) => {
            if !content.contains_key("role") {
                content.insert("role", Value::from("model"));
            }
            let shape = |shape: Shape| shape.within("candidates[0].content");
            read_entry(Fields(content)).map_err(shape)?
        }
        // The response was blocked.
        _ => {
            let empty = NewNode { kind: Some("text".into()), ..NewNode::default() };
            Incoming::new(Role::Assistant, vec![empty])
        }
    };
    set(&mut read.parts[0], names::ENTRY, Value::Object(answer));
    Ok(read)
}

/// Reads a part.
pub(crate) fn read_part(part: Value) -> NewNode {
    let Value::Object(object) = part else { return opaque("unknown", part, ME) };
    let data = DATA.into_iter().find(|name| get(&object, name).is_some()).unwrap_or("unknown");
    if !is_readable(&object, data) {
        return opaque(data, Value::Object(object), ME);
    }
    let mut outer = Reader::of(object);
    let mut node = if data == "text" {
        let content = Content::Text(outer.take_text(data).unwrap_or_default());
        let node = NewNode { content, ..NewNode::default() };
        if outer.fields.0.get("thought").and_then(Value::as_bool) == Some(true) {
            outer.take("thought");
            node.kind("reasoning")
        } else {
            node.kind("text")
        }
    } else {
        let mut inner = Reader::of(outer.take_object(data).unwrap_or_default());
        let mut node = match data {
            "inlineData" => read_blob(&mut inner, "data", "base64"),
            "fileData" => read_blob(&mut inner, "fileUri", "uri"),
            "functionCall" => read_call(&mut inner, "call", "args"),
            _ => read_call(&mut inner, "result", "response"),
        };
        outer.snake.extend(inner.snake);
        note_list(&mut node, INNER_NULL, inner.nulls);
        if !inner.fields.0.is_empty() {
            outer.fields.0.insert(data, Value::Object(inner.fields.0));
        }
        node
    };
    if let Some(signature) = outer.take("thoughtSignature") {
        set(&mut node, names::SIGNATURE, signature);
    }
    note_list(&mut node, SNAKE, outer.snake);
    note_list(&mut node, NULL, outer.nulls);
    outer.fields.keep(&mut node, names::EXTRA, ME);
    // Adjacent contents stay separate only if both were imported from Gemini, so every part records
    // its origin.
    mark_provider(&mut node, ME);
    node
}

/// Returns whether a part has an equivalent in the tree.
fn is_readable(object: &Object, data: &str) -> bool {
    let Some(value) = get(object, data) else { return false };
    let texts: &[&str] = match data {
        "text" => return value.as_str().is_some(),
        "inlineData" => &["mimeType", "data"],
        "fileData" => &["fileUri"],
        "functionCall" | "functionResponse" => &["name"],
        _ => return false,
    };
    let inner = value.as_object();
    let text =
        |name: &&str| inner.and_then(|it| get(it, name)).is_some_and(|it| it.as_str().is_some());
    texts.iter().all(text)
}

fn read_blob(inner: &mut Reader, field: &str, encoding: &str) -> NewNode {
    let content = Content::Text(inner.take_text(field).unwrap_or_default());
    let mime: Option<String> = inner.take_text("mimeType").map(Into::into);
    let kind = kind_of_mime(mime.as_deref().unwrap_or_default());
    let mut node = NewNode { content, mime, ..NewNode::default() }.kind(kind).encoding(encoding);
    if let Some(name) = inner.take_text("displayName") {
        set(&mut node, names::NAME, Value::String(name));
    }
    node
}

fn read_call(inner: &mut Reader, kind: &str, field: &str) -> NewNode {
    let content = inner.take(field).map_or(Content::Absent, Content::from);
    let mut node = NewNode { content, ..NewNode::default() }.kind(kind);
    match inner.take_text("id") {
        Some(id) => set(&mut node, names::CALL_ID, Value::String(id)),
        None => set(&mut node, names::FORM, form::ANONYMOUS),
    }
    set(&mut node, names::NAME, inner.take("name").unwrap_or_default());
    node
}

fn kind_of_mime(mime: &str) -> &'static str {
    match mime.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        _ => "document",
    }
}

/// Records that a name was written in `snake_case`.
fn note_snake(node: &mut NewNode, name: &str) {
    let mut list: Vec<Value> = spelling::snake_names(node).to_vec();
    list.push(Value::from(name));
    note(node, SNAKE, Value::Array(list));
}
