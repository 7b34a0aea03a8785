//! `status`: the newest snapshot, what is not committed, what expires next.

use std::collections::BTreeMap;

use contextree::diff::diff;
use contextree::{Class, Region, TreeRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log::{LogCall, Questions};
use crate::wire::AttemptStatus;
use crate::{Control, Error, Workspace};

/// The state of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusResponse {
    /// Where it is stored.
    pub place: String,
    /// The edition of its selectors.
    pub edition: String,
    /// The newest snapshot; null before the first commit.
    pub head: Option<StatusHead>,
    /// The number of the coming commit.
    pub next_cycle: u32,
    /// The number of snapshots.
    pub snapshots: usize,
    /// The number of sealed turns.
    pub turns: usize,
    /// What is not committed yet.
    pub pending: Pending,
    /// The contents of the working state by region: `^sys`, `^seq`, `^ah`.
    pub regions: BTreeMap<String, Contents>,
    /// Nodes that expire with the coming commit.
    pub due: Vec<String>,
    /// The model call that is running. What is pending then belongs to the commit after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<LogCall>,
}

/// The newest snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusHead {
    /// The number of its commit.
    pub cycle: u32,
    /// Its digest.
    pub digest: String,
    /// The digest of the history up to here.
    pub history_digest: String,
}

/// The numbers of nodes that are not committed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// Added nodes; before the first commit all nodes.
    pub added: usize,
    /// Removed nodes.
    pub removed: usize,
    /// Changed nodes.
    pub changed: usize,
}

/// The contents of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// The number of blocks.
    pub blocks: usize,
    /// The bytes of their contents.
    pub bytes: u64,
}

/// Returns the state of a context.
///
/// # Errors
///
/// If the context cannot be read.
pub fn status(workspace: &Workspace, control: &Control<'_>) -> Result<StatusResponse, Error> {
    let _span = workspace.span("status");
    control.check()?;
    let mut reader = workspace.read()?;
    let (newest, working) = (reader.newest()?, reader.working()?);
    let tree = working.tree();
    let pending = match newest.snapshot() {
        Some(snapshot) => {
            let diff = diff(snapshot.view(), tree);
            Pending {
                added: diff.added.len(),
                removed: diff.removed.len(),
                changed: diff.changed.len(),
            }
        }
        // The root and three regions are there from the beginning.
        None => Pending { added: tree.node_count() - 4, removed: 0, changed: 0 },
    };
    let running = match reader.stored() {
        Some(stored) => stored.attempts()?.iter().rev().map(crate::wire::Attempt::from).next(),
        None => None,
    };
    let running = running.filter(|attempt| attempt.status == AttemptStatus::Running);
    let running = match running {
        Some(attempt) => {
            let mut questions = Questions::new(&reader)?;
            Some(LogCall::new(attempt, tree, &mut questions, &reader)?)
        }
        None => None,
    };
    let due = tree.nodes().filter(|(_, node)| node.ttl() == Some(0));
    Ok(StatusResponse {
        place: reader.place().to_owned(),
        edition: reader.edition().as_str().to_owned(),
        head: newest.snapshot().map(|snapshot| StatusHead {
            cycle: snapshot.cycle().get(),
            digest: snapshot.digest().to_string(),
            history_digest: snapshot.history_digest().to_string(),
        }),
        next_cycle: tree.next_cycle().get(),
        snapshots: reader.snapshot_count(),
        turns: tree.turn_count(),
        pending,
        regions: Region::ALL
            .into_iter()
            .map(|region| (region.word().to_owned(), contents(tree, region)))
            .collect(),
        due: due.map(|(_, node)| node.id().to_owned()).collect(),
        running,
    })
}

fn contents(tree: TreeRef<'_>, region: Region) -> Contents {
    let blocks = tree.region(region).subtree().filter(|(_, node)| node.class() == Class::Block);
    blocks.fold(Contents { blocks: 0, bytes: 0 }, |sum, (_, block)| Contents {
        blocks: sum.blocks + 1,
        bytes: sum.bytes + block.content().byte_len() as u64,
    })
}
