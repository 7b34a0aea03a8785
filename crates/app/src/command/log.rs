//! `log`: the history, one entry for each commit.

use std::collections::BTreeMap;

use contextree::diff::diff;
use contextree::{Class, CommitReport, NodeRef, Region, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::Report;
use crate::{Control, Error, Workspace};

/// Lists the snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogRequest {
    /// Returns at most this many entries, the newest.
    pub limit: Option<usize>,
    /// Returns the oldest first.
    pub reverse: bool,
    /// Returns the reports of the commits as well.
    pub reports: bool,
}

/// The snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogResponse {
    /// One for each snapshot.
    pub entries: Vec<LogEntry>,
    /// The number of older snapshots that were left out.
    pub left_out: usize,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    /// `@t0` for the newest snapshot, `@t-1` for the one before.
    pub address: String,
    /// The number of the commit.
    pub cycle: u32,
    /// The digest of the snapshot.
    pub digest: String,
    /// The digest of the history up to here.
    pub history_digest: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of blocks.
    pub blocks: u64,
    /// The bytes of all contents.
    pub bytes: u64,
    /// The turn that the commit sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// When it was sealed, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_at_ns: Option<i64>,
    /// The same as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_at_iso: Option<String>,
    /// The number of added nodes; absent for the oldest snapshot of a history that does not begin with the first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// The number of removed nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// The number of changed nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<usize>,
    /// What the commit did, if it was asked for and is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// Lists the snapshots, newest first.
///
/// # Errors
///
/// If the context cannot be read.
pub fn log(
    workspace: &Workspace,
    request: &LogRequest,
    control: &Control<'_>,
) -> Result<LogResponse, Error> {
    let _span = workspace.span("log");
    let mut reader = workspace.read()?;
    let limit = request.limit.unwrap_or(usize::MAX);
    // One more, to compare the last one with.
    let snapshots = reader.newest_snapshots(limit.saturating_add(1))?;
    let shown = snapshots.len().min(limit);
    let reports = match (request.reports, snapshots.first(), snapshots[..shown].last()) {
        (true, Some(newest), Some(oldest)) => {
            reader.reports(oldest.cycle().saturating_sub(1), newest.cycle())?
        }
        _ => BTreeMap::new(),
    };
    let mut entries = Vec::new();
    for (back, snapshot) in snapshots[..shown].iter().enumerate() {
        control.check()?;
        let before = snapshots.get(back + 1);
        entries.push(entry(snapshot, back, before, reports.get(&snapshot.cycle())));
    }
    if request.reverse {
        entries.reverse();
    }
    Ok(LogResponse { entries, left_out: reader.snapshot_count() - shown })
}

fn entry(
    snapshot: &Snapshot,
    back: usize,
    before: Option<&Snapshot>,
    report: Option<&CommitReport>,
) -> LogEntry {
    let changes = match before {
        Some(before) => {
            let diff = diff(before.view(), snapshot.view());
            Some([diff.added.len(), diff.removed.len(), diff.changed.len()])
        }
        // Before the first commit there are the root and three regions.
        None if snapshot.cycle() == 1 => Some([snapshot.view().node_count() - 4, 0, 0]),
        None => None,
    };
    let all = snapshot.view().nodes().filter(|(_, node)| node.class() == Class::Block);
    let (blocks, bytes) = all.fold((0, 0), |(number, bytes), (_, block)| {
        (number + 1, bytes + block.content().byte_len() as u64)
    });
    let turn = sealed(snapshot);
    LogEntry {
        address: if back == 0 { "@t0".to_owned() } else { format!("@t-{back}") },
        cycle: snapshot.cycle(),
        digest: snapshot.digest().to_string(),
        history_digest: snapshot.history_digest().to_string(),
        nodes: snapshot.view().node_count(),
        blocks,
        bytes,
        turn: turn.map(|turn| turn.id().to_owned()),
        sealed_at_ns: turn.map(|turn| turn.created_at_ns()),
        sealed_at_iso: turn.map(|turn| turn.created_at_iso()),
        added: changes.map(|changes| changes[0]),
        removed: changes.map(|changes| changes[1]),
        changed: changes.map(|changes| changes[2]),
        report: report.map(Report::from),
    }
}

/// Returns the turn that the commit sealed: the newest one.
fn sealed(snapshot: &Snapshot) -> Option<NodeRef<'_>> {
    snapshot.view().region(Region::Seq).children_rev().next()
}
