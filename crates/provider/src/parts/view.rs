//! The content of a part, wherever it is: a node of a tree, or a new node.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use contextree_tree::{Content, NewNode, NodeRef};

use super::{Kind, kind_of, names};
use crate::Provider;

/// A part without its place in a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) kind: Kind,
    pub(crate) content: &'a Content,
    pub(crate) mime: Option<&'a str>,
    pub(crate) encoding: Option<&'a str>,
    source: Source<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Node(NodeRef<'a>),
    New(&'a NewNode),
}

impl<'a> View<'a> {
    pub(crate) fn of_node(node: NodeRef<'a>, kind: Kind) -> Self {
        let header = |name| node.attribute(name).and_then(Value::as_str);
        View {
            kind,
            content: node.content(),
            mime: header("mime"),
            encoding: header("encoding"),
            source: Source::Node(node),
        }
    }

    pub(crate) fn of_new(node: &'a NewNode) -> Self {
        let provided = node.attributes.iter().any(|(name, _)| name == names::PROVIDER);
        View {
            kind: kind_of(node.kind.as_deref(), &node.content, provided),
            content: &node.content,
            mime: node.mime.as_deref(),
            encoding: node.encoding.as_deref(),
            source: Source::New(node),
        }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'a Value> {
        match self.source {
            Source::Node(node) => node.attribute(name),
            Source::New(node) => {
                node.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value)
            }
        }
    }

    pub(crate) fn text_attribute(&self, name: &str) -> Option<&'a str> {
        self.attribute(name)?.as_str()
    }

    pub(crate) fn form(&self) -> Option<&'a str> {
        self.text_attribute(names::FORM)
    }

    /// Returns how the content of the message was written; recorded on its first part.
    pub(crate) fn shape(&self) -> Option<&'a str> {
        self.text_attribute(names::SHAPE).or_else(|| self.form())
    }

    /// Returns whether the part represents empty content: an empty list, `null`.
    pub(crate) fn is_blank(&self) -> bool {
        *self.content == Content::Absent
    }

    pub(crate) fn name(&self) -> Option<&'a str> {
        self.text_attribute(names::NAME)
    }

    /// Returns whether extra fields, signatures and opaque content belong to this provider.
    pub(crate) fn is_from(&self, provider: Provider) -> bool {
        self.text_attribute(names::PROVIDER) == Some(provider.name())
    }

    /// Returns the provider that the part was imported from, if recorded.
    pub(crate) fn provider(&self) -> Option<Provider> {
        self.text_attribute(names::PROVIDER)?.parse().ok()
    }

    /// Returns an attribute that holds provider-specific fields, if the part was imported from this
    /// provider.
    pub(crate) fn own_fields(&self, name: &str, provider: Provider) -> Option<&'a Object> {
        let fields = self.attribute(name)?.as_object()?;
        self.is_from(provider).then_some(fields)
    }

    /// Returns the content as text: JSON as its canonical text.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        match self.content {
            Content::Absent => Cow::Borrowed(""),
            Content::Text(text) => Cow::Borrowed(text),
            Content::Json(value) => Cow::Owned(
                String::from_utf8(value.to_canonical()).expect("canonical JSON is ASCII"),
            ),
        }
    }
}

/// Returns the kind of a new block.
#[must_use]
pub fn kind_of_node(node: &NewNode) -> Kind {
    View::of_new(node).kind
}

/// Returns the content of a new block as text: JSON as its canonical text.
#[must_use]
pub fn text_of_node(node: &NewNode) -> Cow<'_, str> {
    View::of_new(node).text()
}
