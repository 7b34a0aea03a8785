//! The content and attributes of a node.

use std::sync::OnceLock;

use contextree_json::{Object, Value};

/// The content of a node.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Content {
    /// No `content` field. It hashes and renders like an empty text, and is exported as absent.
    #[default]
    Absent,
    /// Text.
    Text(Box<str>),
    /// Any other JSON value, `null` included.
    Json(Box<Value>),
}

impl Content {
    /// Returns the text, or `None` for any other content.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the content as a JSON value; `None` if it is absent.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        match self {
            Content::Absent => None,
            Content::Text(text) => Some(Value::String(text.clone())),
            Content::Json(value) => Some((**value).clone()),
        }
    }

    /// Returns the size of the content in bytes: UTF-8 for text, canonical JSON for anything else.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        match self {
            Content::Absent => 0,
            Content::Text(text) => text.len(),
            Content::Json(value) => value.to_canonical().len(),
        }
    }

    /// Returns whether the content has more than `limit` bytes. JSON is serialized only if a cheap
    /// upper bound does not already answer.
    #[must_use]
    pub fn is_longer_than(&self, limit: usize) -> bool {
        match self {
            Content::Json(value) if value.canonical_bound() <= limit => false,
            _ => self.byte_len() > limit,
        }
    }
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Content::Text(text),
            other => Content::Json(Box::new(other)),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.into())
    }
}

/// The content and attributes of one version of a node, shared by all versions with the same body.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The content.
    pub content: Content,
    /// Everything that is exported and has no column of its own: `key`, `tags`, `provenance`,
    /// custom and unknown attributes; and, on imported nodes, headers whose text differs from what
    /// the columns would print.
    pub attributes: Object,
    /// The content hash, computed on first use. Filled by `canon`; it also covers role and kind,
    /// which never change for a node.
    hash: OnceLock<[u8; 32]>,
    /// True if the content was replaced by a marker; the hash is that of the content before.
    is_redacted: bool,
}

impl Body {
    /// Returns a body with this content and these attributes.
    #[must_use]
    pub fn new(content: Content, attributes: Object) -> Self {
        Body { content, attributes, hash: OnceLock::new(), is_redacted: false }
    }

    /// Returns a body whose content was replaced by a marker. `hash` is the content hash from before, which digests cover.
    #[must_use]
    pub fn redacted(marker: Content, attributes: Object, hash: [u8; 32]) -> Self {
        Body { content: marker, attributes, hash: OnceLock::from(hash), is_redacted: true }
    }

    /// Returns the content hash from before the content was replaced by a marker; `None` if it was not.
    #[must_use]
    pub fn redacted_hash(&self) -> Option<[u8; 32]> {
        self.hash.get().copied().filter(|_| self.is_redacted)
    }

    /// Returns the cell that caches the content hash.
    #[must_use]
    pub fn hash_cell(&self) -> &OnceLock<[u8; 32]> {
        &self.hash
    }

    /// Returns whether the body has neither content nor attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.content == Content::Absent && self.attributes.is_empty()
    }
}

/// Returns whether an attribute is hashed with the content.
#[must_use]
pub fn is_hashed_attribute(name: &str) -> bool {
    (name.starts_with("content_") || name.starts_with("data_")) && name != "content_hash"
}
