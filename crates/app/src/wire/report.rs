//! What a commit did.

use contextree::{CommitReport, Holder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The number of the commit.
    pub cycle: u32,
    /// The digest of the snapshot.
    pub digest: String,
    /// The turn that was sealed.
    pub sealed: String,
    /// The core that was created because the head had none.
    pub core: Option<String>,
    /// Nodes that expired, in document order.
    pub expired: Vec<String>,
    /// Nodes below one that expired, in document order.
    pub along: Vec<String>,
    /// Nodes whose ttl has run out but that are still referred to.
    pub deferred: Vec<Deferred>,
    /// Removable containers that became empty, in the order in which they were removed.
    pub cascaded: Vec<String>,
    /// Nodes that were removed because the request no longer contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Tool results that the policy replaced with a placeholder, in this order. Earlier snapshots have them still.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<Cleared>,
    /// Nodes that the policy pruned, in this order.
    pub pruned: Vec<Pruned>,
    /// The block with the summary of what was pruned; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Limits of the policy that could not be kept, because everything left is protected.
    pub unmet: Vec<Unmet>,
    /// What was done to the working state since the commit before.
    pub operations: Vec<Operation>,
    /// Messages about what is allowed and still suspicious.
    pub warnings: Vec<String>,
}

/// A node that outlived its ttl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deferred {
    /// The node.
    pub id: String,
    /// The node of its subtree that is held.
    pub held: String,
    /// `handle`, the id of the node that refers to it, or null if the holder did not answer.
    pub by: Option<String>,
}

/// A node that was pruned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pruned {
    /// The node.
    pub id: String,
    /// The limit, by its position in the policy.
    pub limit: usize,
    /// The node that it was pruned together with; null if it was pruned for itself.
    pub with: Option<String>,
    /// Nodes below it, in document order.
    pub along: Vec<String>,
}

/// A tool result that was cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cleared {
    /// The result.
    pub id: String,
    /// The block that took its place.
    pub placeholder: String,
    /// The limit, by its position in the policy.
    pub limit: usize,
}

/// A limit that was not reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unmet {
    /// The limit, by its position in the policy.
    pub limit: usize,
    /// What it counts: the id of a turn, a region, or empty for the whole tree.
    pub scope: String,
    /// What is left.
    pub left: u64,
}

/// Something that was done to the working state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// `add`, `edit`, `remove`, `move`, `set_priority`, `pin` or `unpin`.
    pub operation: String,
    /// The node.
    pub node: String,
    /// The policy on whose behalf it was done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub on_behalf_of: String,
}

impl From<&CommitReport> for Report {
    fn from(report: &CommitReport) -> Self {
        let deferred = report.deferred.iter().map(|deferred| Deferred {
            id: deferred.id.clone(),
            held: deferred.held.clone(),
            by: match &deferred.by {
                Holder::Handle => Some("handle".to_owned()),
                Holder::Node(id) => Some(id.clone()),
                Holder::Unknown => None,
            },
        });
        let pruned = report.pruned.iter().map(|pruned| Pruned {
            id: pruned.id.clone(),
            limit: pruned.limit,
            with: pruned.with.clone(),
            along: pruned.along.clone(),
        });
        let cleared = report.cleared.iter().map(|cleared| Cleared {
            id: cleared.id.clone(),
            placeholder: cleared.placeholder.clone(),
            limit: cleared.limit,
        });
        let unmet = report.unmet.iter().map(|unmet| Unmet {
            limit: unmet.limit,
            scope: unmet.scope.clone(),
            left: unmet.left,
        });
        let operations = report.operations.iter().map(|operation| Operation {
            operation: operation.operation.to_owned(),
            node: operation.node.clone(),
            on_behalf_of: operation.on_behalf_of.clone(),
        });
        Report {
            cycle: report.cycle.get(),
            digest: report.digest.to_string(),
            sealed: report.sealed.clone(),
            core: report.core.clone(),
            expired: report.expired.clone(),
            along: report.along.clone(),
            deferred: deferred.collect(),
            cascaded: report.cascaded.clone(),
            dropped: report.dropped.clone(),
            cleared: cleared.collect(),
            pruned: pruned.collect(),
            summary: report.summary.clone(),
            unmet: unmet.collect(),
            operations: operations.collect(),
            warnings: report.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}
