//! A compact form of a context that is not in use.

use std::sync::Arc;

use contextree_canon::record::{
    BodyPlace, Encoded, Fold, Heading, RecordError, read_bodies, read_effects, write_alone,
};
use contextree_tree::{Body, Log};

use crate::attempt::Attempts;
use crate::cached::Cache;
use crate::commit::Sums;
use crate::context::Context;
use crate::policy::Measures;
use crate::refs::Handles;
use crate::snapshot::Snapshot;
use crate::work::{Counters, Settings};

/// A dormant context: its newest snapshot as a record, and the rest of its state. It takes a
/// fraction of the memory; waking it visits every node.
pub struct Resting {
    record: Encoded,
    skipped: usize,
    last_ns: i64,
    settings: Arc<Settings>,
    handles: Handles,
    measures: Measures,
    attempts: Attempts,
    revision: u64,
}

impl std::fmt::Debug for Resting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Resting").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Context {
    /// Makes a context dormant whose history is kept in a store. Drops older snapshots from memory.
    ///
    /// # Errors
    ///
    /// The context itself, if there are changes since its newest snapshot, records that were not
    /// taken, or no snapshot.
    pub fn rest(self) -> Result<Resting, Box<Context>> {
        let Some(head) = self.history.last().filter(|_| self.is_settled()) else {
            return Err(Box::new(self));
        };
        let heading = Heading {
            digest: head.digest(),
            history: head.history_digest(),
            last_ns: head.last_ns,
            snapshots: (self.skipped + self.history.len()) as u64,
        };
        let mut record = write_alone(head.view(), &heading);
        record.effects.shrink_to_fit();
        record.bodies.shrink_to_fit();
        Ok(Resting {
            record,
            skipped: self.skipped + self.history.len() - 1,
            last_ns: self.counters.last_ns,
            settings: self.settings,
            handles: self.handles,
            measures: self.measures,
            attempts: self.attempts,
            revision: self.revision,
        })
    }
}

impl Resting {
    /// Returns the size of the snapshot in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.record.effects.len() + self.record.bodies.len()
    }

    /// Restores the context, recording further changes.
    ///
    /// # Errors
    ///
    /// If the bytes were damaged.
    pub fn wake(self) -> Result<Context, RecordError> {
        let fold = Fold::begin(read_effects(&self.record.effects)?)?;
        let mut bodies: Vec<_> = read_bodies(&self.record.bodies)?.into_iter().map(Some).collect();
        let heading = *fold.heading();
        let tree = fold.build(&mut |place| match place {
            BodyPlace::Here(index) => bodies
                .get_mut(index as usize)
                .and_then(Option::take)
                .ok_or_else(|| RecordError { message: "a body is missing".to_owned(), offset: 0 })?
                .into_body(None),
            _ => Ok(Body::default()),
        })?;
        tree.digest_cell().get_or_init(|| heading.digest.0);
        let draft = tree.continue_branch();
        let mut history = Log::default();
        history.push(Snapshot::restored(tree, heading.last_ns, heading.history));
        let mut context = Context {
            draft,
            counters: Counters { last_ns: self.last_ns, ..Counters::default() },
            settings: self.settings,
            history,
            skipped: self.skipped,
            handles: self.handles,
            measures: self.measures,
            attempts: self.attempts,
            revision: self.revision,
            recorder: None,
            running: None,
            time: None,
            cache: Cache::default(),
            sums: Sums::default(),
        };
        context.record_changes();
        Ok(context)
    }
}
