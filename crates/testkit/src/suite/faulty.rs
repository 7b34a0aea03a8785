//! A store that fails on demand, for tests of the layers above.

use std::sync::{Mutex, MutexGuard, PoisonError};

use contextree_store::{
    AttemptRow, Backend, BranchId, Checkpoint, Commit, ContextId, ContextRow, NewContext, Pin,
    Result, Revision, Rewrite, SideRecord, Step, StoreError, Stretch,
};
use contextree_tree::Cycle;

/// When a write fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before anything is stored.
    Before,
    /// After it is stored: the answer is lost.
    After,
}

/// A store whose writes or reads fail on demand.
#[derive(Debug, Default)]
pub struct Faulty<B> {
    inner: B,
    plan: Mutex<Plan>,
}

#[derive(Debug, Default)]
struct Plan {
    writes: u64,
    fault: Option<Fault>,
    panics: Option<u64>,
    reads: Option<StoreError>,
}

#[derive(Debug)]
struct Fault {
    first: u64,
    last: u64,
    when: When,
    error: StoreError,
}

impl<B> Faulty<B> {
    /// Creates a store that works until it is made to fail.
    pub fn new(inner: B) -> Faulty<B> {
        Faulty { inner, plan: Mutex::default() }
    }

    /// Returns the inner store, which does not fail on demand.
    pub fn inner(&self) -> &B {
        &self.inner
    }

    /// Returns the number of writes.
    pub fn writes(&self) -> u64 {
        self.plan().writes
    }

    /// Makes one write fail: the next one is number 1.
    pub fn fail_once(&self, number: u64, when: When, error: StoreError) {
        let mut plan = self.plan();
        let first = plan.writes + number;
        plan.fault = Some(Fault { first, last: first, when, error });
    }

    /// Makes all writes fail from now on.
    pub fn fail_writes(&self, when: When, error: StoreError) {
        let mut plan = self.plan();
        let first = plan.writes + 1;
        plan.fault = Some(Fault { first, last: u64::MAX, when, error });
    }

    /// Makes one write panic: the next one is number 1.
    pub fn panic_once(&self, number: u64) {
        let mut plan = self.plan();
        plan.panics = Some(plan.writes + number);
    }

    /// Makes all reads fail from now on.
    pub fn fail_reads(&self, error: StoreError) {
        self.plan().reads = Some(error);
    }

    /// Ends all failures.
    pub fn heal(&self) {
        let mut plan = self.plan();
        plan.fault = None;
        plan.reads = None;
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, work: impl FnOnce(&B) -> Result<T>) -> Result<T> {
        let (fault, panics) = {
            let mut plan = self.plan();
            plan.writes += 1;
            let number = plan.writes;
            let fault = plan.fault.as_ref();
            let fault = fault
                .filter(|fault| (fault.first..=fault.last).contains(&number))
                .map(|fault| (fault.when, fault.error.clone()));
            (fault, plan.panics == Some(number))
        };
        assert!(!panics, "this write was to panic");
        match fault {
            None => work(&self.inner),
            Some((When::Before, error)) => Err(error),
            Some((When::After, error)) => work(&self.inner).and(Err(error)),
        }
    }

    fn read<T>(&self, work: impl FnOnce(&B) -> Result<T>) -> Result<T> {
        let fault = self.plan().reads.clone();
        match fault {
            None => work(&self.inner),
            Some(error) => Err(error),
        }
    }
}

impl<B: Backend> Backend for Faulty<B> {
    fn with_view(&self, work: &mut dyn FnMut(&dyn Backend) -> Result<()>) -> Result<()> {
        self.inner.with_view(work)
    }

    fn create(&self, new: &NewContext) -> Result<ContextRow> {
        self.write(|inner| inner.create(new))
    }

    fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        self.read(|inner| inner.find(name))
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.read(|inner| inner.list(after, limit))
    }

    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow> {
        self.write(|inner| inner.append(context, expected, step))
    }

    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.read(|inner| inner.lineage(branch))
    }

    fn checkpoint(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Checkpoint>> {
        self.read(|inner| inner.checkpoint(branch, cycle))
    }

    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()> {
        self.write(|inner| inner.add_checkpoint(branch, checkpoint))
    }

    fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        self.read(|inner| inner.commits(branch, first, last, visit))
    }

    fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
        visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.read(|inner| inner.bodies(branch, cycles, visit))
    }

    fn checkpoint_bodies(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Vec<u8>>> {
        self.read(|inner| inner.checkpoint_bodies(branch, cycle))
    }

    fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64> {
        self.read(|inner| inner.count_commits(branch, cycle))
    }

    fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)> {
        self.read(|inner| inner.journal(context))
    }

    fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read(|inner| inner.contents(hashes))
    }

    fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
        self.read(|inner| inner.users(hash))
    }

    fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>> {
        self.read(|inner| inner.attempts(context))
    }

    fn side_record(&self, context: ContextId, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        self.read(|inner| inner.side_record(context, kind, key))
    }

    fn side_records(&self, context: ContextId, kind: Option<&str>) -> Result<Vec<SideRecord>> {
        self.read(|inner| inner.side_records(context, kind))
    }

    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        self.write(|inner| inner.pin(context, pin))
    }

    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        self.write(|inner| inner.unpin(context, cycle))
    }

    fn pins(&self, context: ContextId) -> Result<Vec<Pin>> {
        self.read(|inner| inner.pins(context))
    }

    fn children(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.read(|inner| inner.children(branch))
    }

    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow> {
        self.write(|inner| inner.rewrite(context, expected, rewrite))
    }

    fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow> {
        self.write(|inner| inner.rename(context, name))
    }

    fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        self.write(|inner| inner.delete(context, expected))
    }

    fn scrub(&self) -> Result<()> {
        self.write(Backend::scrub)
    }

    fn reclaim(&self) -> Result<Option<u64>> {
        self.write(Backend::reclaim)
    }

    fn check(&self) -> Result<Vec<String>> {
        self.read(Backend::check)
    }

    fn subscribe(&self, listener: Box<dyn Fn(ContextId, Revision) + Send + Sync>) -> Result<bool> {
        self.inner.subscribe(listener)
    }
}
