//! A node to be added, as its author describes it.

use contextree_json::Value;

use crate::Content;

/// A node to be added.
///
/// ```
/// use contextree_tree::NewNode;
/// let node = NewNode::text("It rains in Oslo.").role("tool").kind("result").ttl(3).attribute("data_call_id", "c1");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewNode {
    /// The id; absent to have one made.
    pub id: Option<String>,
    /// The type; absent for a plain block.
    pub node_type: Option<String>,
    /// How many commits the node survives; forever if absent. Signed, so that a negative one can be refused.
    pub ttl: Option<i64>,
    /// Pruning takes the lowest first.
    pub priority: i64,
    /// The role.
    pub role: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// The key: a logical name that several nodes may share.
    pub key: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Where it comes from.
    pub provenance: Option<String>,
    /// The content's media type.
    pub mime: Option<String>,
    /// The content's encoding.
    pub encoding: Option<String>,
    /// The content.
    pub content: Content,
    /// A container that is removed when it is empty.
    pub removable: bool,
    /// Protected from pruning.
    pub pinned: bool,
    /// Custom attributes.
    pub attributes: Vec<(String, Value)>,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $kind:ty => $value:expr;)*) => {
        $($(#[$doc])* #[must_use]
        pub fn $name(mut self, $name: $kind) -> Self {
            self.$name = $value;
            self
        })*
    };
}

impl NewNode {
    /// Returns a block with this text.
    #[must_use]
    pub fn text(text: impl AsRef<str>) -> Self {
        NewNode { content: Content::Text(text.as_ref().into()), ..Self::default() }
    }

    /// Returns a block with any JSON as its content.
    #[must_use]
    pub fn json(value: Value) -> Self {
        NewNode { content: Content::from(value), ..Self::default() }
    }

    /// Returns a container of this type: `cont`, `mc:sources`.
    #[must_use]
    pub fn container(node_type: impl Into<String>) -> Self {
        NewNode { node_type: Some(node_type.into()), ..Self::default() }
    }

    setters! {
        /// Gives it an id.
        id: impl Into<String> => Some(id.into());
        /// Gives it a type.
        node_type: impl Into<String> => Some(node_type.into());
        /// Limits it to this many commits.
        ttl: i64 => Some(ttl);
        /// Sets the priority.
        priority: i64 => priority;
        /// Sets the role.
        role: impl Into<String> => Some(role.into());
        /// Sets the kind.
        kind: impl Into<String> => Some(kind.into());
        /// Sets the key.
        key: impl Into<String> => Some(key.into());
        /// Sets the provenance.
        provenance: impl Into<String> => Some(provenance.into());
        /// Sets the media type.
        mime: impl Into<String> => Some(mime.into());
        /// Sets the encoding.
        encoding: impl Into<String> => Some(encoding.into());
        /// Lets a commit remove the container when it is empty.
        removable: bool => removable;
        /// Protects it from pruning.
        pinned: bool => pinned;
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Adds a custom attribute.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.push((name.into(), value.into()));
        self
    }
}
