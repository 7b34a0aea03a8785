//! From records to a context.

use contextree_canon::record::{
    Effects, Encoded, FindBody, Fold, RecordError, Subject, WorkCounters, apply, build,
    read_effects,
};
use contextree_canon::{Hash, history_digest, snapshot_digest};
use contextree_tree::{Draft, Log, Tree};

use super::account;
use crate::attempt::{Attempt, Attempts};
use crate::call::{Before, RunningCall};
use crate::context::{Context, ContextOptions};
use crate::report::{CommitReport, Operation, Warning};
use crate::snapshot::Snapshot;
use crate::work::Counters;

/// A context that is being put together: a first snapshot, the commits behind it, the work behind those.
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
    running: Option<Box<RunningCall>>,
}

fn fail(message: String) -> RecordError {
    RecordError { message, offset: 0 }
}

impl Restore {
    /// Begins with what a checkpoint, and commits that were laid over it, left behind. With `checks` every digest is worked out again
    /// and compared with the record's.
    ///
    /// # Errors
    ///
    /// A record is damaged.
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
            running: None,
        };
        if heading.snapshots > 0 {
            restore.settle(&tree, heading.digest)?;
            restore.history.push(Snapshot::restored(tree, heading.last_ns, heading.history));
        }
        Ok(restore)
    }

    /// Gives a tree the digest that its record has, or checks that it is the right one.
    fn settle(&self, tree: &Tree, digest: Hash) -> Result<(), RecordError> {
        if !self.checks {
            tree.digest_cell().get_or_init(|| digest.0);
            return Ok(());
        }
        match snapshot_digest(tree) == digest {
            true => Ok(()),
            false => {
                let cycle = tree.view().next_cycle().saturating_sub(1);
                Err(fail(format!("the digest of @c{cycle} is not that of its nodes")))
            }
        }
    }

    /// Goes on with a commit.
    ///
    /// # Errors
    ///
    /// The record is damaged, or does not follow.
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

    /// Goes on with a call that is running. Everything that was done before it must follow, as well as what was done since: each record of
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
            return Err(fail("a commit was expected".to_owned()));
        };
        if previous != self.history.last().map(Snapshot::cycle) {
            return Err(fail(format!("@c{cycle} does not follow the commit before")));
        }
        let tree = if whole {
            let tree = build(effects.puts, cycle.saturating_add(1), find_body)?;
            self.draft = tree.continue_branch();
            tree
        } else {
            // Foreign histories may leave numbers out.
            self.draft.skip_to(cycle);
            apply(&mut self.draft, effects.puts, &effects.gone, find_body)?;
            self.draft.freeze()
        };
        self.settle(&tree, digest)?;
        self.counters = WorkCounters { last_ns, next_index: 0 };
        Ok(Snapshot::restored(tree, last_ns, history_digest(self.digest, digest)))
    }

    /// Goes on with something that was done to the working state.
    ///
    /// # Errors
    ///
    /// The record is damaged, or does not follow.
    pub fn work(
        &mut self,
        effects: Effects<'_>,
        find_body: &mut FindBody<'_>,
    ) -> Result<(), RecordError> {
        let Subject::Work { next_cycle, counters } = effects.subject else {
            return Err(fail("a record of work was expected".to_owned()));
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

    /// Returns how many snapshots there are so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.history.len()
    }

    /// True if there is no snapshot yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// Says how many snapshots come before these and stay in the store.
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

    /// Returns the newest snapshot so far.
    #[must_use]
    pub fn head(&self) -> Option<&Snapshot> {
        self.history.last()
    }

    /// Returns the context, recording what will be changed from here on.
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

/// Returns the report of a commit from its record; nothing for a snapshot that was imported.
#[must_use]
pub fn report_of(commit: &Effects<'_>) -> Option<CommitReport> {
    match commit.subject {
        Subject::Commit { cycle, digest, .. } => account::to_report(&commit.account, cycle, digest),
        _ => None,
    }
}
