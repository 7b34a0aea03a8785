//! Restores a context from records.

use contextree_canon::record::{
    Effects, Encoded, FindBody, Fold, RecordError, Subject, WorkCounters, apply, build,
    read_effects,
};
use contextree_canon::{Hash, history_digest, snapshot_digest};
use contextree_tree::{Draft, Log, Tree};

use super::account;
use super::tail::Tail;
use crate::attempt::{Attempt, Attempts};
use crate::call::{Before, RunningCall};
use crate::context::{Context, ContextOptions};
use crate::report::{CommitReport, Operation, Warning};
use crate::snapshot::Snapshot;
use crate::work::Counters;
use crate::working::Working;

/// A context being restored: a first snapshot, the commits after it, and the work after those.
#[derive(Debug)]
pub struct Restore {
    draft: Draft,
    history: Log<Snapshot>,
    skipped: usize,
    digest: Hash,
    counters: WorkCounters,
    operations: Vec<Operation>,
    warnings: Vec<Warning>,
    checks: bool,
    /// The tree before the first commit, while there is none.
    base: Option<Tree>,
    running: Option<Box<RunningCall>>,
}

fn fail(message: String) -> RecordError {
    RecordError { message, offset: 0 }
}

impl Restore {
    /// Starts with the fold of a checkpoint and of commits after it. With `checks`, every digest is
    /// recomputed and compared with the record's.
    ///
    /// # Errors
    ///
    /// If a record is damaged.
    pub fn begin(
        fold: Fold<'_>,
        checks: bool,
        find_body: &mut FindBody<'_>,
    ) -> Result<Restore, RecordError> {
        let heading = *fold.heading();
        let tree = fold.build(find_body)?;
        let mut restore = Restore {
            draft: tree.continue_branch(),
            history: Log::default(),
            skipped: 0,
            digest: heading.history,
            counters: WorkCounters { last_ns: heading.last_ns, next_index: 0 },
            operations: Vec::new(),
            warnings: Vec::new(),
            checks,
            base: None,
            running: None,
        };
        if heading.snapshots > 0 {
            restore.settle(&tree, heading.digest)?;
            restore.history.push(Snapshot::restored(tree, heading.last_ns, heading.history));
        } else {
            restore.base = Some(tree);
        }
        Ok(restore)
    }

    /// Continues snapshots that are already in memory.
    pub(super) fn resumed(
        draft: Draft,
        base: Tree,
        history: Log<Snapshot>,
        skipped: usize,
        last_ns: i64,
    ) -> Restore {
        Restore {
            draft,
            digest: history.last().map_or(Hash([0; 32]), Snapshot::history_digest),
            history,
            skipped,
            counters: WorkCounters { last_ns, next_index: 0 },
            operations: Vec::new(),
            warnings: Vec::new(),
            checks: false,
            base: Some(base),
            running: None,
        }
    }

    /// Returns the snapshots so far, to be shared by readers and continued by writers.
    ///
    /// # Panics
    ///
    /// Never: a history without a snapshot begins with a tree.
    #[must_use]
    pub fn into_tail(self) -> Tail {
        let (base, last_ns) = match self.history.last() {
            Some(head) => (Some(head.tree().clone()), head.last_ns),
            None => (self.base, self.counters.last_ns),
        };
        let base = base.expect("a history without a snapshot begins with a tree");
        Tail::new(self.history, self.skipped, base, last_ns)
    }

    /// Returns the working state so far.
    #[must_use]
    pub fn share_working(&self) -> Working {
        Working::new(self.draft.share())
    }

    /// Sets the digest of a tree from its record, or checks it.
    fn settle(&self, tree: &Tree, digest: Hash) -> Result<(), RecordError> {
        if !self.checks {
            tree.digest_cell().get_or_init(|| digest.0);
            return Ok(());
        }
        match snapshot_digest(tree) == digest {
            true => Ok(()),
            false => {
                let cycle = tree.view().next_cycle().previous();
                Err(fail(format!("the digest of @c{cycle} does not match its nodes")))
            }
        }
    }

    /// Adds a commit.
    ///
    /// # Errors
    ///
    /// If the record is damaged or does not follow the previous one.
    pub fn commit(
        &mut self,
        effects: Effects<'_>,
        find_body: &mut FindBody<'_>,
    ) -> Result<(), RecordError> {
        let snapshot = self.next_snapshot(effects, find_body)?;
        self.digest = snapshot.history_digest();
        self.history.push(snapshot);
        Ok(())
    }

    /// Adds a call that is running. Everything that was done before it must follow, as well as what was done since: each record of
    /// work tells which it is.
    ///
    /// # Errors
    ///
    /// The record of its commit is damaged, or does not follow.
    pub fn begin_call(
        &mut self,
        attempt: &str,
        answer_ns: i64,
        record: Encoded,
        find_body: &mut FindBody<'_>,
    ) -> Result<(), RecordError> {
        let effects = read_effects(&record.effects)?;
        let report = report_of(&effects).ok_or_else(|| fail("it has no report".to_owned()))?;
        let counters = Counters { last_ns: self.counters.last_ns, ..Counters::default() };
        let fork = self.draft.fork();
        let before = Before { draft: std::mem::replace(&mut self.draft, fork), counters };
        let snapshot = self.next_snapshot(effects, find_body)?;
        self.counters.last_ns = answer_ns;
        let attempt = attempt.to_owned();
        let record = Some(record);
        self.running =
            Some(Box::new(RunningCall { attempt, snapshot, report, answer_ns, before, record }));
        Ok(())
    }

    fn next_snapshot(
        &mut self,
        effects: Effects<'_>,
        find_body: &mut FindBody<'_>,
    ) -> Result<Snapshot, RecordError> {
        let Subject::Commit { cycle, digest, last_ns, previous, whole } = effects.subject else {
            return Err(fail("expected a commit".to_owned()));
        };
        if previous != self.history.last().map(Snapshot::cycle) {
            return Err(fail(format!("@c{cycle} does not follow the previous commit")));
        }
        let tree = if whole {
            let tree = build(effects.puts, cycle.next(), find_body)?;
            self.draft = tree.continue_branch();
            tree
        } else {
            // Foreign histories may skip numbers.
            self.draft.skip_to(cycle);
            apply(&mut self.draft, effects.puts, &effects.gone, find_body)?;
            self.draft.freeze()
        };
        self.settle(&tree, digest)?;
        self.counters = WorkCounters { last_ns, next_index: 0 };
        Ok(Snapshot::restored(tree, last_ns, history_digest(self.digest, digest)))
    }

    /// Adds a change of the working state.
    ///
    /// # Errors
    ///
    /// If the record is damaged or does not follow the previous one.
    pub fn work(
        &mut self,
        effects: Effects<'_>,
        find_body: &mut FindBody<'_>,
    ) -> Result<(), RecordError> {
        let Subject::Work { next_cycle, counters } = effects.subject else {
            return Err(fail("expected a record of work".to_owned()));
        };
        if let Some(call) = &mut self.running
            && next_cycle == call.report.cycle
        {
            let before = &mut call.before;
            apply(&mut before.draft, effects.puts, &effects.gone, find_body)?;
            let (operations, warnings) = account::to_work(&effects.account);
            before.counters.operations.extend(operations);
            before.counters.warnings.extend(warnings);
            before.counters.last_ns = counters.last_ns;
            before.counters.next_index = counters.next_index;
            return Ok(());
        }
        if next_cycle != self.draft.view().next_cycle() {
            return Err(fail(format!("the work is for @c{next_cycle}")));
        }
        apply(&mut self.draft, effects.puts, &effects.gone, find_body)?;
        let (operations, warnings) = account::to_work(&effects.account);
        self.operations.extend(operations);
        self.warnings.extend(warnings);
        self.counters = counters;
        Ok(())
    }

    /// Returns the number of snapshots so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.history.len()
    }

    /// Returns whether there is no snapshot yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// Puts older snapshots before those so far. There may be others between them that no longer exist.
    pub fn continue_after(&mut self, mut before: Log<Snapshot>) {
        self.history.iter().for_each(|snapshot| before.push(snapshot.clone()));
        self.history = before;
    }

    /// Sets the number of older snapshots that remain in the store.
    pub fn set_skipped(&mut self, skipped: usize) {
        self.skipped = skipped;
    }

    /// Returns the snapshots so far, oldest first.
    #[must_use]
    pub fn into_history(self) -> Log<Snapshot> {
        self.history
    }

    /// Has every digest from here on worked out again and compared with the record's.
    pub fn check_digests(&mut self) {
        self.checks = true;
    }

    /// Returns the attempt of the running call.
    #[must_use]
    pub fn running_attempt(&self) -> Option<&str> {
        self.running.as_ref().map(|call| call.attempt.as_str())
    }

    /// Returns the snapshot of the running call.
    #[must_use]
    pub fn pending(&self) -> Option<&Snapshot> {
        self.running.as_ref().map(|call| &call.snapshot)
    }

    /// Returns the snapshot of the running call, and the report of the commit that completing it
    /// makes.
    #[must_use]
    pub fn running_call(&self) -> Option<(&Snapshot, &CommitReport)> {
        self.running.as_ref().map(|call| (&call.snapshot, &call.report))
    }

    /// Returns the newest snapshot so far.
    #[must_use]
    pub fn newest(&self) -> Option<&Snapshot> {
        self.history.last()
    }

    /// Returns the context, recording further changes.
    #[must_use]
    pub fn finish(self, options: ContextOptions, attempts: Vec<Attempt>) -> Context {
        let counters = Counters {
            last_ns: self.counters.last_ns,
            next_index: self.counters.next_index,
            operations: self.operations,
            warnings: self.warnings,
        };
        let mut context = Context::restored(self.draft, self.history, counters, options);
        context.skipped = self.skipped;
        context.running = self.running;
        context.attempts = Attempts::restored(attempts);
        context.record_changes();
        context
    }
}

/// Returns the report of a commit from its record; `None` for an imported snapshot.
#[must_use]
pub fn report_of(commit: &Effects<'_>) -> Option<CommitReport> {
    match commit.subject {
        Subject::Commit { cycle, digest, .. } => account::to_report(&commit.account, cycle, digest),
        _ => None,
    }
}
