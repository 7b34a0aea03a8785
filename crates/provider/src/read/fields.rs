//! Takes objects apart: known fields are taken out, the remaining ones are kept as they are.

use contextree_canon::PreparedNode;
use contextree_json::{Object, Value};
use contextree_tree::{Content, NewNode};

use super::Shape;
use crate::Provider;
use crate::parts::{Kind, kind_of, names};

/// A new block whose attributes can be set.
pub trait Attributes {
    /// Returns the attributes for editing.
    fn attributes(&mut self) -> &mut Vec<(String, Value)>;
}

impl Attributes for NewNode {
    fn attributes(&mut self) -> &mut Vec<(String, Value)> {
        &mut self.attributes
    }
}

impl Attributes for PreparedNode {
    fn attributes(&mut self) -> &mut Vec<(String, Value)> {
        self.attributes_mut()
    }
}

/// An object that is being read.
#[derive(Clone, Debug, Default)]
pub struct Fields(
    /// The fields that have not been taken.
    pub Object,
);

impl Fields {
    /// Returns the fields of an object.
    ///
    /// # Errors
    ///
    /// If it is not an object.
    pub fn of(value: Value) -> Result<Self, Shape> {
        match value {
            Value::Object(object) => Ok(Fields(object)),
            _ => Err(Shape::new("an object")),
        }
    }

    /// Takes a field.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Takes a field that is a string; leaves any other value.
    pub fn take_text(&mut self, name: &str) -> Option<Box<str>> {
        self.0.get(name)?.as_str()?;
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes a field that is a list; leaves any other value.
    pub fn take_list(&mut self, name: &str) -> Option<Vec<Value>> {
        self.0.get(name)?.as_array()?;
        match self.0.remove(name) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        }
    }

    /// Takes a field that is an object; leaves any other value.
    pub fn take_object(&mut self, name: &str) -> Option<Object> {
        self.0.get(name)?.as_object()?;
        match self.0.remove(name) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Returns a field that is a string, and leaves it.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Takes a required string.
    ///
    /// # Errors
    ///
    /// If the field is missing or not a string.
    pub fn need_text(&mut self, name: &'static str) -> Result<Box<str>, Shape> {
        self.take_text(name).ok_or_else(|| Shape::new("a string").within(name))
    }

    /// Takes a list that is not empty. An empty list stays, so that it is kept with the remaining
    /// fields.
    pub fn take_filled(&mut self, name: &str) -> Option<Vec<Value>> {
        let filled = self.0.get(name)?.as_array().is_some_and(|list| !list.is_empty());
        if filled { self.take_list(name) } else { None }
    }

    /// Puts the remaining fields of an inner object back in place.
    pub fn put_back(&mut self, name: &str, inner: Fields) {
        if !inner.0.is_empty() {
            self.0.insert(name, Value::Object(inner.0));
        }
    }

    /// Adds the fields of another object.
    pub fn merge(&mut self, other: Fields) {
        for (name, value) in other.0 {
            self.0.insert(name, value);
        }
    }

    /// Keeps the remaining fields as an attribute of a block.
    pub fn keep(self, node: &mut impl Attributes, attribute: &str, provider: Provider) {
        if !self.0.is_empty() {
            set(node, attribute, Value::Object(self.0));
            mark_provider(node, provider);
        }
    }
}

/// Records the provider that the extra fields, signatures or opaque content of a block belong to.
pub fn mark_provider(node: &mut impl Attributes, provider: Provider) {
    if !node.attributes().iter().any(|(name, _)| name == names::PROVIDER) {
        set(node, names::PROVIDER, provider.name());
    }
}

/// Sets an attribute of a new block. Setting it twice would hide the first value.
pub fn set(node: &mut impl Attributes, name: &str, value: impl Into<Value>) {
    debug_assert!(
        node.attributes().iter().all(|(own, _)| own != name),
        "the attribute `{name}` is set twice"
    );
    node.attributes().push((name.to_owned(), value.into()));
}

/// Returns a block with content that only its provider understands. Its kind is the provider's name
/// for it, unless that name has a meaning in the tree.
#[must_use]
pub fn opaque(kind: &str, value: Value, provider: Provider) -> NewNode {
    let content = Content::Json(Box::new(value));
    let known = !matches!(kind_of(Some(kind), &content, true), Kind::Opaque | Kind::Tool);
    let mut node = NewNode { content, ..NewNode::default() };
    node.kind = Some(if known { "unknown" } else { kind }.to_owned());
    mark_provider(&mut node, provider);
    node
}

/// Like [`opaque`], but for a part of a message, which never defines a tool.
#[must_use]
pub fn opaque_part(kind: &str, value: Value, provider: Provider) -> NewNode {
    opaque(if kind == "tool" { "unknown" } else { kind }, value, provider)
}
