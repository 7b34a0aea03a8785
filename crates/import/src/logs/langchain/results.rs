//! Reads tool results: a text, or a list of blocks. A list is converted to a format of a provider,
//! so that it can be rendered for every other.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Kind, kind_of_node, set, text_of_node, url_of_node};
use contextree_tree::{Content, NewNode};

use super::blocks;

/// Reads a tool message.
pub(super) fn read(fields: &mut Fields) -> NewNode {
    let mut provider = None;
    let content = match fields.take("content") {
        Some(Value::Array(list)) if !list.is_empty() => {
            let (list, owner) = read_list(list, fields);
            provider = Some(owner);
            Content::from(Value::Array(list))
        }
        Some(Value::Null | Value::Array(_)) | None => Content::Absent,
        Some(content) => Content::from(content),
    };
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
    if let Some(provider) = provider {
        set(&mut node, names::PROVIDER, provider.name());
    }
    node
}

/// Returns a list and the provider of its format. Other fields of the blocks stay in the fields of
/// the message.
fn read_list(list: Vec<Value>, fields: &mut Fields) -> (Vec<Value>, Provider) {
    if is_anthropic(&list) {
        return (list, Provider::Anthropic);
    }
    let nodes: Vec<(Value, NewNode)> =
        list.into_iter().map(|block| (block.clone(), blocks::read(block, None))).collect();
    let text = |(_, node): &(Value, NewNode)| kind_of_node(node) == Kind::Text;
    let owner = match nodes.iter().all(text) {
        true => Provider::OpenAiChat,
        false => Provider::OpenAiResponses,
    };
    let mut notes = Vec::new();
    let mut written = Vec::with_capacity(nodes.len());
    for (block, node) in nodes {
        // A block that no provider has is passed to the model as JSON text.
        let other = || {
            let text = String::from_utf8_lossy(&block.to_canonical()).into_owned();
            write(&NewNode::text(text).kind("text"), owner).unwrap_or_default()
        };
        written.push(write(&node, owner).unwrap_or_else(other));
        let said = node.attributes.into_iter().find(|(name, _)| name == names::ENTRY);
        notes.push(said.map_or(Value::Null, |(_, said)| said));
    }
    if notes.iter().any(|it| !it.is_null()) {
        fields.0.insert("content", Value::Array(notes));
    }
    (written, owner)
}

/// Returns whether all blocks have types that Anthropic knows, and at least one has a type that
/// only Anthropic knows.
fn is_anthropic(list: &[Value]) -> bool {
    let kind =
        |block: &Value| block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let may_be = |block: &Value| match &*kind(block) {
        "text" => block.get("text").is_some_and(|it| it.as_str().is_some()),
        "image" | "document" | "search_result" => block.get("source").is_some(),
        _ => false,
    };
    let must_be = |block: &Value| kind(block) != "text" || block.get("cache_control").is_some();
    list.iter().all(may_be) && list.iter().any(must_be)
}

/// Writes a block in the provider's format for result contents; `None` if it has no such block.
fn write(node: &NewNode, owner: Provider) -> Option<Value> {
    let kind = kind_of_node(node);
    let part = |kind: &str, name: &str, value: &str| {
        Object::from_iter([("type", Value::from(kind)), (name, Value::from(value))])
    };
    let mut written = match (kind, node.encoding.as_deref()) {
        (Kind::Text, _) if owner == Provider::OpenAiChat => {
            part("text", "text", &text_of_node(node))
        }
        (Kind::Text, _) | (Kind::Document, None) => part("input_text", "text", &text_of_node(node)),
        (Kind::Image, Some("file_id")) => part("input_image", "file_id", &text_of_node(node)),
        (Kind::Image, _) => part("input_image", "image_url", &url_of_node(node)),
        (Kind::Document, Some("uri")) => part("input_file", "file_url", &text_of_node(node)),
        (Kind::Document, Some("file_id")) => part("input_file", "file_id", &text_of_node(node)),
        (Kind::Document, _) => part("input_file", "file_data", &url_of_node(node)),
        _ => return None,
    };
    let name = node.attributes.iter().find(|(name, _)| name == names::NAME);
    if let Some(name) = name.and_then(|(_, name)| name.as_str()).filter(|_| kind == Kind::Document)
    {
        written.insert("filename", Value::from(name));
    }
    Some(Value::Object(written))
}
