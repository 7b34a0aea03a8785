//! Node specifications: `block:text { key='hero' }`, the nodes that a write creates.

use super::Value;
use crate::{Edition, Span};

/// A node to be created: its type, kind and properties.
///
/// The type is parsed like a type token: `cb:summary` is `nodeType` `cb:summary` in edition 0.1 and
/// `nodeType` `cb` with `kind` `summary` afterwards; `custom:note` is a `nodeType` in every
/// edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// The edition in which the text was parsed.
    pub edition: Edition,
    /// The value of `nodeType`.
    pub node_type: Box<str>,
    /// The value of `kind`, if the type names one. `properties` then has no `kind`.
    pub kind: Option<Box<str>>,
    /// The other headers in written order, each name once. Edition 0.3.
    pub properties: Vec<Property>,
    /// The span of the type.
    pub type_span: Span,
    /// Its span in the text.
    pub span: Span,
}

/// A header of a node to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: Box<str>,
    /// Its value.
    pub value: PropertyValue,
    /// Its span in the text.
    pub span: Span,
}

/// The value of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyValue {
    /// `key='hero'`.
    One(Value),
    /// `tags=[a,b]`, at least one.
    List(Vec<Value>),
}
