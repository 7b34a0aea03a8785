//! Calls that were made elsewhere, and the time that counts for them.

use contextree_json::Value;

use super::{CallError, RecordedCall};
use crate::attempt::{Attempt, AttemptError};
use crate::context::Context;

impl Context {
    /// Records a call that was made elsewhere: the newest snapshot is what was sent.
    ///
    /// Commit what was sent, record the call, then add the answer. The result is that of beginning and completing the call here.
    ///
    /// # Errors
    ///
    /// If there is no snapshot, or a call is running. Nothing has changed.
    pub fn record_call(&mut self, mut call: RecordedCall) -> Result<&Attempt, CallError> {
        self.check_idle()?;
        let Some(sent) = self.history.last() else {
            return Err(AttemptError::NotCommitted.into());
        };
        call.start = self.with_served(call.start, sent);
        let (digest, cycle) = (sent.digest(), sent.cycle());
        let attempt = self.attempts.record(call, digest, cycle);
        if let Some(recorder) = &mut self.recorder {
            recorder.attempts.push(attempt.attempt_id.clone());
        }
        Ok(attempt)
    }

    /// Keeps an answer with its attempt, as it was received, because the tree does not have it: the next request left it out or changed
    /// it.
    ///
    /// # Errors
    ///
    /// If there is no such attempt.
    pub fn keep_answer(&mut self, attempt: &str, answer: Value) -> Result<(), AttemptError> {
        self.attempts.keep_answer(attempt, answer)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.attempts.push(attempt.to_owned());
        }
        Ok(())
    }

    /// Does something as if the clock showed this time, in nanoseconds since 1970: for events that happened before, such as those of a
    /// log. Stamps still never decrease.
    pub fn at_time<T>(&mut self, now_ns: i64, act: impl FnOnce(&mut Context) -> T) -> T {
        let before = self.time.replace(now_ns);
        let done = act(self);
        self.time = before;
        done
    }

    /// Returns the time that counts: that of [`Context::at_time`], or the clock's.
    pub(crate) fn now_ns(&self) -> i64 {
        self.time.unwrap_or_else(|| self.settings.clock.now_ns())
    }
}
