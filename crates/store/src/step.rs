//! From what happened in a context to one durable step.

use contextree_engine::Records;

use crate::attempts;
use crate::load::join_journal;
use crate::packed::pack;
use crate::rows::{Commit, Head, Step};

impl Step {
    /// Returns whether the step deletes side records and does nothing else.
    #[cfg(feature = "sqlite")]
    pub(crate) fn only_deletes(&self) -> bool {
        let Step { commits, head, journal, contents, attempts, side, settings, line, .. } = self;
        let adds = !(commits.is_empty() && contents.is_empty() && attempts.is_empty())
            || head.is_some()
            || journal.is_some()
            || settings.is_some()
            || line.is_some();
        !adds && !side.is_empty() && side.iter().all(|change| change.value.is_none())
    }

    /// Puts records of a context into this step. Returns how many bytes of commits they are.
    pub(crate) fn add_records(&mut self, records: Records) -> u64 {
        let mut written = 0;
        self.add_calls(&records);
        for commit in records.commits {
            self.head = Some(Head { cycle: commit.cycle, digest: commit.digest.0 });
            written += (commit.record.effects.len() + commit.record.bodies.len()) as u64;
            self.contents.extend(commit.record.shared.iter().map(pack));
            self.commits.push(Commit {
                cycle: commit.cycle,
                effects: Some(commit.record.effects),
                bodies: commit.record.bodies,
            });
        }
        if let Some(work) = records.work {
            self.journal = Some(join_journal(&work.effects, &work.bodies));
            self.contents.extend(work.shared.iter().map(pack));
        }
        self.attempts.extend(records.attempts.iter().map(attempts::to_row));
        written
    }
}
