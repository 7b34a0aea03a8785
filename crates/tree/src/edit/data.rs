//! A node as plain values, on its way into a tree.

use std::sync::Arc;

use crate::body::Body;
use crate::class::Class;
use crate::node::NodeRef;
use crate::row::{ALL_REQUIRED, Header, NEVER, NO_SYMBOL, Row, flag};
use crate::scalar::Scalar;
use crate::store::Space;

/// Names a node within a context and its forks, whatever its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey(pub(crate) u32);

impl NodeRef<'_> {
    /// Returns the node's key.
    #[must_use]
    pub fn key_of(self) -> NodeKey {
        NodeKey(self.row.node)
    }
}

/// All headers of a node, to be put into a tree.
#[derive(Clone, Debug)]
pub struct NodeData {
    /// The id.
    pub id: Box<str>,
    /// The type as it is stored.
    pub node_type: Box<str>,
    /// The offset.
    pub offset: Scalar,
    /// The commit at which the node expires, if it does.
    pub expires: Option<u32>,
    /// The priority.
    pub priority: Scalar,
    /// The commit that first contains the node.
    pub cycle: u32,
    /// The creation stamp.
    pub created_at_ns: i64,
    /// The creation index.
    pub creation_index: u32,
    /// The role.
    pub role: Option<Box<str>>,
    /// The kind.
    pub kind: Option<Box<str>>,
    /// Goes when empty.
    pub removable: bool,
    /// Protected from pruning.
    pub pinned: bool,
    /// Content and attributes.
    pub body: Body,
    /// Headers that the document did not have; empty for nodes of the engine.
    pub missing: Vec<Header>,
    /// Whether `children` is written when there are none; absent means: for containers.
    pub shows_children: Option<bool>,
}

impl NodeData {
    /// Returns a node with this id and type; every header is present and has its default.
    #[must_use]
    pub fn new(id: &str, node_type: &str) -> Self {
        NodeData {
            id: id.into(),
            node_type: node_type.into(),
            offset: Scalar::ZERO,
            expires: None,
            priority: Scalar::ZERO,
            cycle: 0,
            created_at_ns: 0,
            creation_index: 0,
            role: None,
            kind: None,
            removable: false,
            pinned: false,
            body: Body::default(),
            missing: Vec::new(),
            shows_children: None,
        }
    }

    pub(crate) fn into_row(self, space: &Space) -> Row {
        let class = Class::of(&self.node_type);
        let symbol =
            |text: Option<Box<str>>| text.map_or(NO_SYMBOL, |text| space.symbols.intern(&text));
        let mut row =
            Row::new(space.ids.intern(&self.id), space.symbols.intern(&self.node_type), class);
        row.role = symbol(self.role);
        row.kind = symbol(self.kind);
        row.set_offset(self.offset);
        row.set_priority(self.priority);
        row.created_at_ns = self.created_at_ns;
        row.cycle = self.cycle;
        row.creation_index = self.creation_index;
        row.expires = self.expires.unwrap_or(NEVER);
        row.flags |= ALL_REQUIRED;
        for header in self.missing {
            row.set(header.bit(), false);
        }
        row.set(Header::Children.bit(), self.shows_children.unwrap_or(class.is_container()));
        row.set(flag::REMOVABLE, self.removable);
        row.set(flag::PINNED, self.pinned);
        row.note_attributes(&self.body);
        row.body = (!self.body.is_empty()).then(|| Arc::new(self.body));
        row
    }
}
