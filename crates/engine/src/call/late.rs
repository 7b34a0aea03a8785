//! The state of a running call, and the working state without it.

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::record::Encoded;
use contextree_tree::diff::{Pair, written};
use contextree_tree::{Body, Cycle, Draft, NodeData, NodeKey, NodeRef, Region, TreeRef};

use crate::error::OpError;
use crate::place::{core_of, has_direct_core};
use crate::report::CommitReport;
use crate::snapshot::Snapshot;
use crate::work::Counters;

/// A call between its beginning and its end.
#[derive(Debug)]
pub(crate) struct RunningCall {
    /// The id of its attempt.
    pub(crate) attempt: String,
    /// The snapshot that is sent; it becomes part of the history when the call is completed.
    pub(crate) snapshot: Snapshot,
    /// The report of the commit that made it.
    pub(crate) report: CommitReport,
    /// The creation stamp that is reserved for the answer.
    pub(crate) answer_ns: i64,
    /// The working state before the call, on the line of the history. The call itself is on a fork until it is completed.
    pub(crate) before: Before,
    /// The record of the commit, if a store has it.
    pub(crate) record: Option<Encoded>,
}

/// A working state.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) draft: Draft,
    pub(crate) counters: Counters,
}

impl RunningCall {
    /// Returns the working tree before the call.
    pub(crate) fn before(&self) -> TreeRef<'_> {
        self.before.draft.view()
    }

    /// Returns the error of an operation on a node of the request.
    pub(crate) fn refuse(&self, node: &str) -> OpError {
        OpError::AttemptRunning { node: node.to_owned(), attempt: self.attempt.clone() }
    }

    /// Returns the working state as it would be if the call were canceled now.
    pub(crate) fn canceled(&self, now: TreeRef<'_>, counters: &Counters) -> (Draft, Counters) {
        let (draft, before) = (self.before.draft.fork(), self.before.counters.clone());
        self.replay(draft, before, now, counters)
    }

    /// Like [`RunningCall::canceled`], but without a copy.
    pub(crate) fn into_canceled(
        mut self,
        now: TreeRef<'_>,
        counters: &Counters,
    ) -> (Draft, Counters) {
        let empty = Before { draft: self.snapshot.tree().fork(), counters: Counters::default() };
        let Before { draft, counters: before } = std::mem::replace(&mut self.before, empty);
        self.replay(draft, before, now, counters)
    }

    /// Repeats what was done while the call was running on the state before it.
    ///
    /// Nodes of the request can only have been pinned or given another priority. Nodes that were added become part of the cycle that is in
    /// progress again: ids and stamps stay, and their ttl counts from this cycle on.
    fn replay(
        &self,
        mut draft: Draft,
        mut before: Counters,
        now: TreeRef<'_>,
        counters: &Counters,
    ) -> (Draft, Counters) {
        if counters.operations.is_empty() {
            return (draft, before);
        }
        // What the commit itself made, such as the turn, may have the id of a node that expired: stamps tell them apart.
        let last_ns = before.last_ns;
        let is_old = move |node: NodeRef<'_>| node.created_at_ns() <= last_ns;
        let mut late = Vec::new();
        for pair in written(self.snapshot.view(), now) {
            match pair {
                Pair::Added(node) => late.push(node),
                Pair::Both(_, new) if !is_old(new) => {}
                Pair::Both(old, new) => {
                    // A placeholder has an old stamp, too, but only the commit made it.
                    if old.policy() != new.policy() && draft.view().contains(new.key_of()) {
                        draft.set_policy(new.key_of(), new.policy());
                    }
                }
                Pair::Removed(_) => {}
            }
        }
        // A core that was made while the call was running is not needed if there is one already.
        let head = draft.view().region(Region::Head);
        let core = core_of(head).or_else(|| has_direct_core(head).then_some(head));
        let core = core.map(NodeRef::key_of);
        if core.is_some() {
            late.retain(|node| !is_head_core(*node));
        }
        let mut by_stamp: Vec<_> = late
            .iter()
            .map(|node| (node.created_at_ns(), node.creation_index(), node.key_of()))
            .collect();
        by_stamp.sort_unstable();
        let indices: BTreeMap<NodeKey, u32> =
            by_stamp.into_iter().map(|(_, _, key)| key).zip(before.next_index..).collect();
        let cycle = draft.view().next_cycle();
        let mut added = BTreeSet::new();
        for node in late {
            let view = draft.view();
            let mut data = copy_of(node);
            let mut below = node;
            let parent = loop {
                let Some(parent) = below.parent() else { break view.region(Region::Head).key_of() };
                match core {
                    Some(core) if is_head_core(parent) => break core,
                    // Attached to the turn that the call would have sealed: it is the head still.
                    _ if parent.id() == self.report.sealed => {
                        break view.region(Region::Head).key_of();
                    }
                    _ if is_old(parent) || added.contains(&parent.key_of()) => {
                        break parent.key_of();
                    }
                    // Attached to something that only the commit made, as a compaction does: it takes its place.
                    _ => {
                        below = parent;
                        data.offset = parent.offset();
                    }
                }
            };
            data.cycle = cycle;
            data.creation_index = indices.get(&node.key_of()).copied().unwrap_or_default();
            data.expires = node.expires().map(Cycle::previous);
            added.insert(draft.insert(parent, data));
        }
        before.next_index += u32::try_from(indices.len()).unwrap_or(u32::MAX);
        before.last_ns = counters.last_ns;
        before.operations.extend(counters.operations.iter().cloned());
        before.warnings.extend(counters.warnings.iter().cloned());
        (draft, before)
    }
}

/// True for the core of the head.
fn is_head_core(node: NodeRef<'_>) -> bool {
    let in_head = node.parent().is_some_and(|parent| parent.as_region() == Some(Region::Head));
    in_head && node.is_core()
}

fn copy_of(node: NodeRef<'_>) -> NodeData {
    let mut data = NodeData::new(node.id(), node.node_type());
    data.offset = node.offset();
    data.priority = node.priority();
    data.created_at_ns = node.created_at_ns();
    data.role = node.role().map(Into::into);
    data.kind = node.kind().map(Into::into);
    data.removable = node.is_removable();
    data.pinned = node.is_pinned();
    data.policy = node.policy();
    if let Some(body) = node.body() {
        data.body = Body::new(body.content.clone(), body.attributes.clone());
    }
    data
}
