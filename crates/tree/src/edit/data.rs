//! A node as plain values, before it is added to a tree.

use std::sync::Arc;

use crate::body::Body;
use crate::class::Class;
use crate::cycle::Cycle;
use crate::node::NodeRef;
use crate::policy_entry::PolicyEntry;
use crate::row::{ALL_REQUIRED, Header, HeaderSet, NEVER, NO_SYMBOL, NodeKey, Row, flag};
use crate::scalar::Scalar;
use crate::store::Space;

impl NodeRef<'_> {
    /// Returns the node's key.
    #[must_use]
    pub fn key_of(self) -> NodeKey {
        self.row.node
    }
}

/// All headers of a node, for adding it to a tree.
///
/// Texts may be borrowed and the body may be set later, so that many nodes can be examined without
/// copying any.
#[derive(Clone, Copy, Debug)]
pub struct NodeData<T = Box<str>, B = Body> {
    /// The id.
    pub id: T,
    /// The type as it is stored.
    pub node_type: T,
    /// The offset.
    pub offset: Scalar,
    /// The commit at which the node expires, if it does.
    pub expires: Option<Cycle>,
    /// The priority.
    pub priority: Scalar,
    /// The commit that first contains the node.
    pub cycle: Cycle,
    /// The creation stamp.
    pub created_at_ns: i64,
    /// The creation index.
    pub creation_index: u32,
    /// The role.
    pub role: Option<T>,
    /// The kind.
    pub kind: Option<T>,
    /// Whether the container is removed when empty.
    pub removable: bool,
    /// Whether the node is protected from pruning.
    pub pinned: bool,
    /// Pin and priority that were given after the node was sealed.
    pub policy: PolicyEntry,
    /// Content and attributes, or a reference to them.
    pub body: B,
    /// Headers that the imported document lacked; empty for nodes created by the engine.
    pub missing: HeaderSet,
    /// Whether `children` is written even if empty; `None` means: for containers.
    pub shows_children: Option<bool>,
}

impl NodeData {
    /// Returns a node with this id and type and default headers, all present.
    #[must_use]
    pub fn new(id: &str, node_type: &str) -> Self {
        NodeData::with_body(id.into(), node_type.into(), Body::default())
    }
}

impl<T, B> NodeData<T, B> {
    /// Returns a node with this id, type and body and default headers, all present.
    pub fn with_body(id: T, node_type: T, body: B) -> Self {
        NodeData {
            id,
            node_type,
            offset: Scalar::ZERO,
            expires: None,
            priority: Scalar::ZERO,
            cycle: Cycle::ZERO,
            created_at_ns: 0,
            creation_index: 0,
            role: None,
            kind: None,
            removable: false,
            pinned: false,
            policy: PolicyEntry::default(),
            body,
            missing: HeaderSet::default(),
            shows_children: None,
        }
    }

    /// Returns the node with a different body.
    pub fn replace_body<C>(self, body: C) -> NodeData<T, C> {
        NodeData {
            id: self.id,
            node_type: self.node_type,
            offset: self.offset,
            expires: self.expires,
            priority: self.priority,
            cycle: self.cycle,
            created_at_ns: self.created_at_ns,
            creation_index: self.creation_index,
            role: self.role,
            kind: self.kind,
            removable: self.removable,
            pinned: self.pinned,
            policy: self.policy,
            body,
            missing: self.missing,
            shows_children: self.shows_children,
        }
    }
}

impl<T: AsRef<str>> NodeData<T> {
    pub(crate) fn into_row(self, space: &Space) -> Row {
        let class = Class::of(self.node_type.as_ref());
        let symbol =
            |text: Option<T>| text.map_or(NO_SYMBOL, |text| space.symbols.intern(text.as_ref()));
        let node_type = space.symbols.intern(self.node_type.as_ref());
        let mut row = Row::new(NodeKey(space.ids.intern(self.id.as_ref())), node_type, class);
        row.role = symbol(self.role);
        row.kind = symbol(self.kind);
        row.set_offset(self.offset);
        row.set_priority(self.priority);
        row.created_at_ns = self.created_at_ns;
        row.cycle = self.cycle;
        row.creation_index = self.creation_index;
        row.expires = self.expires.map_or(NEVER, Cycle::get);
        row.flags |= ALL_REQUIRED;
        for header in self.missing.iter() {
            row.set(header.bit(), false);
        }
        row.set(Header::Children.bit(), self.shows_children.unwrap_or(class.is_container()));
        row.set(flag::REMOVABLE, self.removable);
        row.set(flag::PINNED, self.pinned);
        row.set_policy(self.policy);
        row.note_attributes(&self.body);
        row.body = (!self.body.is_empty()).then(|| Arc::new(self.body));
        row
    }
}
