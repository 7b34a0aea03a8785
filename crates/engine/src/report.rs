//! The report of a commit: the cause of every change between two snapshots.

use std::fmt;

use contextree_canon::Hash;
use contextree_tree::Cycle;

/// The account of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitReport {
    /// The number of the commit.
    pub cycle: Cycle,
    /// The digest of the snapshot.
    pub digest: Hash,
    /// Nodes whose ttl expired, in document order.
    pub expired: Vec<String>,
    /// Nodes removed because an ancestor expired, in document order.
    pub along: Vec<String>,
    /// Nodes whose ttl expired but that are still referred to, in document order.
    pub deferred: Vec<Deferred>,
    /// Removable containers that became empty, in the order of their removal.
    pub cascaded: Vec<String>,
    /// Nodes removed because the caller dropped them or a node above them, in the order given.
    pub dropped: Vec<String>,
    /// Tool results that a pruning policy replaced with a placeholder, in this order.
    pub cleared: Vec<Cleared>,
    /// Nodes removed by a pruning policy, in the order of their removal.
    pub pruned: Vec<Pruned>,
    /// The block with the summary of what was pruned, if there is one.
    pub summary: Option<String>,
    /// Limits of the policy that could not be met, because everything left is protected.
    pub unmet: Vec<Unmet>,
    /// The turn that was sealed.
    pub sealed: String,
    /// The core that had to be created because the head had none.
    pub core: Option<String>,
    /// Changes of the working tree since the last commit, including compaction.
    pub operations: Vec<Operation>,
    /// Operations that are allowed but discouraged.
    pub warnings: Vec<Warning>,
}

/// An allowed operation that a careful caller would want to know about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The type of a custom attribute's value changed; it should never change.
    AttributeType {
        /// The node.
        node: String,
        /// The attribute.
        attribute: String,
        /// The previous type.
        from: &'static str,
        /// The new type.
        to: &'static str,
    },
    /// `data_refs` is neither an id nor a list of ids: every text in it counts as a reference.
    References {
        /// The node.
        node: String,
    },
    /// A role that is neither well known nor has a namespace.
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
                write!(formatter, "`{attribute}` of `{node}` changed from {from} to {to}")
            }
            Warning::References { node } => write!(
                formatter,
                "`data_refs` of `{node}` is not a list of ids; every text in it is kept as a reference"
            ),
            Warning::Role { node, role } => write!(
                formatter,
                "`{node}` has the role `{role}`; custom roles should have a namespace"
            ),
        }
    }
}

/// A node that was kept although its ttl expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// The node.
    pub id: String,
    /// The node in its subtree that is held.
    pub held: String,
    /// What holds it.
    pub by: Holder,
}

/// What holds a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A handle.
    Handle,
    /// The attribute `data_refs` of this node.
    Node(
        /// Its id.
        String,
    ),
    /// The liveness probe could not tell.
    Unknown,
}

/// A node that was pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The node.
    pub id: String,
    /// The index of the limit in the policy.
    pub limit: usize,
    /// The node with which it was removed: the first of its unit, or the turn that took the unit
    /// along. `None` if it was removed by itself.
    pub with: Option<String>,
    /// Descendants that were removed with it, in document order: the nodes of a turn.
    pub along: Vec<String>,
}

/// A tool result that was cleared. Earlier snapshots have it still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleared {
    /// The result.
    pub id: String,
    /// The block that takes its place.
    pub placeholder: String,
    /// The index of the limit in the policy.
    pub limit: usize,
}

/// A limit that was not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The index of the limit in the policy.
    pub limit: usize,
    /// The scope: a turn's id, a region's name, or empty for the whole tree.
    pub scope: String,
    /// The remaining size.
    pub left: u64,
}

/// A change of the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// `add`, `edit`, `remove`, `move`, `set_priority`, `pin`, `unpin`.
    pub operation: &'static str,
    /// The node.
    pub node: String,
    /// The policy that caused it; empty if none did.
    pub on_behalf_of: String,
}
