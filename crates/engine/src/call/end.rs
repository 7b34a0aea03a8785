//! Completing, canceling and failing a call.

use contextree_tree::{Region, Scalar};

use super::{Before, CallError, CallOutcome};
use crate::attempt::{Attempt, AttemptError, AttemptStatus};
use crate::context::Context;
use crate::error::{BatchError, OpError};
use crate::op::{Place, PreparedNode};
use crate::place::core_of;
use crate::report::CommitReport;
use crate::work::Work;

/// The longest partial answer that is kept with an attempt.
pub const MAX_PARTIAL_BYTES: usize = 1 << 20;

impl Context {
    /// Completes the running call: the snapshot that was sent becomes part of the history, and the answer is the first core content of the
    /// new head, before everything that was added meanwhile.
    ///
    /// # Errors
    ///
    /// If there is no such running call, or a node of the answer is refused. Nothing has changed.
    pub fn complete_call(
        &mut self,
        attempt: &str,
        answer: Vec<PreparedNode>,
        outcome: CallOutcome,
    ) -> Result<CommitReport, CallError> {
        self.check_call(attempt)?;
        self.add_answer(answer)?;
        let Some(call) = self.running.take() else { return Err(no_such(attempt)) };
        let now = self.now_ns();
        self.attempts.complete(attempt, outcome, now)?;
        let tree = self.draft.rejoin(&call.before.draft, call.snapshot.tree());
        self.history.push(call.snapshot.with_tree(tree));
        self.revision += 1;
        if let Some(mut recorder) = self.recorder.take() {
            recorder.note_complete(self, attempt, &call.report, call.record);
            self.recorder = Some(recorder);
        }
        Ok(call.report)
    }

    /// Cancels the running call. Nothing is sealed: the working state is what it was before the call, with what was added meanwhile.
    ///
    /// # Errors
    ///
    /// If there is no such running call.
    pub fn cancel_call(&mut self, attempt: &str) -> Result<&Attempt, CallError> {
        self.end_call(attempt, AttemptStatus::Canceled)
    }

    /// Ends the running call with an error. Nothing is sealed, as with [`Context::cancel_call`].
    ///
    /// # Errors
    ///
    /// If there is no such running call.
    pub fn fail_call(
        &mut self,
        attempt: &str,
        why: impl Into<String>,
    ) -> Result<&Attempt, CallError> {
        self.end_call(attempt, AttemptStatus::Error(why.into()))
    }

    /// Keeps what has arrived of an answer with the attempt of the running call, in place of what was kept before. It stays there if the call is
    /// canceled or fails.
    ///
    /// # Errors
    ///
    /// If there is no such running call, or the text is longer than [`MAX_PARTIAL_BYTES`].
    pub fn attach_partial(
        &mut self,
        attempt: &str,
        partial: impl Into<String>,
    ) -> Result<&Attempt, CallError> {
        self.check_call(attempt)?;
        let partial = partial.into();
        if partial.len() > MAX_PARTIAL_BYTES {
            return Err(CallError::PartialTooLong { bytes: partial.len() });
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.attempts.push(attempt.to_owned());
        }
        let attempt = self.attempts.running_mut(attempt)?;
        attempt.partial = Some(partial);
        Ok(attempt)
    }

    fn end_call(&mut self, attempt: &str, status: AttemptStatus) -> Result<&Attempt, CallError> {
        self.check_call(attempt)?;
        let Some(call) = self.running.take() else { return Err(no_such(attempt)) };
        let is_touched = !self.counters.operations.is_empty();
        let (draft, counters) = call.into_canceled(self.draft.view(), &self.counters);
        self.restore_work(Before { draft, counters });
        self.revision += 1;
        if let Some(mut recorder) = self.recorder.take() {
            recorder.note_cancel(self, attempt, is_touched);
            self.recorder = Some(recorder);
        }
        let now = self.now_ns();
        Ok(self.attempts.end(attempt, status, None, now)?)
    }

    /// Fails unless this is the attempt of the running call.
    fn check_call(&mut self, attempt: &str) -> Result<(), CallError> {
        if self.running.as_ref().is_some_and(|call| call.attempt == attempt) {
            return Ok(());
        }
        self.attempts.running_mut(attempt)?;
        Err(AttemptError::NoRequest(attempt.to_owned()).into())
    }

    /// Adds the answer to the core of the head, all of it or none.
    fn add_answer(&mut self, answer: Vec<PreparedNode>) -> Result<(), CallError> {
        let Some(answer_ns) = self.running.as_ref().map(|call| call.answer_ns) else {
            return Ok(());
        };
        if answer.is_empty() {
            return Ok(());
        }
        // As long as nothing was created meanwhile, the answer is stamped with the time of its arrival.
        let is_first = self.counters.next_index == 0;
        let now = if is_first { self.now_ns() } else { answer_ns };
        let mark = self.counters.mark();
        self.draft.checkpoint();
        let mut work = self.work();
        work.reserved = Some(answer_ns.max(now));
        let added = work.add_answer(answer);
        match added {
            Ok(()) => self.draft.keep(),
            Err(_) => {
                self.draft.roll_back();
                self.counters.roll_back(mark);
            }
        }
        added.map_err(CallError::Answer)
    }
}

impl Work<'_> {
    fn add_answer(&mut self, answer: Vec<PreparedNode>) -> Result<(), BatchError> {
        let core = core_of(self.draft.view().region(Region::Head));
        // Something may have been added with a lower offset; the answer comes before it all the same.
        let first = core.and_then(|core| core.child(0)).map_or(Scalar::ZERO, |node| node.offset());
        let offset = first.as_int().unwrap_or(0).min(0);
        let core = core.map(|core| core.id().to_owned());
        let core = core.unwrap_or_else(|| self.create_core().1);
        let place = Place::at(core, offset);
        for (index, node) in answer.into_iter().enumerate() {
            self.add(&place, node).map_err(|error: OpError| BatchError { index, error })?;
        }
        Ok(())
    }
}

fn no_such(attempt: &str) -> CallError {
    AttemptError::NotFound(attempt.to_owned()).into()
}
