//! What a commit did: every change between two snapshots has a cause, and it is named here.

use std::fmt;

use contextree_canon::Hash;

/// The account of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitReport {
    /// The number of the commit.
    pub cycle: u32,
    /// The digest of the snapshot.
    pub digest: Hash,
    /// Nodes whose ttl ran out, in document order.
    pub expired: Vec<String>,
    /// Nodes that went because they stood below one that expired, in document order.
    pub along: Vec<String>,
    /// Nodes whose ttl ran out but that something still refers to, in document order.
    pub deferred: Vec<Deferred>,
    /// Removable containers that had become empty, in the order in which they went.
    pub cascaded: Vec<String>,
    /// Nodes that a pruning policy took, in the order in which it took them.
    pub pruned: Vec<Pruned>,
    /// Limits of the policy that could not be kept, because everything left is protected.
    pub unmet: Vec<Unmet>,
    /// The turn that was sealed.
    pub sealed: String,
    /// The core that had to be created because the head had none.
    pub core: Option<String>,
    /// What was done to the working tree since the last commit, compaction included.
    pub operations: Vec<Operation>,
    /// What is allowed but should not have been done.
    pub warnings: Vec<Warning>,
}

/// Something that is allowed, and that a careful caller would want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A custom attribute got a value of another type; it should keep one type for life.
    AttributeType {
        /// The node.
        node: String,
        /// The attribute.
        attribute: String,
        /// Its type before.
        from: &'static str,
        /// Its type now.
        to: &'static str,
    },
    /// A role that is none of the usual ones and has no namespace.
    Role {
        /// The node.
        node: String,
        /// The role.
        role: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::AttributeType { node, attribute, from, to } => {
                write!(formatter, "`{attribute}` of `{node}` was a {from} and is a {to} now")
            }
            Warning::Role { node, role } => write!(
                formatter,
                "`{node}` has the role `{role}`; roles of one's own should have a namespace"
            ),
        }
    }
}

/// A node that outlived its ttl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// The node.
    pub id: String,
    /// The node of its subtree that is held.
    pub held: String,
    /// By what.
    pub by: Holder,
}

/// What keeps a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A handle that somebody has.
    Handle,
    /// The attribute `data_refs` of this node.
    Node(
        /// Its id.
        String,
    ),
    /// Nobody could say that it is free.
    Unknown,
}

/// A node that was pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The node.
    pub id: String,
    /// The limit, by its position in the policy.
    pub limit: usize,
    /// The node that it went with: the first one of its unit, or the turn that took the unit along. Nothing if it went for itself.
    pub with: Option<String>,
    /// What went because it stood below, in document order: the nodes of a turn.
    pub along: Vec<String>,
}

/// A limit that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The limit, by its position in the policy.
    pub limit: usize,
    /// What it counted: a turn's id, a region's word, or empty for the whole tree.
    pub scope: String,
    /// What is left.
    pub left: u64,
}

/// Something that was done to the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// `add`, `edit`, `remove`, `move`, `set_priority`, `pin`, `unpin`.
    pub operation: &'static str,
    /// The node.
    pub node: String,
    /// The policy on whose behalf it was done, if it was.
    pub on_behalf_of: String,
}
