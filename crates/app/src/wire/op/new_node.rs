//! Nodes to add.

use contextree::{Content, engine};
use contextree_json::{Object, Value};

use super::{OpError, texts, wrong};

/// A node to add. Keys that are not listed here are attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewNode(pub engine::NewNode);

impl NewNode {
    /// Reads a node, and the offset that it names.
    ///
    /// # Errors
    ///
    /// If a key has the wrong type.
    pub fn read(value: &Value) -> Result<(NewNode, Option<i64>), OpError> {
        let Some(fields) = value.as_object() else { return wrong("`node` is not an object") };
        let (mut node, mut offset) = (engine::NewNode::default(), None);
        for (name, value) in fields {
            let wrong = || OpError(format!("`{name}` of a node has the wrong type"));
            let text = || value.as_str().map(str::to_owned).ok_or_else(wrong);
            match name {
                // Like an optional field of any other request: null is absent.
                "id" | "nodeType" | "role" | "kind" | "key" | "provenance" | "mime"
                | "encoding" | "ttl" | "offset"
                    if value.is_null() => {}
                "id" => node.id = Some(text()?),
                "nodeType" => node.node_type = Some(text()?),
                "role" => node.role = Some(text()?),
                "kind" => node.kind = Some(text()?),
                "key" => node.key = Some(text()?),
                "provenance" => node.provenance = Some(text()?),
                "mime" => node.mime = Some(text()?),
                "encoding" => node.encoding = Some(text()?),
                "tags" => node.tags = texts(value).ok_or_else(wrong)?,
                "content" => node.content = Content::from(value.clone()),
                "ttl" => node.ttl = Some(value.as_i64().ok_or_else(wrong)?),
                "offset" => offset = Some(value.as_i64().ok_or_else(wrong)?),
                "priority" => node.priority = value.as_i64().ok_or_else(wrong)?,
                "removable" => node.removable = value.as_bool().ok_or_else(wrong)?,
                "pinned" => node.pinned = value.as_bool().ok_or_else(wrong)?,
                _ => node.attributes.push((name.to_owned(), value.clone())),
            }
        }
        Ok((NewNode(node), offset))
    }

    /// Returns the JSON of the node; what has its default is left out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let node = &self.0;
        let mut object = Object::new();
        for (name, value) in &node.attributes {
            object.insert(name.as_str(), value.clone());
        }
        let texts = [
            ("id", &node.id),
            ("nodeType", &node.node_type),
            ("role", &node.role),
            ("kind", &node.kind),
            ("key", &node.key),
            ("provenance", &node.provenance),
            ("mime", &node.mime),
            ("encoding", &node.encoding),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                object.insert(name, text.as_str().into());
            }
        }
        if !node.tags.is_empty() {
            let tags = node.tags.iter().map(|tag| Value::from(tag.as_str())).collect();
            object.insert("tags", Value::Array(tags));
        }
        if let Some(content) = node.content.to_value() {
            object.insert("content", content);
        }
        if let Some(ttl) = node.ttl {
            object.insert("ttl", ttl.into());
        }
        if node.priority != 0 {
            object.insert("priority", node.priority.into());
        }
        for (name, truth) in [("removable", node.removable), ("pinned", node.pinned)] {
            if truth {
                object.insert(name, true.into());
            }
        }
        object.into()
    }
}
