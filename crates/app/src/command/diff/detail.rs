//! The nodes of a diff, and where they are in the threads.

use std::collections::BTreeMap;

use contextree::canon::thread::thread_positions;
use contextree::{Class, CommitReport, Cycle, Edition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{self, Diff, Node, Report};
use crate::workspace::State;

/// The nodes of a diff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffDetail {
    /// Added nodes, as they are in the newer state.
    pub added: Vec<Node>,
    /// Removed nodes, as they are in the older state.
    pub removed: Vec<Node>,
    /// Changed nodes, on both sides, with the names of the fields that differ.
    pub changed: Vec<ChangedNode>,
    /// Where the blocks among these nodes are in the threads of the two states.
    #[serde(default)]
    pub positions: Vec<ThreadPosition>,
    /// The bytes of all contents in the older state.
    pub bytes_before: u64,
    /// The bytes of all contents in the newer state.
    pub bytes_after: u64,
    /// The bytes of the older state's thread.
    pub thread_bytes: u64,
    /// The bytes at the beginning of the thread that both states share.
    pub thread_bytes_shared: u64,
    /// The reports of the commits between the two states, oldest first.
    pub reports: Vec<Report>,
}

/// A changed node on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedNode {
    /// The node in the older state.
    pub before: Node,
    /// The node in the newer state.
    pub after: Node,
    /// The fields that differ.
    pub fields: Vec<String>,
}

/// The place of a block in the threads of two states, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadPosition {
    /// The block.
    pub id: String,
    /// Its place in the older thread, if it is there.
    pub before: Option<usize>,
    /// Its place in the newer thread, if it is there.
    pub after: Option<usize>,
}

pub(super) fn of(
    diff: &Diff,
    older: &State,
    newer: &State,
    reports: &BTreeMap<Cycle, CommitReport>,
    edition: Edition,
) -> DiffDetail {
    let nodes = |state: &State, ids: &[String]| -> Vec<Node> {
        wire::nodes(ids.iter().filter_map(|id| state.tree().get(id)), edition)
    };
    let changed = diff.changed.iter().filter_map(|changed| {
        Some(ChangedNode {
            before: Node::new(older.tree().get(&changed.id)?, edition),
            after: Node::new(newer.tree().get(&changed.id)?, edition),
            fields: changed.fields.clone(),
        })
    });
    let bytes = |state: &State| -> u64 {
        let blocks = state.tree().nodes().filter(|(_, node)| node.class() == Class::Block);
        blocks.map(|(_, block)| block.content().byte_len() as u64).sum()
    };
    let (before, after) = (contextree::thread(older.tree()), contextree::thread(newer.tree()));
    let shared = before.iter().zip(&after).take_while(|(left, right)| left == right).count();
    DiffDetail {
        added: nodes(newer, &diff.added),
        removed: nodes(older, &diff.removed),
        changed: changed.collect(),
        positions: positions(diff, older, newer),
        bytes_before: bytes(older),
        bytes_after: bytes(newer),
        thread_bytes: before.len() as u64,
        thread_bytes_shared: shared as u64,
        reports: reports.values().map(Report::from).collect(),
    }
}

/// Maps a diff to the threads (06§4.4): added blocks, removed ones, changed ones.
fn positions(diff: &Diff, older: &State, newer: &State) -> Vec<ThreadPosition> {
    let (before, after) = (thread_positions(older.tree()), thread_positions(newer.tree()));
    let at = |id: &str, in_older: bool, in_newer: bool| {
        let find = |wanted: bool, positions: &BTreeMap<&str, usize>| {
            positions.get(id).copied().filter(|_| wanted)
        };
        let (before, after) = (find(in_older, &before), find(in_newer, &after));
        let is_block = before.is_some() || after.is_some();
        is_block.then(|| ThreadPosition { id: id.to_owned(), before, after })
    };
    let added = diff.added.iter().filter_map(|id| at(id, false, true));
    let removed = diff.removed.iter().filter_map(|id| at(id, true, false));
    let changed = diff.changed.iter().filter_map(|changed| at(&changed.id, true, true));
    added.chain(removed).chain(changed).collect()
}
