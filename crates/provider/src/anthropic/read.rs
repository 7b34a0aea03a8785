//! Reads Anthropic requests and messages.

use contextree_json::Value;
use contextree_tree::{Content, NewNode};

use super::ME;
use crate::messages::note_positions;
use crate::parts::names::{self, form};
use crate::parts::{Role, role_of};
use crate::read::Request;
use crate::read::{Fields, Incoming, Shape, mark_provider, opaque, set};
use crate::tools::{OWN, function};

/// Reads a request.
pub(crate) fn read_request(mut fields: Fields) -> Result<Request, Shape> {
    let messages = fields.take_list("messages");
    let messages = messages.ok_or_else(|| Shape::new("a list").within("messages"))?;
    // Empty lists stay in the settings, so that they are rendered back.
    let mut tools = Vec::new();
    if matches!(fields.0.get("tools").and_then(Value::as_array), Some([_, ..])) {
        let list = fields.take_list("tools").unwrap_or_default();
        tools.extend(list.into_iter().map(read_tool));
    }
    let mut system = Vec::new();
    match fields.0.get("system") {
        Some(Value::String(text)) if !text.is_empty() => {
            let text = fields.take_text("system").unwrap_or_default();
            system.push(text_node(text));
        }
        Some(Value::Array(list)) if !list.is_empty() => {
            let list = fields.take_list("system").unwrap_or_default();
            system.extend(list.into_iter().map(read_part));
            if let [only] = system.as_mut_slice() {
                set(only, names::FORM, form::LIST);
            }
        }
        _ => {}
    }
    Ok(Request { settings: fields.0, tools, system, messages })
}

/// Reads a tool definition. A tool with its own `type` is defined by the provider.
fn read_tool(tool: Value) -> NewNode {
    let kind = tool.get("type").and_then(Value::as_str);
    let is_function = matches!(kind, None | Some("custom"))
        && tool.get("name").is_some_and(|it| it.as_str().is_some());
    let mut fields = match tool {
        Value::Object(object) if is_function => Fields(object),
        other => {
            let mut node = opaque("tool", other, ME);
            set(&mut node, names::FORM, OWN);
            return node;
        }
    };
    let name = fields.take("name").unwrap_or_default();
    let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
    set(&mut node, names::NAME, name.clone());
    let description = fields.take("description");
    if description.as_ref().is_some_and(Value::is_null) {
        mark_provider(&mut node, ME);
    }
    node.content = function(name, description, fields.take("input_schema"));
    fields.keep(&mut node, names::EXTRA, ME);
    node
}

/// Reads a message.
pub(crate) fn read_message(message: Value) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(message)?;
    let mut read = read_spoken(&mut fields)?;
    let first = &mut read.parts[0];
    if fields.text("type") == Some("message") {
        // A complete model response: its id, usage and other metadata would be refused in a
        // request.
        set(first, names::ENTRY, Value::Object(fields.0));
    } else {
        fields.keep(first, names::MESSAGE_EXTRA, ME);
    }
    Ok(read)
}

/// Reads the role and content of an Anthropic message and leaves the other fields. The result has
/// at least one part.
///
/// # Errors
///
/// If the fields are not those of a message.
pub fn read_spoken(fields: &mut Fields) -> Result<Incoming, Shape> {
    let word = fields.need_text("role")?;
    let role = role_of(&word);
    let mut parts = Vec::new();
    match fields.take("content") {
        Some(Value::String(text)) => parts.push(text_node(text)),
        Some(Value::Array(list)) => {
            parts.extend(list.into_iter().map(read_part));
            if let [only] = parts.as_mut_slice()
                && only.kind.as_deref() == Some("text")
            {
                set(only, names::FORM, form::LIST);
            }
        }
        content @ (None | Some(Value::Null)) if role == Role::System => {
            parts.push(without_content(fields, content));
        }
        _ => return Err(Shape::new("a string or a list").within("content")),
    }
    if parts.is_empty() {
        let mut node = NewNode { kind: Some("text".into()), ..NewNode::default() };
        set(&mut node, names::FORM, form::LIST);
        parts.push(node);
    }
    if role == Role::User && &*word != "user" {
        let said = parts.iter_mut().filter(|part| part.kind.as_deref() != Some("result"));
        said.for_each(|part| part.role = Some(word.to_string()));
    }
    if role == Role::System {
        for part in &mut parts {
            set(part, names::ROLE, Value::String(word.clone()));
            mark_provider(part, ME);
        }
    }
    note_positions(&mut parts);
    Ok(Incoming::new(role, parts))
}

/// Reads a system message that has no content and only changes settings; those fields are its
/// content.
fn without_content(fields: &mut Fields, content: Option<Value>) -> NewNode {
    let mut said = std::mem::take(&mut fields.0);
    if let Some(content) = content {
        said.insert("content", content);
    }
    let mut node = opaque("system", Value::Object(said), ME);
    set(&mut node, names::FORM, form::ABSENT);
    node
}

fn text_node(text: Box<str>) -> NewNode {
    NewNode { content: Content::Text(text), kind: Some("text".into()), ..NewNode::default() }
}

/// Reads a block.
pub(crate) fn read_part(block: Value) -> NewNode {
    let Value::Object(object) = block else { return opaque("unknown", block, ME) };
    let mut fields = Fields(object);
    let has = |fields: &Fields, name: &str| fields.text(name).is_some();
    let kind: Box<str> = fields.text("type").unwrap_or("unknown").into();
    let mut node = match &*kind {
        "text" if has(&fields, "text") => text_node(fields.take_text("text").unwrap_or_default()),
        "thinking" if has(&fields, "thinking") => {
            let text = fields.take_text("thinking").unwrap_or_default();
            let mut node = NewNode { content: Content::Text(text), ..NewNode::default() };
            if let Some(signature) = fields.take("signature") {
                set(&mut node, names::SIGNATURE, signature);
            }
            mark_provider(&mut node, ME);
            node.kind("reasoning")
        }
        "redacted_thinking" if has(&fields, "data") => {
            let data = fields.take("data").unwrap_or_default();
            let mut node = NewNode::default().kind("reasoning").attribute(names::SIGNATURE, data);
            set(&mut node, names::FORM, form::REDACTED);
            mark_provider(&mut node, ME);
            node
        }
        "tool_use" if has(&fields, "id") && has(&fields, "name") => {
            let content = fields.take("input").map_or(Content::Absent, Content::from);
            let mut node = NewNode { content, ..NewNode::default() }.kind("call");
            set(&mut node, names::CALL_ID, fields.take("id").unwrap_or_default());
            set(&mut node, names::NAME, fields.take("name").unwrap_or_default());
            node
        }
        "tool_result" if has(&fields, "tool_use_id") => {
            let content = fields.take("content");
            let listed = content.as_ref().is_some_and(|it| it.as_array().is_some());
            let content = content.map_or(Content::Absent, Content::from);
            let mut node = NewNode { content, ..NewNode::default() }.kind("result");
            set(&mut node, names::CALL_ID, fields.take("tool_use_id").unwrap_or_default());
            if let Some(is_error) = fields.take("is_error") {
                set(&mut node, names::IS_ERROR, is_error);
            }
            if listed {
                mark_provider(&mut node, ME);
            }
            node
        }
        "image" | "document" => match read_source(&mut fields) {
            Some(node) => node.kind(&*kind),
            None => return opaque(&kind, Value::Object(fields.0), ME),
        },
        // A kind that has a meaning of its own in the tree, or a block without its required fields:
        // keep the block opaque, so that it is not mistaken for that kind.
        "call" | "tool_call" | "tool_use" | "function_call" | "result" | "tool_result" | "tool"
        | "reasoning" | "thinking" => return opaque("unknown", Value::Object(fields.0), ME),
        _ => return read_opaque(&kind, fields),
    };
    if &*kind == "document"
        && let Some(title) = fields.take_text("title")
    {
        set(&mut node, names::NAME, Value::String(title));
    }
    fields.take("type");
    fields.keep(&mut node, names::EXTRA, ME);
    node
}

/// Reads a block that only this provider understands. A server-side tool call and its result form a
/// unit.
fn read_opaque(kind: &str, fields: Fields) -> NewNode {
    let id = match kind {
        "server_tool_use" | "mcp_tool_use" => fields.text("id"),
        _ if kind.ends_with("_tool_result") => fields.text("tool_use_id"),
        _ => None,
    };
    let id = id.map(Value::from);
    let mut node = opaque(kind, Value::Object(fields.0), ME);
    if let Some(id) = id {
        set(&mut node, names::CALL_ID, id);
    }
    node
}

/// Reads the source of an image or a document; `None` if it has no equivalent in the tree.
fn read_source(fields: &mut Fields) -> Option<NewNode> {
    let source = fields.0.get("source")?.as_object()?;
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    let (field, encoding) = match text("type")? {
        "base64" => ("data", Some("base64")),
        "url" => ("url", Some("uri")),
        "file" => ("file_id", Some("file_id")),
        "text" => ("data", None),
        _ => return None,
    };
    text(field)?;
    let known = [field, "type", "media_type"];
    if source.keys().any(|name| !known.contains(&name)) {
        return None;
    }
    let mut source = Fields(fields.take_object("source")?);
    let content = Content::Text(source.take_text(field)?);
    let mime = source.take_text("media_type").map(Into::into);
    let mut node = NewNode { content, mime, ..NewNode::default() };
    node.encoding = encoding.map(str::to_owned);
    // Mark it as imported from here, so that it is rendered unchanged, whether or not the API
    // accepts it.
    mark_provider(&mut node, ME);
    Some(node)
}
