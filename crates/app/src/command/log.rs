//! `log`: the history, one entry for each commit, with the model call that it was sent in.

use std::collections::BTreeMap;

use contextree::diff::diff;
use contextree::{Class, CommitReport, Cycle, NodeRef, Region, Snapshot, TreeRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rows::excerpt;
use crate::wire::{Attempt, AttemptStatus, Report};
use crate::workspace::Reader;
use crate::{Control, Error, Workspace};

/// Lists the snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogRequest {
    /// Returns at most this many entries, the newest.
    pub limit: Option<usize>,
    /// Only entries before this commit: to go on, the `cycle` of the oldest entry so far. The calls since the newest snapshot are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
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
    /// The calls since the newest snapshot: the running one, and those that were canceled or failed.
    pub open: Vec<LogCall>,
}

/// A model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogCall {
    /// The attempt: `attempt:12.1`.
    pub attempt: String,
    /// Whether it is still running, and how it ended.
    pub status: AttemptStatus,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// When it was started, in nanoseconds since 1970.
    pub started_at: i64,
    /// How long it took, in milliseconds; absent while it is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_in: Option<u64>,
    /// Of these, tokens that were read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Tokens received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_out: Option<u64>,
    /// Why the model stopped, in the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The user message that it serves, by node id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<String>,
    /// The beginning of that message, also after a compaction dropped it; absent if no snapshot has it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

impl LogCall {
    /// Returns a call that was made with a tree.
    pub(super) fn new(
        attempt: Attempt,
        tree: TreeRef<'_>,
        questions: &mut Questions,
        reader: &Reader,
    ) -> Result<Self, Error> {
        let nanoseconds = attempt.ended_at.map(|ended| ended.saturating_sub(attempt.started_at));
        let question = match attempt.serves.as_deref() {
            Some(id) => questions.excerpt(id, tree, reader)?,
            None => None,
        };
        Ok(LogCall {
            attempt: attempt.attempt_id,
            status: attempt.status,
            provider: attempt.provider,
            model: attempt.answered_by.unwrap_or(attempt.model),
            started_at: attempt.started_at,
            duration_ms: nanoseconds.map(|it| it.max(0).unsigned_abs() / 1_000_000),
            token_in: attempt.token_in,
            cached: attempt.cache_read,
            token_out: attempt.token_out,
            stop_reason: attempt.stop_reason,
            error: attempt.error,
            serves: attempt.serves,
            question,
        })
    }
}

/// The beginnings of the user messages that calls serve, by node id.
pub(super) struct Questions {
    /// The first completed call that serves a message, by its commit: it was sent with the message.
    first: BTreeMap<String, Cycle>,
    excerpts: BTreeMap<String, Option<String>>,
}

impl Questions {
    /// Returns the messages that the calls of a context serve.
    pub(super) fn new(reader: &Reader) -> Result<Self, Error> {
        let mut first = BTreeMap::new();
        if let Some(stored) = reader.stored() {
            let completed = stored.attempts()?.iter();
            for call in completed.filter(|it| it.status == contextree::AttemptStatus::Completed) {
                let Some(id) = &call.serves else { continue };
                first.entry(id.clone()).or_insert(call.cycle_id);
            }
        }
        Ok(Questions { first, excerpts: BTreeMap::new() })
    }

    /// Returns the beginning of a message. A tree that continues a compaction does not have it: it is then read from the first
    /// snapshot that was sent with it.
    fn excerpt(
        &mut self,
        id: &str,
        tree: TreeRef<'_>,
        reader: &Reader,
    ) -> Result<Option<String>, Error> {
        if let Some(known) = self.excerpts.get(id) {
            return Ok(known.clone());
        }
        let mut found = tree.get(id).and_then(excerpt);
        if let (None, Some(cycle)) = (&found, self.first.get(id)) {
            let position = reader.position_after(cycle.previous())?;
            let snapshot = reader.snapshots_at(position, position + 1, &Control::default())?.pop();
            found = snapshot.and_then(|snapshot| excerpt(snapshot.view().get(id)?));
        }
        self.excerpts.insert(id.to_owned(), found.clone());
        Ok(found)
    }
}

/// Returns the attempts of a context, by the commit that they led to or would have led to.
pub(super) fn attempts(reader: &Reader) -> Result<BTreeMap<Cycle, Vec<Attempt>>, Error> {
    let mut found: BTreeMap<Cycle, Vec<Attempt>> = BTreeMap::new();
    if let Some(stored) = reader.stored() {
        for attempt in stored.attempts()? {
            found.entry(attempt.cycle_id).or_default().push(attempt.into());
        }
    }
    Ok(found)
}

/// Returns the completed call of a snapshot, and the number of those before it that were not.
fn made(
    mut attempts: Vec<Attempt>,
    snapshot: &Snapshot,
    questions: &mut Questions,
    reader: &Reader,
) -> Result<(Option<LogCall>, usize), Error> {
    let completed = attempts.iter().position(|it| it.status == AttemptStatus::Completed);
    let call =
        completed.map(|at| LogCall::new(attempts.remove(at), snapshot.view(), questions, reader));
    Ok((call.transpose()?, attempts.len()))
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
    /// The model call that this snapshot was sent in; absent if it was committed without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<LogCall>,
    /// The number of calls before it that were canceled or failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retried: usize,
    /// What the commit did, if it was asked for and is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
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
    let limit = control.page(request.limit);
    let count = reader.snapshot_count();
    let end = match request.before {
        Some(cycle) => reader.position_after(Cycle(cycle).previous())?.min(count),
        None => count,
    };
    // One more, to compare the last one with.
    let first = end.saturating_sub(limit.saturating_add(1));
    let mut snapshots = reader.snapshots_at(first, end, control)?;
    snapshots.reverse();
    let shown = snapshots.len().min(limit);
    let reports = match (request.reports, snapshots.first(), snapshots[..shown].last()) {
        (true, Some(newest), Some(oldest)) => {
            reader.reports(oldest.cycle().previous(), newest.cycle())?
        }
        _ => BTreeMap::new(),
    };
    let mut attempts = attempts(&reader)?;
    let mut questions = Questions::new(&reader)?;
    let mut entries = Vec::new();
    for (index, snapshot) in snapshots[..shown].iter().enumerate() {
        control.check()?;
        let before = snapshots.get(index + 1);
        let mut entry =
            entry(snapshot, count - end + index, before, reports.get(&snapshot.cycle()));
        let of_cycle = attempts.remove(&snapshot.cycle()).unwrap_or_default();
        (entry.call, entry.retried) = made(of_cycle, snapshot, &mut questions, &reader)?;
        entries.push(entry);
    }
    let open = match request.before {
        Some(_) => BTreeMap::new(),
        None => {
            let newest = snapshots.first().map_or(Cycle::ZERO, Snapshot::cycle);
            attempts.split_off(&newest.next())
        }
    };
    let open = open.into_values().flatten();
    let working = reader.working()?;
    let open = open.map(|attempt| LogCall::new(attempt, working.tree(), &mut questions, &reader));
    let open = open.collect::<Result<_, _>>()?;
    if request.reverse {
        entries.reverse();
    }
    Ok(LogResponse { entries, left_out: end - shown, open })
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
        cycle: snapshot.cycle().get(),
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
        call: None,
        retried: 0,
        report: report.map(Report::from),
    }
}

/// Returns the turn that the commit sealed: the newest one.
fn sealed(snapshot: &Snapshot) -> Option<NodeRef<'_>> {
    snapshot.view().region(Region::Seq).children_rev().next()
}
