//! `timeline`: the calls of a context in order, by the user message that each serves.

use std::collections::BTreeMap;

use contextree::diff::diff;
use contextree::{CommitReport, Cycle, NodeRef, Region, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::rows::excerpt;
use crate::wire::Attempt;
use crate::{Control, Error, Workspace};
use contextree::calls::tokenizer_of;

/// Lists the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimelineRequest {
    /// Returns at most this many commits, the newest.
    pub limit: Option<usize>,
}

/// The calls of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineResponse {
    /// One for each commit, oldest first. The last one is the coming commit if a call is running, or ended without a commit.
    pub calls: Vec<TimelineCall>,
    /// The user messages that the calls serve, in the order of the calls.
    pub messages: Vec<TimelineMessage>,
    /// The number of older commits that were left out.
    pub left_out: usize,
    /// The number of the coming commit.
    pub next_cycle: u32,
    /// The provider of the newest call; absent if none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model of the newest call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What counts tokens for this model.
    pub tokenizer: String,
}

/// One commit, with the attempts that led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineCall {
    /// The number of the commit.
    pub cycle: u32,
    /// False for the coming commit, which has no snapshot yet.
    pub committed: bool,
    /// The message that it serves, by its position in `messages`; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<usize>,
    /// When it was sealed, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_at_ns: Option<i64>,
    /// The number of nodes of the snapshot.
    pub nodes: usize,
    /// The numbers of nodes that differ from the snapshot before; absent for the oldest one of a history that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<TimelineChanges>,
    /// Nodes that expired.
    pub expired: usize,
    /// Nodes that were pruned.
    pub pruned: usize,
    /// Tool results that were cleared: a placeholder took their place.
    #[serde(default)]
    pub cleared: usize,
    /// Nodes that the next request of a log no longer had.
    pub dropped: usize,
    /// The attempts, oldest first. At most one of them is completed.
    pub attempts: Vec<Attempt>,
}

/// How many nodes differ from the snapshot before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineChanges {
    /// Added nodes.
    pub added: usize,
    /// Removed nodes.
    pub removed: usize,
    /// Changed nodes.
    pub changed: usize,
}

/// A user message that calls serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineMessage {
    /// The node.
    pub node: String,
    /// The beginning of its content; absent if no snapshot has the node any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// Lists the calls and commits of a context, oldest first. Costs what the commits changed.
///
/// # Errors
///
/// If the context cannot be read.
pub fn timeline(
    workspace: &Workspace,
    request: &TimelineRequest,
    control: &Control<'_>,
) -> Result<TimelineResponse, Error> {
    let _span = workspace.span("timeline");
    control.check()?;
    let mut reader = workspace.read()?;
    let limit = control.page(request.limit);
    // One more, to compare the oldest one with.
    let mut snapshots = reader.newest_snapshots(limit.saturating_add(1), control)?;
    snapshots.reverse();
    let shown = snapshots.len().min(limit);
    let extra = snapshots.len() - shown;
    let reports = match (snapshots.first(), snapshots.last()) {
        (Some(first), Some(last)) => reader.reports(first.cycle().previous(), last.cycle())?,
        _ => BTreeMap::new(),
    };
    let mut attempts = super::log::attempts(&reader)?;
    let mut messages = Messages::default();
    let mut calls = Vec::new();
    for (index, snapshot) in snapshots.iter().enumerate().skip(extra) {
        control.check()?;
        let before = index.checked_sub(1).and_then(|index| snapshots.get(index));
        let mut call = committed(snapshot, before, reports.get(&snapshot.cycle()));
        call.attempts = attempts.remove(&snapshot.cycle()).unwrap_or_default();
        call.serves = messages.served(&call.attempts, |id| snapshot.view().get(id));
        calls.push(call);
    }
    let working = reader.working()?;
    let next_cycle = working.tree().next_cycle().get();
    // While a call runs, the working state belongs to the commit after it.
    let newest = snapshots.last().map_or(Cycle::ZERO, Snapshot::cycle);
    for (cycle, attempts) in attempts.split_off(&newest.next()) {
        calls.push(TimelineCall {
            cycle: cycle.get(),
            committed: false,
            serves: messages.served(&attempts, |id| working.tree().get(id)),
            sealed_at_ns: None,
            nodes: working.tree().node_count(),
            changes: None,
            expired: 0,
            pruned: 0,
            cleared: 0,
            dropped: 0,
            attempts,
        });
    }
    let known = Known::find(&mut reader, working.tree(), None)?;
    let tokenizer = known.as_ref().map_or_else(Default::default, |known| {
        tokenizer_of(known.provider, known.model.as_deref())
    });
    Ok(TimelineResponse {
        calls,
        messages: messages.list,
        left_out: reader.snapshot_count() - shown,
        next_cycle,
        tokenizer: tokenizer.name().to_owned(),
        provider: known.as_ref().map(|known| known.provider.name().to_owned()),
        model: known.and_then(|known| known.model),
    })
}

fn committed(
    snapshot: &Snapshot,
    before: Option<&Snapshot>,
    report: Option<&CommitReport>,
) -> TimelineCall {
    let changes = match before {
        Some(before) => {
            let diff = diff(before.view(), snapshot.view());
            let (added, removed) = (diff.added.len(), diff.removed.len());
            Some(TimelineChanges { added, removed, changed: diff.changed.len() })
        }
        // Before the first commit there are the root and three regions.
        None if snapshot.cycle() == 1 => {
            let added = snapshot.view().node_count().saturating_sub(4);
            Some(TimelineChanges { added, removed: 0, changed: 0 })
        }
        None => None,
    };
    let sealed = snapshot.view().region(Region::Seq).children_rev().next();
    TimelineCall {
        cycle: snapshot.cycle().get(),
        committed: true,
        serves: None,
        sealed_at_ns: sealed.map(NodeRef::created_at_ns),
        nodes: snapshot.view().node_count(),
        changes,
        expired: report.map_or(0, |report| report.expired.len()),
        pruned: report.map_or(0, |report| report.pruned.len()),
        cleared: report.map_or(0, |report| report.cleared.len()),
        dropped: report.map_or(0, |report| report.dropped.len()),
        attempts: Vec::new(),
    }
}

/// The messages that were met, each once.
#[derive(Default)]
struct Messages {
    list: Vec<TimelineMessage>,
    index: BTreeMap<String, usize>,
}

impl Messages {
    /// Returns the position of the message that the newest of some attempts serves.
    fn served<'t>(
        &mut self,
        attempts: &[Attempt],
        find: impl FnOnce(&str) -> Option<NodeRef<'t>>,
    ) -> Option<usize> {
        let id = attempts.iter().rev().find_map(|attempt| attempt.serves.as_deref())?;
        if let Some(index) = self.index.get(id) {
            return Some(*index);
        }
        let index = self.list.len();
        self.index.insert(id.to_owned(), index);
        self.list
            .push(TimelineMessage { node: id.to_owned(), excerpt: find(id).and_then(excerpt) });
        Some(index)
    }
}
