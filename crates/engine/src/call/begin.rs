//! Beginning a call, and what holds while it runs.

use contextree_tree::Class;

use super::{Before, CallError, CallStart, RunningCall};
use crate::attempt::Attempt;
use crate::commit::CommitOptions;
use crate::context::{Context, Preview};
use crate::error::{CommitError, OpError};
use crate::op::Op;
use crate::place::{in_sealed_core, is_sealed};
use crate::report::CommitReport;
use crate::snapshot::Snapshot;
use crate::work::Work;

/// The call that is running.
#[derive(Clone, Copy, Debug)]
pub struct RunningCallRef<'a> {
    /// Its attempt.
    pub attempt: &'a Attempt,
    /// The snapshot whose rendering is the request.
    pub snapshot: &'a Snapshot,
    /// The report of the commit that completing the call makes.
    pub report: &'a CommitReport,
}

impl Context {
    /// Begins a call. The working state is committed ahead under these options, and `request` renders the snapshot: it returns what the attempt
    /// keeps of the request, and anything else for the caller, such as the bytes to be sent.
    ///
    /// Nothing becomes part of the history. Until the call ends, the working state is the head of the next cycle: what is added follows the
    /// answer, and nodes of the request cannot be edited, moved or removed.
    ///
    /// # Errors
    ///
    /// If a call is running, if the commit would fail, or the error of `request`. Nothing has changed.
    pub fn begin_call<T, E: From<CallError>>(
        &mut self,
        options: &CommitOptions<'_>,
        request: impl FnOnce(&Preview) -> Result<(CallStart, T), E>,
    ) -> Result<T, E> {
        let now = self.now_ns();
        self.begin_at(options, now, request)
    }

    /// Begins a call whose request is the rendering of a preview, its stamps included. The options must be those of the preview.
    ///
    /// # Errors
    ///
    /// Like [`Context::begin_call`], and [`CommitError::StalePreview`] if the commit would differ from the preview.
    pub fn begin_previewed(
        &mut self,
        preview: &Preview,
        options: &CommitOptions<'_>,
        start: CallStart,
    ) -> Result<&Attempt, CallError> {
        self.check_idle()?;
        if preview.revision != self.revision {
            return Err(CommitError::StalePreview.into());
        }
        // Handles, probes and measures decide, too, and may have changed without a change of the tree.
        self.begin_at(options, preview.now, |request| {
            if request.report == preview.report {
                Ok((start, ()))
            } else {
                Err(CallError::from(CommitError::StalePreview))
            }
        })?;
        Ok(self.attempts().last().expect("the call has just begun"))
    }

    fn begin_at<T, E: From<CallError>>(
        &mut self,
        options: &CommitOptions<'_>,
        now: i64,
        request: impl FnOnce(&Preview) -> Result<(CallStart, T), E>,
    ) -> Result<T, E> {
        self.check_idle().map_err(CallError::from)?;
        let changed = self.draft.take_changed();
        // The commit is made on a fork, which rejoins the line if the call is completed and is dropped if it is not.
        let fork = self.draft.fork();
        let draft = std::mem::replace(&mut self.draft, fork);
        let before = Before { draft, counters: self.counters.clone() };
        let committed = self.commit_working(options, Some(now)).map_err(|error| error.into());
        let done = committed.map_err(|error: CallError| error.into()).and_then(|committed| {
            let (report, snapshot) = committed;
            let preview = Preview { report, snapshot, now, revision: self.revision };
            let (start, value) = request(&preview)?;
            Ok((preview, start, value))
        });
        let (preview, start, value) = match done {
            Ok(done) => done,
            Err(error) => {
                (self.draft, self.counters) = (before.draft, before.counters);
                changed.into_iter().for_each(|key| self.draft.mark_changed(key));
                return Err(error);
            }
        };
        let Preview { report, snapshot, .. } = preview;
        let start = self.with_served(start, &snapshot);
        let attempt = self.attempts.begin(start, report.digest, report.cycle, now);
        let attempt = attempt.attempt_id.clone();
        if let Some(mut recorder) = self.recorder.take() {
            recorder.note_begin(self, &attempt, &before, &changed);
            self.recorder = Some(recorder);
        }
        // Whatever is created from now on is stamped later, so that the answer comes first whenever it arrives.
        let answer_ns = now.max(self.counters.last_ns.saturating_add(1));
        self.counters.last_ns = answer_ns;
        self.running = Some(Box::new(RunningCall {
            attempt,
            snapshot,
            report,
            answer_ns,
            before,
            record: None,
        }));
        if let Some(mut recorder) = self.recorder.take() {
            self.draft.watch();
            recorder.note_work(self);
            self.recorder = Some(recorder);
        }
        self.revision += 1;
        Ok(value)
    }

    /// Returns the call that is running.
    #[must_use]
    pub fn running_call(&self) -> Option<RunningCallRef<'_>> {
        let call = self.running.as_deref()?;
        let attempt = self.attempts().iter().rev().find(|one| one.attempt_id == call.attempt)?;
        Some(RunningCallRef { attempt, snapshot: &call.snapshot, report: &call.report })
    }

    /// Fails if a call is running.
    pub(crate) fn check_idle(&self) -> Result<(), CommitError> {
        match self.running.as_deref() {
            Some(call) => Err(CommitError::AttemptRunning { attempt: call.attempt.clone() }),
            None => Ok(()),
        }
    }

    /// Replaces the working state. If it is recorded, all of it counts as changed.
    pub(super) fn restore_work(&mut self, Before { draft, counters }: Before) {
        (self.draft, self.counters) = (draft, counters);
        if self.recorder.is_some() {
            self.mark_all_work();
        }
    }
}

impl Work<'_> {
    /// Refuses to move or remove nodes of the request of a running call that could otherwise be moved or removed although they are sealed.
    pub(crate) fn check_running(&self, op: &Op) -> Result<(), OpError> {
        let (Some(call), Op::Remove { node } | Op::Move { node, .. }) = (self.running, op) else {
            return Ok(());
        };
        let Some(found) = self.draft.view().resolve(node) else { return Ok(()) };
        let is_free = matches!(found.class(), Class::Container | Class::Block)
            && is_sealed(found)
            && !in_sealed_core(found);
        match is_free {
            true => Err(call.refuse(node)),
            false => Ok(()),
        }
    }

    /// Returns the error of an operation; what is sealed only because it is part of a running request has an error of its own.
    pub(crate) fn explain(&self, error: OpError) -> OpError {
        let (Some(call), OpError::Sealed { node }) = (self.running, &error) else { return error };
        let found = self.draft.view().resolve(node);
        match found.is_some_and(|node| node.cycle() == call.report.cycle) {
            true => call.refuse(node),
            false => error,
        }
    }
}
