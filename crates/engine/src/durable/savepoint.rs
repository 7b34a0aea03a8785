//! Taking back a step that failed.

use crate::context::Context;
use crate::work::CountersMark;

/// Where a context was before a step, see [`Context::savepoint`].
#[derive(Debug)]
#[must_use]
pub struct Savepoint {
    counters: CountersMark,
    snapshots: usize,
    skipped: usize,
    attempts: usize,
    /// How many checkpoints the draft had. A commit ends them, and a call replaces the draft.
    checkpoints: usize,
}

impl Context {
    /// Begins a step that can be taken back. For stores: called when everything before it has been taken as records.
    pub fn savepoint(&mut self) -> Savepoint {
        self.draft.checkpoint();
        Savepoint {
            counters: self.counters.mark(),
            snapshots: self.history.len(),
            skipped: self.skipped,
            attempts: self.recorded_attempts(),
            checkpoints: self.draft.checkpoints(),
        }
    }

    /// Keeps what was done since the savepoint.
    #[expect(clippy::needless_pass_by_value, reason = "a savepoint is used once")]
    pub fn keep(&mut self, savepoint: Savepoint) {
        if self.is_within(&savepoint) {
            self.draft.keep();
        }
    }

    /// Takes back what was done since the savepoint. Handles, measures and probes stay.
    ///
    /// Returns false, and takes nothing back, if there was a commit, or a call or an attempt began or ended since: then
    /// the context has to be restored with [`Context::restart_from`].
    #[expect(clippy::needless_pass_by_value, reason = "a savepoint is used once")]
    pub fn roll_back(&mut self, savepoint: Savepoint) -> bool {
        if !self.is_within(&savepoint) || self.recorded_attempts() != savepoint.attempts {
            return false;
        }
        self.draft.roll_back();
        self.counters.roll_back(savepoint.counters);
        // Only the step that was taken back changed anything since records were taken last.
        drop(self.draft.take_changed());
        self.revision += 1;
        true
    }

    /// Becomes another context, and keeps what no store has: handles, probes, and measures that the other does not bring.
    pub fn restart_from(&mut self, mut other: Context) {
        let mut measures = std::mem::take(&mut self.measures);
        measures.0.append(&mut other.measures.0);
        other.measures = measures;
        other.revision = self.revision + 1;
        other.handles = std::mem::take(&mut self.handles);
        other.cache = std::mem::take(&mut self.cache);
        *self = other;
    }

    /// True if the savepoint's checkpoint is still open: no commit ended it, and no call that began
    /// or ended replaced the draft.
    fn is_within(&self, savepoint: &Savepoint) -> bool {
        (self.history.len(), self.skipped) == (savepoint.snapshots, savepoint.skipped)
            && self.draft.checkpoints() == savepoint.checkpoints
    }

    fn recorded_attempts(&self) -> usize {
        self.recorder.as_ref().map_or(0, |recorder| recorder.attempts.len())
    }
}
