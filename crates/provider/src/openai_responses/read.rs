//! Reads Responses requests and items. Consecutive items of the model form one message: reasoning,
//! text, tool calls.

use contextree_json::Value;
use contextree_tree::{Content, NewNode};

use crate::Provider;
use crate::media::from_url;
use crate::openai_chat::set_role;
use crate::parts::names::{self, form};
use crate::parts::{Role, role_of};
use crate::read::Request;
use crate::read::{Fields, Incoming, Shape, mark_provider, opaque, opaque_part, set};
use crate::render::wire::{fits_call_id, fits_name};
use crate::tools::{OWN, function};

const ME: Provider = Provider::OpenAiResponses;

/// Reads a request. An input that is a string is a user message; it may be missing if the provider
/// keeps the conversation.
pub(crate) fn read_request(mut fields: Fields) -> Result<Request, Shape> {
    let messages = match fields.take("input") {
        Some(Value::Array(items)) => items,
        Some(text @ Value::String(_)) => vec![text],
        None => Vec::new(),
        _ => return Err(Shape::new("a string or a list").within("input")),
    };
    let tools = fields.take_filled("tools").unwrap_or_default();
    let tools = tools.into_iter().map(read_tool).collect();
    let mut system = Vec::new();
    if let Some(text) = fields.take_text("instructions") {
        system.push(text_node(text));
    }
    Ok(Request { settings: fields.0, tools, system, messages })
}

fn read_tool(tool: Value) -> NewNode {
    let is_function = tool.get("type").and_then(Value::as_str) == Some("function")
        && tool.get("name").is_some_and(|it| it.as_str().is_some());
    let mut fields = match tool {
        Value::Object(object) if is_function => Fields(object),
        other => {
            let mut node = opaque("tool", other, ME);
            set(&mut node, names::FORM, OWN);
            return node;
        }
    };
    fields.take("type");
    let name = fields.take("name").unwrap_or_default();
    let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
    set(&mut node, names::NAME, name.clone());
    node.content = function(name, fields.take("description"), fields.take("parameters"));
    fields.keep(&mut node, names::EXTRA, ME);
    // Mark it as this provider's even without further fields, so that rendering adds nothing to it.
    mark_provider(&mut node, ME);
    node
}

fn text_node(text: Box<str>) -> NewNode {
    NewNode { content: Content::Text(text), kind: Some("text".into()), ..NewNode::default() }
}

/// Reads items. No message spans the position `known`.
pub(crate) fn read_items(items: Vec<Value>, known: usize) -> Result<Vec<(usize, Incoming)>, Shape> {
    let mut messages: Vec<(usize, Incoming)> = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let read = read_item(item).map_err(|shape| shape.within(&format!("[{index}]")))?;
        match messages.last_mut() {
            Some((_, last))
                if index != known
                    && last.role == Role::Assistant
                    && read.role == Role::Assistant =>
            {
                last.parts.extend(read.parts);
            }
            _ => messages.push((index, read)),
        }
    }
    Ok(messages)
}

/// Reads an item.
pub(crate) fn read_item(item: Value) -> Result<Incoming, Shape> {
    if let Value::String(text) = item {
        let mut node = text_node(text);
        set(&mut node, names::SHAPE, form::ITEM);
        return Ok(Incoming::new(Role::User, vec![node]));
    }
    let mut fields = Fields::of(item)?;
    let kind: Box<str> = fields.text("type").unwrap_or("message").into();
    let one = |role, node| Ok(Incoming::new(role, vec![node]));
    match &*kind {
        "message" if fields.text("role").is_some() => read_message(fields),
        "function_call" | "custom_tool_call" => {
            fields.take("type");
            let custom = &*kind == "custom_tool_call";
            let id = fields.need_text("call_id")?;
            let name = fields.need_text("name")?;
            let arguments = fields.take(if custom { "input" } else { "arguments" });
            let content = arguments.map_or(Content::Absent, Content::from);
            let mut node = NewNode { content, ..NewNode::default() }.kind("call");
            let whole = node.content != Content::Absent;
            if !fits_call_id(&id, ME) || !fits_name(&name, ME) || !whole {
                // Mark it as imported from here, so that it is rendered unchanged; other providers'
                // calls are adapted.
                mark_provider(&mut node, ME);
            }
            set(&mut node, names::CALL_ID, Value::String(id));
            set(&mut node, names::NAME, Value::String(name));
            if custom {
                set(&mut node, names::FORM, form::CUSTOM);
            }
            fields.keep(&mut node, names::EXTRA, ME);
            one(Role::Assistant, node)
        }
        // Without an id, only this provider knows what it answers.
        "function_call_output" | "custom_tool_call_output" if fields.text("call_id").is_some() => {
            fields.take("type");
            let id = fields.need_text("call_id")?;
            let output = fields.take("output");
            let content = output.map_or(Content::Absent, Content::from);
            let mut node = NewNode { content, ..NewNode::default() }.kind("result");
            set(&mut node, names::CALL_ID, Value::String(id));
            if &*kind == "custom_tool_call_output" {
                set(&mut node, names::FORM, form::CUSTOM);
            }
            fields.keep(&mut node, names::EXTRA, ME);
            // Mark it, so that it is rendered with its original type, whatever it answers.
            mark_provider(&mut node, ME);
            one(Role::Tool, node)
        }
        "reasoning" => {
            fields.take("type");
            let summary = fields.take("summary").map_or(Content::Absent, Content::from);
            let mut node = NewNode { content: summary, ..NewNode::default() }.kind("reasoning");
            if let Some(encrypted) = fields.take("encrypted_content") {
                set(&mut node, names::SIGNATURE, encrypted);
            }
            mark_provider(&mut node, ME);
            fields.keep(&mut node, names::EXTRA, ME);
            one(Role::Assistant, node)
        }
        kind => Ok(read_other(kind, fields)),
    }
}

/// Reads an item that only this provider understands.
fn read_other(kind: &str, fields: Fields) -> Incoming {
    let kind = match kind {
        // A reference may omit its type.
        "message" if fields.text("type").is_none() && fields.text("id").is_some() => {
            "item_reference"
        }
        kind => kind,
    };
    let role = match kind {
        // These change how the model works from here on; a compaction replaces everything before
        // it.
        "additional_tools" | "configuration_update" | "compaction" => Role::System,
        // Outputs and responses have the role of a tool, whatever they contain.
        kind if kind.ends_with("_output") || kind.ends_with("_response") => Role::Tool,
        _ => Role::Assistant,
    };
    // A request and its answer are kept or pruned together, whatever the field is called.
    let link = match kind {
        "mcp_approval_request" | "local_shell_call_output" => "id",
        "mcp_approval_response" => "approval_request_id",
        _ => "call_id",
    };
    let call = fields.text(link).map(str::to_owned);
    let mut node = opaque_part(kind, Value::Object(fields.0), ME);
    set(&mut node, names::SHAPE, form::ITEM);
    if let Some(call) = call {
        set(&mut node, names::CALL_ID, call);
    }
    if kind == "compaction" {
        // A compaction replaces what precedes it, so it is pruned last.
        node.priority = 1;
    }
    Incoming::new(role, vec![node])
}

fn read_message(mut fields: Fields) -> Result<Incoming, Shape> {
    let word = fields.need_text("role")?;
    let role = role_of(&word);
    let mut parts: Vec<NewNode> = Vec::new();
    match fields.take("content") {
        Some(Value::String(text)) => parts.push(text_node(text)),
        Some(Value::Array(list)) => {
            parts.extend(list.into_iter().map(|part| read_content(part, role)));
            match parts.as_mut_slice() {
                [] => parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() }),
                [_] => {}
                [_, further @ ..] if role == Role::Assistant => {
                    further.iter_mut().for_each(|part| set(part, names::SHAPE, form::JOINED));
                }
                _ => {}
            }
            let first = &mut parts[0];
            if first.kind.as_deref() == Some("text") {
                set(first, names::SHAPE, form::LIST);
            }
            if role == Role::Assistant {
                // An assistant message is written as a list only if it was imported as one.
                mark_provider(first, ME);
            }
        }
        _ => return Err(Shape::new("a string or a list").within("content")),
    }
    let first = &mut parts[0];
    set_role(first, word, role, ME);
    fields.keep(first, names::MESSAGE_EXTRA, ME);
    Ok(Incoming::new(role, parts))
}

/// Reads a content part of a message or of a result.
pub(crate) fn read_part(part: Value) -> NewNode {
    read_content(part, Role::User)
}

fn read_content(part: Value, role: Role) -> NewNode {
    let usual = if role == Role::Assistant { "output_text" } else { "input_text" };
    let Value::Object(object) = part else { return opaque_part("unknown", part, ME) };
    let mut fields = Fields(object);
    let kind: Box<str> = fields.text("type").unwrap_or("unknown").into();
    let mut node = match &*kind {
        "input_text" | "output_text" if fields.text("text").is_some() => {
            if &*kind == usual {
                fields.take("type");
            }
            let mut node = text_node(fields.take_text("text").unwrap_or_default());
            if role == Role::Assistant {
                // Mark it, so that it is rendered with or without annotations, as imported.
                mark_provider(&mut node, ME);
            }
            fields.keep(&mut node, names::EXTRA, ME);
            return node;
        }
        "refusal" if fields.text("refusal").is_some() => {
            let text = fields.take_text("refusal").unwrap_or_default();
            NewNode { content: Content::Text(text), ..NewNode::default() }.kind("refusal")
        }
        "input_image" if fields.text("image_url").is_some() => {
            from_url("image", fields.take_text("image_url").unwrap_or_default())
        }
        "input_image" if fields.text("file_id").is_some() => by_id("image", &mut fields),
        "input_file" if fields.text("file_id").is_some() => by_id("document", &mut fields),
        "input_file" if fields.text("file_url").is_some() => {
            let url = fields.take_text("file_url").unwrap_or_default();
            NewNode { content: Content::Text(url), ..NewNode::default() }
                .kind("document")
                .encoding("uri")
        }
        "input_file" if fields.text("file_data").is_some() => {
            let data = fields.take_text("file_data").unwrap_or_default();
            let mut node = from_url("document", data);
            if node.encoding.as_deref() != Some("base64") {
                node.encoding = Some("base64".to_owned());
                set(&mut node, names::FORM, form::FIELD);
            }
            node
        }
        _ => return opaque_part(&kind, Value::Object(fields.0), ME),
    };
    fields.take("type");
    if role == Role::Assistant || node.kind.as_deref() == Some("image") {
        // Mark it, so that it is rendered with or without `detail`, as imported.
        mark_provider(&mut node, ME);
    }
    if let Some(name) = fields.take_text("filename") {
        set(&mut node, names::NAME, Value::String(name));
    }
    fields.keep(&mut node, names::EXTRA, ME);
    node
}

fn by_id(kind: &str, fields: &mut Fields) -> NewNode {
    let id = fields.take_text("file_id").unwrap_or_default();
    let mut node = NewNode { content: Content::Text(id), ..NewNode::default() };
    mark_provider(&mut node, ME);
    node.kind(kind).encoding("file_id")
}
