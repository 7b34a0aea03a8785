//! Turns what happened in a context into records.

use contextree_canon::Hash;
use contextree_canon::record::{Encoded, WorkCounters, write_base, write_commit, write_work};
use contextree_json::Value;
use contextree_tree::{Class, Log, NodeRef};

use super::account;
use crate::attempt::Attempt;
use crate::context::Context;
use crate::report::CommitReport;
use crate::snapshot::Snapshot;

/// What was already taken from a context, and what must be kept until it is.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// Number of loaded snapshots that were already recorded.
    snapshots: usize,
    /// Number of operations and warnings of the working state that were already recorded.
    operations: usize,
    warnings: usize,
    counters: WorkCounters,
    /// The reports of commits made since.
    pub(crate) reports: Vec<CommitReport>,
    /// Attempts started or ended since.
    pub(crate) attempts: Vec<String>,
}

/// Everything that happened, as records.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The commits, oldest first.
    pub commits: Vec<CommitRecord>,
    /// Changes of the working state, if any.
    pub work: Option<Encoded>,
    /// Attempts that were started or ended.
    pub attempts: Vec<Attempt>,
}

impl Records {
    /// Returns whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.work.is_none() && self.attempts.is_empty()
    }
}

/// The record of a commit.
#[derive(Clone, Debug)]
pub struct CommitRecord {
    /// Its number.
    pub cycle: u32,
    /// The digest of the snapshot.
    pub digest: Hash,
    /// The record.
    pub record: Encoded,
}

impl Context {
    /// Starts recording for [`Context::take_records`]. The first records include everything that
    /// already exists, as for a context that was never stored.
    pub fn record_all(&mut self) {
        self.recorder = Some(Recorder::default());
        self.draft.watch();
        if self.history.is_empty() {
            let fixed = |node: &NodeRef<'_>| matches!(node.class(), Class::Root | Class::Region);
            let keys: Vec<_> = self
                .draft
                .view()
                .nodes()
                .map(|(_, node)| node)
                .filter(|node| !fixed(node))
                .map(NodeRef::key_of)
                .collect();
            keys.into_iter().for_each(|key| self.draft.mark_changed(key));
        }
    }

    /// Like [`Context::record_all`], but for a context that is already stored in its current state.
    pub fn record_changes(&mut self) {
        self.draft.watch();
        drop(self.draft.take_changed());
        let mut recorder = Recorder { snapshots: self.history.len(), ..Recorder::default() };
        recorder.note_work(self);
        self.recorder = Some(recorder);
    }

    /// Includes everything since the last commit in the next record of work.
    pub fn mark_work_changed(&mut self) {
        self.draft.watch();
        if let Some(recorder) = &mut self.recorder {
            (recorder.operations, recorder.warnings) = (0, 0);
        }
    }

    /// Drops all snapshots in memory except the newest, for a context whose history is kept in a
    /// store, and frees everything that only they used. Addresses before it are `E_NOT_LOADED` from
    /// then on. The cost is proportional to the newest snapshot. Returns false and does nothing if
    /// there are changes since the newest snapshot or records that were not taken.
    pub fn forget_history(&mut self) -> bool {
        let Some(head) = self.history.last().filter(|_| self.is_settled()) else { return false };
        if self.history.len() < 2 {
            return false;
        }
        let head = head.compacted();
        self.draft = head.tree().continue_branch();
        self.skipped += self.history.len() - 1;
        self.history = Log::default();
        self.history.push(head);
        self.record_changes();
        true
    }

    /// Returns whether there are no changes since the newest snapshot, and all records were taken.
    pub(crate) fn is_settled(&self) -> bool {
        let counters = &self.counters;
        let recorder = self.recorder.as_ref();
        recorder.is_some_and(|recorder| recorder.snapshots == self.history.len())
            && counters.operations.is_empty()
            && counters.warnings.is_empty()
            && counters.next_index == 0
    }

    /// Returns the tree before the first commit of the history, that is, root and regions, and the
    /// number of its first commit.
    #[must_use]
    pub fn base_record(&self) -> (u32, Encoded) {
        match self.history.get(0) {
            Some(first) => (first.cycle(), write_base(first.view(), first.cycle())),
            None => (self.next_cycle(), write_base(self.working(), self.next_cycle())),
        }
    }

    /// Returns everything that happened since the last call. The cost is proportional to the
    /// changes. Empty unless the context is recorded.
    pub fn take_records(&mut self) -> Records {
        let Some(mut recorder) = self.recorder.take() else { return Records::default() };
        let mut reports = std::mem::take(&mut recorder.reports).into_iter().peekable();
        let mut records = Records::default();
        for index in recorder.snapshots..self.history.len() {
            let Some(snapshot) = self.history.get(index) else { continue };
            let before = index.checked_sub(1).and_then(|before| self.history.get(before));
            let report = reports.next_if(|report| report.cycle == snapshot.cycle());
            let account = report.as_ref().map_or(Value::Null, account::of_report);
            let before = before.map(Snapshot::view);
            records.commits.push(CommitRecord {
                cycle: snapshot.cycle(),
                digest: snapshot.digest(),
                record: write_commit(before, snapshot.tree(), snapshot.last_ns, &account),
            });
        }
        if !records.commits.is_empty() {
            (recorder.operations, recorder.warnings) = (0, 0);
            recorder.counters =
                WorkCounters { last_ns: self.head().map_or(0, |head| head.last_ns), next_index: 0 };
        }
        records.work = self.take_work(&recorder);
        let ids = std::mem::take(&mut recorder.attempts);
        let attempts = self.attempts().iter();
        records.attempts = attempts.filter(|one| ids.contains(&one.attempt_id)).cloned().collect();
        recorder.snapshots = self.history.len();
        recorder.note_work(self);
        self.recorder = Some(recorder);
        records
    }

    fn take_work(&mut self, recorder: &Recorder) -> Option<Encoded> {
        let changed = self.draft.take_changed();
        let counters = self.work_counters();
        let operations = &self.counters.operations[recorder.operations..];
        let warnings = &self.counters.warnings[recorder.warnings..];
        let unchanged = changed.is_empty() && operations.is_empty() && warnings.is_empty();
        if unchanged && counters == recorder.counters {
            return None;
        }
        let account = account::work(operations, warnings);
        let last = self.history.last().map(Snapshot::view);
        Some(write_work(last, self.draft.view(), &changed, counters, &account))
    }

    fn work_counters(&self) -> WorkCounters {
        WorkCounters { last_ns: self.counters.last_ns, next_index: self.counters.next_index }
    }
}

impl Recorder {
    fn note_work(&mut self, context: &Context) {
        self.operations = context.counters.operations.len();
        self.warnings = context.counters.warnings.len();
        self.counters = context.work_counters();
    }
}
