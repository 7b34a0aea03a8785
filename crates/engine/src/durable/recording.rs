//! Turns what happened in a context into records.

use std::collections::BTreeSet;
use std::sync::Arc;

use contextree_canon::Hash;
use contextree_canon::record::{
    BodyPlace, Encoded, RecordError, WorkCounters, apply, read_bodies, read_effects, write_base,
    write_commit, write_work,
};
use contextree_json::Value;
use contextree_tree::{Class, Cycle, Draft, Log, NodeKey, NodeRef};

use super::account;
use crate::attempt::Attempt;
use crate::cached::Cache;
use crate::call::Before;
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
    /// If the running call has begun since: what was done to the working state before it.
    begun: Option<Option<Encoded>>,
    /// A call that is stored as running and has ended since.
    ended: Option<String>,
    /// The stored record of the commit that it made, if it was completed.
    completed: Option<Encoded>,
    /// The working state was replaced: what is stored of it is void.
    replaced: bool,
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
    /// The call that has begun and is running. `work` is then what was done before it.
    pub begun: Option<PendingCall>,
    /// The attempt of a call that was stored as running and has ended.
    pub ended: Option<String>,
    /// If true, records of work that were stored before are void: `work` is the whole working state.
    pub replaces_work: bool,
}

/// A running call, as records.
#[derive(Clone, Debug)]
pub struct PendingCall {
    /// Its attempt.
    pub attempt: String,
    /// The creation stamp that is reserved for the answer.
    pub answer_ns: i64,
    /// The record of the commit that completing the call makes.
    pub commit: Encoded,
    /// What was done to the working state since the call has begun, if anything was.
    pub late: Option<Encoded>,
}

impl Records {
    /// Returns whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
            && self.work.is_none()
            && self.attempts.is_empty()
            && self.begun.is_none()
            && self.ended.is_none()
            && !self.replaces_work
    }
}

/// The record of a commit.
#[derive(Clone, Debug)]
pub struct CommitRecord {
    /// Its number.
    pub cycle: Cycle,
    /// The digest of the snapshot.
    pub digest: Hash,
    /// The record.
    pub record: Encoded,
}

impl Context {
    /// Starts recording for [`Context::take_records`]. The first records include everything that
    /// already exists, as for a context that was never stored.
    pub fn record_all(&mut self) {
        let mut recorder = Recorder::default();
        self.recorder = None;
        if let Some(mut call) = self.running.take() {
            std::mem::swap(&mut self.draft, &mut call.before.draft);
            self.mark_all_work();
            let changed = self.draft.take_changed();
            std::mem::swap(&mut self.draft, &mut call.before.draft);
            call.record = None;
            recorder.note_begin(self, &call.attempt, &call.before, &changed);
            self.running = Some(call);
        }
        self.recorder = Some(recorder);
        self.mark_all_work();
    }

    /// Decides whether records hold every content themselves; see [`ContextOptions::inline_contents`](crate::ContextOptions::inline_contents).
    pub fn set_inline_contents(&mut self, inline: bool) {
        Arc::make_mut(&mut self.settings).inline_contents = inline;
    }

    /// Puts the whole working state into the next record of work.
    pub(crate) fn mark_all_work(&mut self) {
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

    /// Includes everything since the last commit in the next record of work: also counters that are ahead of those of the newest
    /// snapshot although nothing else changed, as after a call without an answer.
    pub fn mark_work_changed(&mut self) {
        self.draft.watch();
        let Some(mut recorder) = self.recorder.take() else { return };
        recorder.forget_work(self);
        self.recorder = Some(recorder);
    }

    /// Puts the whole working state into the next records. What is stored of it is void then, so the
    /// records can follow another working state than the one that was recorded last.
    pub fn replace_work(&mut self) {
        let Some(mut recorder) = self.recorder.take() else { return };
        recorder.replaced = true;
        recorder.forget_work(self);
        self.mark_all_work();
        self.recorder = Some(recorder);
    }

    /// Returns an independent copy with the attempts, to try how something ends. Its first records are
    /// what is done to it.
    #[must_use]
    pub fn duplicate(&self) -> Context {
        let mut copy = self.fork_working();
        copy.attempts = self.attempts.clone();
        copy.record_changes();
        copy
    }

    /// Drops all snapshots in memory except the newest, for a context whose history is kept in a
    /// store, and frees everything that only they used. Addresses before it are `E_NOT_LOADED` from
    /// then on. The cost is proportional to the newest snapshot. Returns false without an effect if
    /// there are records that were not taken, or a call is running.
    pub fn forget_history(&mut self) -> bool {
        let Some(last) = self.history.last().filter(|_| self.is_recorded()) else { return false };
        if self.history.len() < 2 {
            return false;
        }
        let head = last.compacted();
        let mut draft = head.tree().continue_branch();
        if !self.draft.is_clean() {
            // What was done since is laid over the new tree, as if the context were opened again.
            self.draft.watch();
            let changed = self.draft.take_changed();
            let counters = self.work_counters();
            let view = self.draft.view();
            let shared_from = self.settings.shared_from();
            let work =
                write_work(Some(last.view()), view, &changed, counters, &Value::Null, shared_from);
            if lay(&mut draft, &work).is_err() {
                return false;
            }
        }
        self.draft = draft;
        // It may hold on to the rows that are freed here.
        self.cache = Cache::default();
        self.skipped += self.history.len() - 1;
        self.history = Log::default();
        self.history.push(head);
        self.record_changes();
        true
    }

    /// Returns whether all records were taken and no call is running.
    fn is_recorded(&self) -> bool {
        let recorder = self.recorder.as_ref().filter(|_| self.running.is_none());
        recorder.is_some_and(|recorder| {
            recorder.snapshots == self.history.len()
                && recorder.operations == self.counters.operations.len()
                && recorder.warnings == self.counters.warnings.len()
                && recorder.counters == self.work_counters()
                && !recorder.replaced
        })
    }

    /// Returns whether there are no changes since the newest snapshot, and all records were taken.
    pub(crate) fn is_settled(&self) -> bool {
        let counters = &self.counters;
        let recorder = self.recorder.as_ref().filter(|_| self.running.is_none());
        recorder.is_some_and(|recorder| recorder.snapshots == self.history.len())
            && counters.operations.is_empty()
            && counters.warnings.is_empty()
            && counters.next_index == 0
    }

    /// Returns the tree before the first commit of the history, that is, root and regions, and the
    /// number of its first commit.
    #[must_use]
    pub fn base_record(&self) -> (Cycle, Encoded) {
        match self.history.get(0) {
            Some(first) => (first.cycle(), write_base(first.view(), first.cycle())),
            None => {
                // A call that is running has the first commit of the history.
                let running = self.running.as_deref().map(|call| call.report.cycle);
                let first = running.unwrap_or_else(|| self.next_cycle());
                (first, write_base(self.working(), first))
            }
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
            let from = self.settings.shared_from();
            let write = || write_commit(before, snapshot.tree(), snapshot.last_ns, &account, from);
            // A call that was stored as running is completed before anything else is committed.
            let stored = recorder.completed.take();
            records.commits.push(CommitRecord {
                cycle: snapshot.cycle(),
                digest: snapshot.digest(),
                record: stored.unwrap_or_else(write),
            });
        }
        let begun = recorder.begun.take();
        if begun.is_none() {
            recorder.note_commits(self);
        }
        records.work = self.take_work(&recorder);
        records.ended = recorder.ended.take();
        records.replaces_work = std::mem::take(&mut recorder.replaced);
        if let Some(work) = begun {
            let late = std::mem::replace(&mut records.work, work);
            records.begun = self.pending_call(late);
        }
        let ids = std::mem::take(&mut recorder.attempts);
        let attempts = self.attempts();
        let find = |id: &String| attempts.iter().rposition(|one| one.attempt_id == *id);
        let places: BTreeSet<usize> = ids.iter().filter_map(find).collect();
        records.attempts = places.into_iter().map(|place| attempts[place].clone()).collect();
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
        let running = self.running.as_ref().map(|call| &call.snapshot);
        let last = running.or(self.history.last()).map(Snapshot::view);
        let shared_from = self.settings.shared_from();
        Some(write_work(last, self.draft.view(), &changed, counters, &account, shared_from))
    }

    /// Returns the record of the running call, and keeps the record of its commit for later.
    fn pending_call(&mut self, late: Option<Encoded>) -> Option<PendingCall> {
        let call = self.running.as_mut()?;
        let before = self.history.last().map(Snapshot::view);
        let (snapshot, account) = (&call.snapshot, account::of_report(&call.report));
        let from = self.settings.shared_from();
        let commit = write_commit(before, snapshot.tree(), snapshot.last_ns, &account, from);
        // Contents that are kept apart are stored with this record, not again when the call is completed.
        let (effects, bodies) = (commit.effects.clone(), commit.bodies.clone());
        call.record = Some(Encoded { effects, bodies, shared: Vec::new() });
        let (attempt, answer_ns) = (call.attempt.clone(), call.answer_ns);
        Some(PendingCall { attempt, answer_ns, commit, late })
    }

    fn work_counters(&self) -> WorkCounters {
        WorkCounters { last_ns: self.counters.last_ns, next_index: self.counters.next_index }
    }
}

/// Brings a draft to what a record of work says.
fn lay(draft: &mut Draft, work: &Encoded) -> Result<(), RecordError> {
    let effects = read_effects(&work.effects)?;
    let mut bodies: Vec<_> = read_bodies(&work.bodies)?.into_iter().map(Some).collect();
    let missing = || RecordError { message: "a body is missing".to_owned(), offset: 0 };
    apply(draft, effects.puts, &effects.gone, &mut |place| {
        let BodyPlace::Here(index) = place else { return Err(missing()) };
        let body = bodies.get_mut(index as usize).and_then(Option::take).ok_or_else(missing)?;
        let hash = body.shared();
        let shared = work.shared.iter().find(|content| Some(content.hash) == hash);
        body.into_body(shared.map(|content| &content.bytes[..]))
    })
}

impl Recorder {
    /// If there were commits, everything that was done before them is in their records.
    fn note_commits(&mut self, context: &Context) {
        if context.history.len() > self.snapshots {
            self.forget_work(context);
        }
    }

    /// Puts everything that was done since the newest snapshot into the next record of work.
    fn forget_work(&mut self, context: &Context) {
        (self.operations, self.warnings) = (0, 0);
        let last_ns = context.newest().map_or(0, |head| head.last_ns);
        self.counters = WorkCounters { last_ns, next_index: 0 };
    }

    /// Notes that a call has begun; `before` is the working state until then, with what was changed in it since the last record.
    pub(crate) fn note_begin(
        &mut self,
        context: &Context,
        attempt: &str,
        before: &Before,
        changed: &[NodeKey],
    ) {
        self.note_commits(context);
        let Before { draft, counters } = before;
        let operations = &counters.operations[self.operations..];
        let warnings = &counters.warnings[self.warnings..];
        let now = WorkCounters { last_ns: counters.last_ns, next_index: counters.next_index };
        let nothing = changed.is_empty() && operations.is_empty() && warnings.is_empty();
        let last = context.history.last().map(Snapshot::view);
        let work = (!nothing || now != self.counters).then(|| {
            let account = account::work(operations, warnings);
            write_work(last, draft.view(), changed, now, &account, context.settings.shared_from())
        });
        self.begun = Some(work);
        self.attempts.push(attempt.to_owned());
        (self.operations, self.warnings) = (0, 0);
    }

    /// Notes that the running call was completed, with the record of its commit if that is stored.
    pub(crate) fn note_complete(
        &mut self,
        context: &mut Context,
        attempt: &str,
        report: &CommitReport,
        record: Option<Encoded>,
    ) {
        self.note_end(attempt);
        self.completed = record;
        self.reports.push(report.clone());
        // The commit voids what is stored of the working state.
        context.mark_all_work();
    }

    /// Notes that the running call was canceled and the working state is that before it again.
    pub(crate) fn note_cancel(&mut self, context: &mut Context, attempt: &str, is_touched: bool) {
        if !self.note_end(attempt) || is_touched {
            self.replaced = true;
            self.forget_work(context);
            context.mark_all_work();
        } else {
            // All of it is stored as it is.
            drop(context.draft.take_changed());
            self.note_work(context);
        }
    }

    /// Notes that a call has ended; returns true if it is stored as running.
    fn note_end(&mut self, attempt: &str) -> bool {
        self.attempts.push(attempt.to_owned());
        let is_stored = self.begun.take().is_none();
        if is_stored {
            self.ended = Some(attempt.to_owned());
        }
        is_stored
    }

    pub(crate) fn note_work(&mut self, context: &Context) {
        self.operations = context.counters.operations.len();
        self.warnings = context.counters.warnings.len();
        self.counters = context.work_counters();
    }
}
