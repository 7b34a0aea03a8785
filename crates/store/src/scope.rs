//! The backend of a tenant: passes on what concerns its contexts, and answers everything else as if it were not there.
//!
//! Contexts and branches have numbers that could be guessed. So a number is only passed on if a context of the tenant had it in an earlier
//! answer; of a branch that such a context begins in, only the commits up to there are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contextree_tree::Cycle;

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, LineChange, NewContext, Pin,
    Revision, Rewrite, SidePage, SideRecord, Step, Stretch,
};
use crate::tenant::Tenant;

/// A backend that shows the contexts of one tenant.
pub(crate) struct Scoped<'b> {
    inner: Inner<'b>,
    scope: Arc<Scope>,
}

enum Inner<'b> {
    Store(Arc<dyn Backend>),
    View(&'b dyn Backend),
}

struct Scope {
    tenant: Tenant,
    known: Mutex<Known>,
}

/// The contexts and branches that the tenant has seen.
#[derive(Default)]
struct Known {
    contexts: BTreeSet<ContextId>,
    /// Branches, each with the last cycle that belongs to a context of the tenant.
    branches: BTreeMap<BranchId, Cycle>,
}

impl Scope {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a row that the tenant may see; `None` if it may not.
    fn admit(&self, row: ContextRow) -> Option<ContextRow> {
        let mut known = self.known();
        if !self.tenant.owns(&row.name) {
            known.contexts.remove(&row.id);
            return None;
        }
        known.contexts.insert(row.id);
        known.branches.insert(row.branch, Cycle::MAX);
        Some(row)
    }

    fn admit_or_hide(&self, row: ContextRow) -> Result<ContextRow> {
        let id = row.id;
        self.admit(row).ok_or_else(|| no_context(id))
    }

    fn has(&self, context: ContextId) -> bool {
        self.known().contexts.contains(&context)
    }

    fn demand(&self, context: ContextId) -> Result<()> {
        if self.has(context) { Ok(()) } else { Err(no_context(context)) }
    }

    /// Returns the last cycle of a branch that the tenant may see.
    fn reach(&self, branch: BranchId) -> Option<Cycle> {
        self.known().branches.get(&branch).copied()
    }

    fn demand_own(&self, branch: BranchId) -> Result<()> {
        match self.reach(branch) {
            Some(Cycle::MAX) => Ok(()),
            _ => Err(no_branch(branch)),
        }
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if self.tenant.owns(name) {
            return Ok(());
        }
        let message = format!("it does not begin with `{}`", self.tenant.prefix());
        Err(StoreError::Name { name: name.to_owned(), message })
    }

    /// Refuses a step that would share contents, or move commits to a context outside.
    fn check_step(&self, step: &Step) -> Result<()> {
        if !step.contents.is_empty() {
            let message = "the contents of a tenant are stored with its commits".to_owned();
            return Err(StoreError::Backend { message });
        }
        match &step.line {
            Some(LineChange::Leave { name, .. } | LineChange::Rejoin { name }) => {
                self.check_name(name)
            }
            None => Ok(()),
        }
    }
}

fn no_context(context: ContextId) -> StoreError {
    StoreError::NotFound { context: format!("#{context}") }
}

fn no_branch(branch: BranchId) -> StoreError {
    StoreError::NotFound { context: format!("branch {branch}") }
}

impl Scoped<'static> {
    pub(crate) fn over(inner: Arc<dyn Backend>, tenant: &Tenant) -> Self {
        let scope = Scope { tenant: tenant.clone(), known: Mutex::default() };
        Scoped { inner: Inner::Store(inner), scope: Arc::new(scope) }
    }
}

impl Scoped<'_> {
    fn inner(&self) -> &dyn Backend {
        match &self.inner {
            Inner::Store(backend) => &**backend,
            Inner::View(backend) => *backend,
        }
    }

    /// Returns whether a branch of the tenant uses a content.
    fn uses(&self, hash: &[u8; 32]) -> Result<bool> {
        let users = self.inner().users(hash)?;
        let known = self.scope.known();
        Ok(users.iter().any(|branch| known.branches.contains_key(branch)))
    }
}

impl Backend for Scoped<'_> {
    fn tenant(&self) -> Option<&Tenant> {
        Some(&self.scope.tenant)
    }

    fn create(&self, new: &NewContext) -> Result<ContextRow> {
        self.scope.check_name(&new.name)?;
        self.scope.check_step(&new.first)?;
        if let Some(Stretch { branch, upto }) = new.from
            && self.scope.reach(branch).is_none_or(|reach| upto > reach)
        {
            return Err(StoreError::NotFound { context: format!("branch {branch} @c{upto}") });
        }
        self.scope.admit_or_hide(self.inner().create(new)?)
    }

    fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        if !self.scope.tenant.owns(name) {
            return Ok(None);
        }
        match self.inner().find(name)? {
            Some(row) if row.name != name => Err(StoreError::Corrupt {
                record: format!("context {name}"),
                message: "its name leads to another context".to_owned(),
            }),
            found => Ok(found.and_then(|row| self.scope.admit(row))),
        }
    }

    fn find_damaged(&self, name: &str) -> Result<Option<ContextRow>> {
        if !self.scope.tenant.owns(name) {
            return Ok(None);
        }
        Ok(self.inner().find_damaged(name)?.and_then(|row| self.scope.admit(row)))
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.list_within(self.scope.tenant.prefix(), after, limit)
    }

    fn list_within(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        let own = self.scope.tenant.prefix();
        let prefix = match () {
            () if prefix.starts_with(own) => prefix,
            () if own.starts_with(prefix) => own,
            () => return Ok(Vec::new()),
        };
        let rows = self.inner().list_within(prefix, after, limit)?;
        Ok(rows.into_iter().filter_map(|row| self.scope.admit(row)).collect())
    }

    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow> {
        self.scope.demand(context)?;
        self.scope.check_step(step)?;
        self.scope.admit_or_hide(self.inner().append(context, expected, step)?)
    }

    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        let reach = self.scope.reach(branch).ok_or_else(|| no_branch(branch))?;
        let mut stretches = self.inner().lineage(branch)?;
        let mut known = self.scope.known();
        for stretch in &mut stretches {
            stretch.upto = stretch.upto.min(reach);
            let seen = known.branches.entry(stretch.branch).or_insert(stretch.upto);
            *seen = stretch.upto.max(*seen);
        }
        Ok(stretches)
    }

    fn checkpoint(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Checkpoint>> {
        match self.scope.reach(branch) {
            Some(reach) => self.inner().checkpoint(branch, cycle.min(reach)),
            None => Ok(None),
        }
    }

    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()> {
        self.scope.demand_own(branch)?;
        self.inner().add_checkpoint(branch, checkpoint)
    }

    fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        match self.scope.reach(branch) {
            Some(reach) => self.inner().commits(branch, first, last.min(reach), visit),
            None => Ok(()),
        }
    }

    fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
        visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let Some(reach) = self.scope.reach(branch) else { return Ok(()) };
        let end = cycles.partition_point(|cycle| *cycle <= reach);
        self.inner().bodies(branch, &cycles[..end], visit)
    }

    fn checkpoint_bodies(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Vec<u8>>> {
        match self.scope.reach(branch) {
            Some(reach) if cycle <= reach => self.inner().checkpoint_bodies(branch, cycle),
            _ => Ok(None),
        }
    }

    fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64> {
        match self.scope.reach(branch) {
            Some(reach) => self.inner().count_commits(branch, cycle.min(reach)),
            None => Ok(0),
        }
    }

    fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)> {
        self.scope.demand(context)?;
        self.inner().journal(context)
    }

    /// Contexts that were written before the tenant was one may share contents. The tenant reads those that its own branches use.
    fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        let mut found = self.inner().contents(hashes)?;
        for (hash, data) in hashes.iter().zip(&mut found) {
            if data.is_some() && !self.uses(hash)? {
                *data = None;
            }
        }
        Ok(found)
    }

    fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
        let mut users = self.inner().users(hash)?;
        let known = self.scope.known();
        users.retain(|branch| known.branches.contains_key(branch));
        Ok(users)
    }

    fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>> {
        match self.scope.has(context) {
            true => self.inner().attempts(context),
            false => Ok(Vec::new()),
        }
    }

    fn side_record(&self, context: ContextId, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        match self.scope.has(context) {
            true => self.inner().side_record(context, kind, key),
            false => Ok(None),
        }
    }

    fn side_records(&self, context: ContextId, kind: Option<&str>) -> Result<Vec<SideRecord>> {
        match self.scope.has(context) {
            true => self.inner().side_records(context, kind),
            false => Ok(Vec::new()),
        }
    }

    fn side_page(&self, context: ContextId, page: &SidePage<'_>) -> Result<Vec<SideRecord>> {
        match self.scope.has(context) {
            true => self.inner().side_page(context, page),
            false => Ok(Vec::new()),
        }
    }

    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        self.scope.demand(context)?;
        self.inner().pin(context, pin)
    }

    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        Ok(self.scope.has(context) && self.inner().unpin(context, cycle)?)
    }

    fn pins(&self, context: ContextId) -> Result<Vec<Pin>> {
        match self.scope.has(context) {
            true => self.inner().pins(context),
            false => Ok(Vec::new()),
        }
    }

    /// Branches of others are among them if a fork was made across tenants, by someone who has the whole store: what they have in common
    /// with the tenant must not be removed.
    fn children(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        match self.scope.reach(branch) {
            Some(Cycle::MAX) => self.inner().children(branch),
            _ => Ok(Vec::new()),
        }
    }

    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow> {
        self.scope.demand(context)?;
        // A hash that is not the tenant's would make the content with that hash its own.
        let mut rewrite = rewrite.clone();
        let mut contents = Vec::new();
        for hash in std::mem::take(&mut rewrite.contents) {
            if self.uses(&hash)? {
                contents.push(hash);
            }
        }
        rewrite.contents = contents;
        self.scope.admit_or_hide(self.inner().rewrite(context, expected, &rewrite)?)
    }

    fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow> {
        self.scope.demand(context)?;
        self.scope.check_name(name)?;
        self.scope.admit_or_hide(self.inner().rename(context, name)?)
    }

    fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        self.scope.demand(context)?;
        self.inner().delete(context, expected)?;
        self.scope.known().contexts.remove(&context);
        Ok(())
    }

    /// How much all tenants take together is not said.
    fn reclaim(&self) -> Result<Option<u64>> {
        self.inner().reclaim()?;
        Ok(None)
    }

    fn scrub(&self) -> Result<()> {
        self.inner().scrub()
    }

    /// What the database says may name rows of others.
    fn check(&self) -> Result<Vec<String>> {
        let faults = self.inner().check()?;
        let told = "the store has faults that do not concern one context: verify the whole store";
        Ok(faults.first().map(|_| told.to_owned()).into_iter().collect())
    }

    fn with_view(&self, work: &mut dyn FnMut(&dyn Backend) -> Result<()>) -> Result<()> {
        self.inner().with_view(&mut |view| {
            work(&Scoped { inner: Inner::View(view), scope: Arc::clone(&self.scope) })
        })
    }

    /// The file has the contexts of everyone, so it is not copied; its contexts are, row by row.
    fn backup(
        &self,
        _path: &Path,
        _progress: &mut dyn FnMut(u64, u64),
        _check: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<bool> {
        Ok(false)
    }

    fn version(&self) -> Result<Option<u64>> {
        self.inner().version()
    }

    fn subscribe(&self, listener: Box<dyn Fn(ContextId, Revision) + Send + Sync>) -> Result<bool> {
        let scope = Arc::clone(&self.scope);
        self.inner().subscribe(Box::new(move |context, revision| {
            // A negative number means the whole store: anything may have changed.
            if context.get() < 0 || scope.has(context) {
                listener(context, revision);
            }
        }))
    }
}
