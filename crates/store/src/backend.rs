//! What every backend can do. One conformance suite tests all of them.

use std::path::Path;

use contextree_tree::Cycle;

use crate::error::Result;
use crate::rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, NewContext, Pin, Revision,
    Rewrite, SidePage, SideRecord, Step, Stretch,
};
use crate::tenant::Tenant;

/// Stores rows.
///
/// Every method that changes something is one transaction, durable when it returns (unless the store was opened in its relaxed mode). Every
/// error leaves the rows as they were, with one exception that is typed: [`StoreError::Unavailable`](crate::StoreError::Unavailable) with
/// `unknown` set says that it is unknown whether the step was stored; the same step, repeated with the same key, is stored at
/// most once.
///
/// Methods may be called from many threads at once, and by a visitor while it is being visited.
pub trait Backend: Send + Sync {
    /// Creates a context. Fails with `E_CONTEXT_EXISTS` if the name is taken, unless by a context of revision 1 whose first step has the same
    /// key: then it is stored already. Fails with `E_CONTEXT_NOT_FOUND` if it is to begin with a snapshot that is not there (any more): there
    /// must be a commit with effects or a checkpoint at that cycle of the lineage, except for cycle 0. The first step gives it revision 1.
    fn create(&self, new: &NewContext) -> Result<ContextRow>;

    /// Returns a context by its name.
    fn find(&self, name: &str) -> Result<Option<ContextRow>>;

    /// Like [`Backend::find`], but returns a row that is damaged as it is: what can be saved of its history is in other rows.
    fn find_damaged(&self, name: &str) -> Result<Option<ContextRow>> {
        self.find(name)
    }

    /// Returns contexts by name, in the order of its bytes, only those after `after`, at most `limit`.
    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>>;

    /// Like [`Backend::list`], but only contexts whose names begin with a prefix. Reads no others, which may be damaged.
    fn list_within(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        let mut rows = Vec::new();
        // What is listed comes after a name, and the prefix itself may be one.
        let after = after.filter(|after| *after >= prefix);
        if after.is_none() {
            rows.extend(self.find(prefix)?);
        }
        rows.extend(self.list(after.or(Some(prefix)), limit.saturating_sub(rows.len()))?);
        rows.retain(|row: &ContextRow| row.name.starts_with(prefix));
        rows.truncate(limit);
        Ok(rows)
    }

    /// Like [`Backend::list`], but leaves out contexts whose rows are damaged: for those who follow the others.
    fn list_intact(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.list(after, limit)
    }

    /// Takes a step. Fails with `E_CONFLICT` if the context's revision is not `expected`, unless it is the next one and the step that
    /// made it has the same key: then it is stored already. Returns the context as it is now.
    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow>;

    /// Returns the stretches that a branch's history consists of, oldest first, its own last. A stretch never extends beyond one
    /// after it: of a branch that begins at cycle 5 of a branch that begins at cycle 10, both earlier stretches end at 5.
    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>>;

    /// Returns the newest checkpoint of a branch itself at or before a cycle, with its bodies.
    fn checkpoint(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Checkpoint>>;

    /// Adds a checkpoint. One that is there already stays.
    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()>;

    /// Visits the commits of a branch with cycles from `first` to `last`, oldest first, until the visitor fails.
    fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()>;

    /// Visits the bodies of these commits of a branch. The cycles are in ascending order. Commits that are not
    /// there are left out.
    fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
        visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
    ) -> Result<()>;

    /// Returns the bodies in a checkpoint itself.
    fn checkpoint_bodies(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Vec<u8>>>;

    /// Returns how many snapshots of a branch itself have a cycle of at most `cycle`: commits with effects.
    fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64>;

    /// Returns what was done to the working state since the last commit, oldest first, with the revision that it belongs to: if the context
    /// was written meanwhile, the caller sees that from the number.
    fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)>;

    /// Returns contents by their hash, in the order asked for; `None` for those that are not stored.
    fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>>;

    /// Returns the branches that use a content. A branch uses what its commits, its checkpoints and its working state refer to.
    fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>>;

    /// Returns the attempts of a context, oldest first.
    fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>>;

    /// Returns the value of a side record.
    fn side_record(&self, context: ContextId, kind: &str, key: &str) -> Result<Option<Vec<u8>>>;

    /// Returns the side records of a context, or those of one kind, in the order of the bytes of kind and key.
    fn side_records(&self, context: ContextId, kind: Option<&str>) -> Result<Vec<SideRecord>>;

    /// Returns side records of one kind, in the order of the bytes of their keys, or in reverse.
    fn side_page(&self, context: ContextId, page: &SidePage<'_>) -> Result<Vec<SideRecord>> {
        let mut records = self.side_records(context, Some(page.kind))?;
        let (low, high) = page.bounds();
        records.retain(|one| one.key >= low && high.as_ref().is_none_or(|high| one.key < *high));
        if page.reverse {
            records.reverse();
        }
        records.truncate(page.limit);
        Ok(records)
    }

    /// Pins a snapshot, or changes its label. Fails with `E_CONTEXT_NOT_FOUND` if the context has no such snapshot (any more).
    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()>;

    /// Unpins a snapshot; true if it was pinned.
    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool>;

    /// Returns the pins of a context, by cycle.
    fn pins(&self, context: ContextId) -> Result<Vec<Pin>>;

    /// Returns the branches that begin within a branch, each with the last cycle that it has in common with it.
    fn children(&self, branch: BranchId) -> Result<Vec<Stretch>>;

    /// Changes what is kept of a context's own branch, provided that its revision is `expected`. Contents that are no longer used are removed.
    /// Increments the revision. Also fails with `E_CONFLICT` if a fork or a pin was added or removed that the caller did not know.
    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow>;

    /// Gives a context another name. Fails with `E_CONTEXT_EXISTS` if it is taken, unless by this context. The revision stays the same.
    fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow>;

    /// Deletes a context, provided that its revision is `expected`, with everything that no other context needs. What other contexts began
    /// with stays: of a branch without a context, everything up to the last cycle that another branch has in common with it.
    fn delete(&self, context: ContextId, expected: Revision) -> Result<()>;

    /// Returns free space to the system. Returns how many bytes the store takes now, where that is known.
    fn reclaim(&self) -> Result<Option<u64>>;

    /// Makes sure that nothing that was deleted or replaced can be read from the files of the store any more, as far as the backend can.
    fn scrub(&self) -> Result<()> {
        self.reclaim().map(drop)
    }

    /// Asks the database for faults of its own: one line for each.
    fn check(&self) -> Result<Vec<String>>;

    /// Calls a closure with a backend that shows the store as it is at one moment, whatever others write meanwhile. It can only be
    /// read.
    fn with_view(&self, work: &mut dyn FnMut(&dyn Backend) -> Result<()>) -> Result<()>;

    /// Copies the whole store into a new file while others use it. `progress` is told how many pages were copied, and of
    /// how many. `check` looks at the finished copy before that gets its name. Returns false if the backend cannot do this.
    fn backup(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(u64, u64),
        check: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<bool> {
        let _ = (path, progress, check);
        Ok(false)
    }

    /// Returns the tenant whose contexts this backend shows; `None` if it shows all.
    fn tenant(&self) -> Option<&Tenant> {
        None
    }

    /// Returns a number that differs from the one before if anything was written meanwhile, by this process or another one. `None` if the
    /// backend has none: then [`Backend::subscribe`] tells.
    fn version(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Registers a listener for steps taken by other processes: it gets the context's number and its new revision. Returns
    /// false if the backend has no notifications; then the only way is to ask.
    fn subscribe(&self, listener: Box<dyn Fn(ContextId, Revision) + Send + Sync>) -> Result<bool> {
        drop(listener);
        Ok(false)
    }
}
