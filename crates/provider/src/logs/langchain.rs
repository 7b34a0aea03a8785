//! Messages of LangChain: `{"type":"human","data":{…}}`, or `{"lc":1,"id":[…,"HumanMessage"],"kwargs":{…}}`.

use contextree_engine::NewNode;
use contextree_json::Value;
use contextree_tree::Content;

use super::foreign;
use crate::import::{Fields, Incoming, Shape, set};
use crate::parts::{Role, names};
use crate::{anthropic, openai_chat};

/// Reads a message.
pub(super) fn read_message(message: Value) -> Result<Incoming, Shape> {
    let mut outer = Fields::of(message)?;
    let (word, mut fields) = if outer.0.contains_key("lc") {
        let class = outer.take_list("id").unwrap_or_default();
        let class = class.last().and_then(Value::as_str).unwrap_or_default().to_owned();
        let kwargs = outer.take_object("kwargs");
        (class, Fields(kwargs.ok_or_else(|| Shape::new("an object").within("kwargs"))?))
    } else {
        let word: String = outer.need_text("type")?.into();
        let data = outer.take_object("data");
        (word, Fields(data.ok_or_else(|| Shape::new("an object").within("data"))?))
    };
    let spoken = fields.text("role").map(str::to_owned);
    let role = role_of(&word, spoken.as_deref()).ok_or_else(|| Shape::new("a known message"))?;
    let mut parts = Vec::new();
    if role == Role::Tool {
        parts.push(read_result(&mut fields));
    } else {
        read_parts(&mut fields, &mut parts);
    }
    if parts.is_empty() {
        parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() });
    }
    fields.take("type");
    if !fields.0.is_empty() {
        set(&mut parts[0], names::ENTRY, Value::Object(fields.0));
    }
    Ok(Incoming::new(role, parts))
}

fn role_of(word: &str, spoken: Option<&str>) -> Option<Role> {
    let word = word.trim_end_matches("Chunk").trim_end_matches("Message").to_ascii_lowercase();
    match &*word {
        "human" => Some(Role::User),
        "ai" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "tool" | "function" => Some(Role::Tool),
        "chat" => Some(crate::parts::role_of(spoken.unwrap_or("user"))),
        _ => None,
    }
}

fn read_result(fields: &mut Fields) -> NewNode {
    let content = fields.take("content").map_or(Content::Absent, Content::from);
    let listed = matches!(&content, Content::Json(value) if value.as_array().is_some());
    let mut node = NewNode { content, ..NewNode::default() }.kind("result");
    if let Some(id) = fields.take_text("tool_call_id") {
        set(&mut node, names::CALL_ID, Value::String(id));
    }
    if let Some(name) = fields.take_text("name") {
        set(&mut node, names::NAME, Value::String(name));
    }
    if fields.text("status") == Some("error") {
        set(&mut node, names::IS_ERROR, true);
    }
    if listed {
        // Lists of LangChain are written like those of Chat Completions.
        set(&mut node, names::PROVIDER, crate::Provider::OpenAiChat.name());
    }
    node
}

fn read_parts(fields: &mut Fields, parts: &mut Vec<NewNode>) {
    let calls = fields.take_list("tool_calls").unwrap_or_default();
    let called = |id: Option<&str>| {
        id.is_some() && calls.iter().any(|call| call.get("id").and_then(Value::as_str) == id)
    };
    match fields.take("content") {
        Some(Value::String(text)) if text.is_empty() && !calls.is_empty() => {}
        Some(Value::String(text)) => {
            parts.push(NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text"));
        }
        Some(Value::Array(blocks)) => {
            for block in blocks {
                let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
                let repeated = matches!(kind, "tool_use" | "tool_call")
                    && called(block.get("id").and_then(Value::as_str));
                if !repeated {
                    parts.push(read_block(block));
                }
            }
        }
        _ => {}
    }
    // The exact texts of the arguments, where the provider's answer was kept.
    let raw: Vec<Value> = fields
        .0
        .get("additional_kwargs")
        .and_then(|it| it.get("tool_calls"))
        .and_then(Value::as_array)
        .map(<[Value]>::to_vec)
        .unwrap_or_default();
    for call in calls {
        let Ok(mut call) = Fields::of(call) else { continue };
        let id = call.take_text("id");
        let same = |raw: &&Value| raw.get("id").and_then(Value::as_str) == id.as_deref();
        let exact = raw.iter().find(same).and_then(|raw| raw.get("function")?.get("arguments"));
        let arguments = match exact {
            Some(exact @ Value::String(_)) => Some(exact.clone()),
            _ => call.take("args"),
        };
        let content = arguments.map_or(Content::Absent, Content::from);
        let mut node = NewNode { content, ..NewNode::default() }.kind("call");
        if let Some(id) = id {
            set(&mut node, names::CALL_ID, Value::String(id));
        }
        set(&mut node, names::NAME, call.take("name").unwrap_or_default());
        parts.push(node);
    }
}

fn read_block(block: Value) -> NewNode {
    if let Value::String(text) = block {
        return NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text");
    }
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "text" | "image_url" | "input_audio" | "file" if block.get("mime_type").is_none() => {
            openai_chat::read_part(block)
        }
        "thinking" | "redacted_thinking" | "document" | "tool_use" => anthropic::read_part(block),
        "image" if block.get("source").is_some() => anthropic::read_part(block),
        "reasoning" if block.get("reasoning").is_some() => {
            let text = block.get("reasoning").and_then(Value::as_str).unwrap_or_default();
            NewNode::text(text).kind("reasoning")
        }
        "image" | "file" | "audio" => media(&block).unwrap_or_else(|| foreign("langchain", block)),
        _ => foreign("langchain", block),
    }
}

/// Media in the standard form of LangChain.
fn media(block: &Value) -> Option<NewNode> {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    let kind = match text("type")? {
        "file" => "document",
        kind => kind,
    };
    let (content, encoding) = if let Some(data) = text("base64").or(text("data")) {
        (data, "base64")
    } else if let Some(url) = text("url") {
        (url, "uri")
    } else {
        (text("file_id")?, "file_id")
    };
    let mut node = NewNode::text(content).kind(kind).encoding(encoding);
    node.mime = text("mime_type").map(str::to_owned);
    Some(node)
}
