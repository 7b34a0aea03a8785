//! A store in memory: for tests and for contexts that need no home. It is also the reference that other stores are compared with, so it is
//! written for the eye: maps, one lock, nothing clever.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use contextree_tree::Cycle;

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, Head, LineChange, NewContext,
    Pin, Revision, Rewrite, SideRecord, Step, Stretch,
};

/// A store in memory. Its contents are lost when it is dropped.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

impl Memory {
    /// Makes an empty store.
    #[must_use]
    pub fn new() -> Memory {
        Memory::default()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        // A panic in here cannot leave half a step: steps are checked before they change anything.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Debug, Default)]
struct Tables {
    last_context: i64,
    last_branch: i64,
    contexts: BTreeMap<ContextId, Context>,
    branches: BTreeMap<BranchId, Branch>,
    contents: BTreeMap<[u8; 32], Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Context {
    row: ContextRow,
    key: [u8; 16],
    journal: Vec<Vec<u8>>,
    attempts: Vec<AttemptRow>,
    side: BTreeMap<(String, String), Vec<u8>>,
    pins: BTreeMap<Cycle, String>,
}

#[derive(Clone, Debug, Default)]
struct Branch {
    parent: Option<Stretch>,
    commits: BTreeMap<Cycle, Commit>,
    checkpoints: BTreeMap<Cycle, Checkpoint>,
    /// Each content with the first commit that can need it.
    uses: BTreeMap<[u8; 32], Cycle>,
}

impl Tables {
    fn context(&mut self, context: ContextId) -> Result<&mut Context> {
        self.contexts
            .get_mut(&context)
            .ok_or_else(|| StoreError::NotFound { context: format!("#{context}") })
    }

    fn branch(&mut self, branch: BranchId) -> Result<&mut Branch> {
        self.branches
            .get_mut(&branch)
            .ok_or_else(|| StoreError::NotFound { context: format!("branch {branch}") })
    }

    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        let mut stretches = Vec::new();
        let mut next = Some(Stretch { branch, upto: Cycle::MAX });
        let mut upto = Cycle::MAX;
        while let Some(stretch) = next {
            upto = upto.min(stretch.upto);
            let branch = self.branches.get(&stretch.branch).ok_or_else(|| {
                StoreError::NotFound { context: format!("branch {}", stretch.branch) }
            })?;
            stretches.push(Stretch { branch: stretch.branch, upto });
            next = branch.parent;
        }
        stretches.reverse();
        Ok(stretches)
    }

    /// True if a branch's history has a snapshot at exactly this cycle.
    fn has_snapshot(&self, lineage: &[Stretch], cycle: Cycle) -> bool {
        lineage.iter().filter(|stretch| cycle <= stretch.upto).any(|stretch| {
            let branch = &self.branches[&stretch.branch];
            branch.commits.get(&cycle).is_some_and(|commit| commit.effects.is_some())
                || branch.checkpoints.contains_key(&cycle)
        })
    }

    fn children(&self, parent: BranchId) -> Vec<Stretch> {
        self.branches
            .iter()
            .filter_map(|(&branch, row)| {
                let begin = row.parent.filter(|stretch| stretch.branch == parent)?;
                Some(Stretch { branch, upto: begin.upto })
            })
            .collect()
    }

    /// Fails before anything is changed, or not at all.
    fn take(&mut self, context: ContextId, step: &Step) -> Result<()> {
        match &step.line {
            Some(LineChange::Leave { after, head, name, attempts, note }) => {
                self.leave(context, (*after, *head), name, attempts, note, step.now_ns)?;
            }
            Some(LineChange::Rejoin { name }) => self.rejoin(context, name)?,
            None => {}
        }
        let row = self.context(context)?.row.clone();
        let branch = self.branch(row.branch)?;
        let mut cycles = BTreeSet::new();
        for Commit { cycle, .. } in &step.commits {
            if branch.commits.contains_key(cycle) || !cycles.insert(*cycle) {
                let message =
                    format!("there is a commit @c{cycle} in branch {} already", row.branch);
                return Err(StoreError::Backend { message });
            }
        }
        let begins = branch.parent.map(|parent| parent.upto);
        let needed_by = match (step.commits.first(), row.head) {
            (Some(commit), _) => commit.cycle,
            (None, Some(head)) => head.cycle.next(),
            (None, None) => begins.unwrap_or_default().next(),
        };
        for content in &step.contents {
            let used = branch.uses.entry(content.hash).or_insert(needed_by);
            *used = needed_by.min(*used);
        }
        for commit in &step.commits {
            branch.commits.insert(commit.cycle, commit.clone());
        }
        for content in &step.contents {
            self.contents.entry(content.hash).or_insert_with(|| content.data.clone());
        }

        let context = self.context(context)?;
        if !step.commits.is_empty() || step.reset_journal {
            context.journal.clear();
        }
        context.journal.extend(step.journal.clone());
        for attempt in &step.attempts {
            match context.attempts.iter_mut().find(|there| there.id == attempt.id) {
                Some(there) => there.record.clone_from(&attempt.record),
                None => context.attempts.push(attempt.clone()),
            }
        }
        for change in &step.side {
            let name = (change.kind.clone(), change.key.clone());
            match &change.value {
                Some(value) => drop(context.side.insert(name, value.clone())),
                None => drop(context.side.remove(&name)),
            }
        }
        if let Some(settings) = &step.settings {
            context.row.settings.clone_from(settings);
        }
        context.key = step.key;
        context.row.head = step.head.or(context.row.head);
        context.row.snapshots += step.commits.len() as u64;
        context.row.revision = context.row.revision.next();
        context.row.updated_ns = step.now_ns;
        Ok(())
    }

    /// Moves the commits after a cycle to a context of their own.
    fn leave(
        &mut self,
        context: ContextId,
        (after, head): (Cycle, Option<Head>),
        name: &str,
        attempts: &[String],
        note: &SideRecord,
        now_ns: i64,
    ) -> Result<()> {
        if self.contexts.values().any(|context| context.row.name == name) {
            return Err(StoreError::Exists { context: name.to_owned() });
        }
        let (id, branch) = (ContextId(self.last_context + 1), BranchId(self.last_branch + 1));
        let own = self.context(context)?.row.branch;
        let row = self.branch(own)?;
        let commits = row.commits.split_off(&after.next());
        let checkpoints = row.checkpoints.split_off(&after.next());
        let uses = row.uses.clone();
        let moved = count(&commits, Cycle::MAX);
        for child in self.branches.values_mut() {
            if let Some(parent) = &mut child.parent
                && parent.branch == own
                && parent.upto > after
            {
                parent.branch = branch;
            }
        }
        let parent = Some(Stretch { branch: own, upto: after });
        self.branches.insert(branch, Branch { parent, commits, checkpoints, uses });
        let context = self.context(context)?;
        let (gone, stay) = std::mem::take(&mut context.attempts)
            .into_iter()
            .partition(|attempt| attempts.contains(&attempt.id));
        context.attempts = stay;
        let pins = context.pins.split_off(&after.next());
        let row = ContextRow {
            id,
            name: name.to_owned(),
            branch,
            revision: Revision::FIRST,
            created_ns: now_ns,
            updated_ns: now_ns,
            ..context.row.clone()
        };
        context.row.head = head;
        context.row.snapshots = context.row.snapshots.saturating_sub(moved);
        let side = BTreeMap::from([((note.kind.clone(), note.key.clone()), note.value.clone())]);
        let line = Context { row, key: [0; 16], journal: Vec::new(), attempts: gone, side, pins };
        self.contexts.insert(id, line);
        (self.last_context, self.last_branch) = (id.get(), branch.get());
        Ok(())
    }

    /// Moves the commits of an undone line back.
    fn rejoin(&mut self, context: ContextId, name: &str) -> Result<()> {
        let own = self.context(context)?.row.clone();
        let line = self.contexts.values().find(|context| context.row.name == name);
        let line =
            line.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?.row.clone();
        let parent = self.branch(line.branch)?.parent;
        let upto = parent.filter(|parent| parent.branch == own.branch).map(|parent| parent.upto);
        let has_others =
            |upto: Cycle| self.branches[&own.branch].commits.range(upto.next()..).next().is_some();
        if line.revision != Revision::FIRST || upto.is_none_or(has_others) {
            let (expected, found) = (Revision::FIRST, line.revision);
            return Err(StoreError::Conflict {
                context: line.name,
                expected,
                found,
                head: line.head,
            });
        }
        let Some(moved) = self.branches.remove(&line.branch) else { return Ok(()) };
        for child in self.branches.values_mut() {
            if let Some(parent) = child.parent.as_mut().filter(|it| it.branch == line.branch) {
                parent.branch = own.branch;
            }
        }
        let row = self.branch(own.branch)?;
        row.commits.extend(moved.commits);
        row.checkpoints.extend(moved.checkpoints);
        for (hash, cycle) in moved.uses {
            row.uses.entry(hash).or_insert(cycle);
        }
        let line = self.contexts.remove(&line.id);
        let context = self.context(context)?;
        if let Some(Context { row, pins, attempts, .. }) = line {
            context.attempts.extend(attempts);
            context.row.head = row.head;
            context.row.snapshots = row.snapshots;
            context.pins.extend(pins);
        }
        Ok(())
    }

    /// Removes what no context needs any more: this branch, and then those that it began with.
    fn release(&mut self, branch: BranchId) {
        let mut next = Some(branch);
        while let Some(branch) = next {
            if self.contexts.values().any(|context| context.row.branch == branch) {
                break;
            }
            let needed = self.children(branch).iter().map(|child| child.upto).max();
            if let (Some(needed), Some(row)) = (needed, self.branches.get_mut(&branch)) {
                row.commits.retain(|cycle, _| *cycle <= needed);
                row.checkpoints.retain(|cycle, _| *cycle <= needed);
                row.uses.retain(|_, cycle| *cycle <= needed);
                break;
            }
            next =
                self.branches.remove(&branch).and_then(|row| row.parent).map(|begin| begin.branch);
        }
        self.sweep();
    }

    /// Removes contents that are no longer used.
    fn sweep(&mut self) {
        let branches = &self.branches;
        self.contents.retain(|hash, _| branches.values().any(|row| row.uses.contains_key(hash)));
    }
}

impl Context {
    fn expect(&self, expected: Revision) -> Result<()> {
        if self.row.revision == expected {
            return Ok(());
        }
        Err(self.conflict(expected))
    }

    fn conflict(&self, expected: Revision) -> StoreError {
        let ContextRow { name, revision, head, .. } = &self.row;
        StoreError::Conflict { context: name.clone(), expected, found: *revision, head: *head }
    }
}

impl Backend for Memory {
    fn create(&self, new: &NewContext) -> Result<ContextRow> {
        let mut tables = self.tables();
        let taken = tables.contexts.values().find(|context| context.row.name == new.name);
        if let Some(context) = taken {
            if context.row.revision == Revision::FIRST
                && new.first.key != [0; 16]
                && context.key == new.first.key
            {
                return Ok(context.row.clone());
            }
            return Err(StoreError::Exists { context: new.name.clone() });
        }
        let mut snapshots = 0;
        if let Some(Stretch { branch, upto }) = new.from {
            let mut lineage = tables.lineage(branch)?;
            for stretch in &mut lineage {
                stretch.upto = upto.min(stretch.upto);
                let commits = &tables.branches[&stretch.branch].commits;
                snapshots += count(commits, stretch.upto);
            }
            if upto > Cycle::ZERO && !tables.has_snapshot(&lineage, upto) {
                return Err(StoreError::NotFound { context: format!("branch {branch} @c{upto}") });
            }
        }
        let id = ContextId(tables.last_context + 1);
        let branch = BranchId(tables.last_branch + 1);
        let row = ContextRow {
            id,
            name: new.name.clone(),
            branch,
            revision: Revision::ZERO,
            head: None,
            snapshots,
            settings: new.settings.clone(),
            created_ns: new.created_ns,
            updated_ns: new.created_ns,
        };
        let base = new.base.iter().map(|base| (base.cycle, base.clone())).collect();
        tables
            .branches
            .insert(branch, Branch { parent: new.from, checkpoints: base, ..Branch::default() });
        let (journal, attempts, pins) = (Vec::new(), Vec::new(), BTreeMap::new());
        let side = BTreeMap::new();
        tables.contexts.insert(id, Context { row, key: [0; 16], journal, attempts, side, pins });
        if let Err(error) = tables.take(id, &new.first) {
            tables.contexts.remove(&id);
            tables.branches.remove(&branch);
            return Err(error);
        }
        (tables.last_context, tables.last_branch) = (id.get(), branch.get());
        let context = tables.context(id)?;
        context.row.updated_ns = new.created_ns;
        Ok(context.row.clone())
    }

    fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        let tables = self.tables();
        let context = tables.contexts.values().find(|context| context.row.name == name);
        Ok(context.map(|context| context.row.clone()))
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        let tables = self.tables();
        let mut rows: Vec<&ContextRow> =
            tables.contexts.values().map(|context| &context.row).collect();
        rows.retain(|row| after.is_none_or(|after| row.name.as_str() > after));
        rows.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(rows.into_iter().take(limit).cloned().collect())
    }

    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow> {
        let mut tables = self.tables();
        let known = tables.context(context)?;
        let landed =
            known.row.revision == expected.next() && step.key != [0; 16] && known.key == step.key;
        if !landed {
            known.expect(expected)?;
            tables.take(context, step)?;
        }
        Ok(tables.context(context)?.row.clone())
    }

    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.tables().lineage(branch)
    }

    fn checkpoint(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Checkpoint>> {
        let tables = self.tables();
        let newest = tables
            .branches
            .get(&branch)
            .and_then(|row| row.checkpoints.range(..=cycle).next_back());
        Ok(newest.map(|(_, checkpoint)| checkpoint.clone()))
    }

    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()> {
        let mut tables = self.tables();
        let row = tables.branch(branch)?;
        row.checkpoints.entry(checkpoint.cycle).or_insert_with(|| checkpoint.clone());
        Ok(())
    }

    fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        if first > last {
            return Ok(());
        }
        let commits: Vec<Commit> = {
            let tables = self.tables();
            let row = tables.branches.get(&branch);
            row.map(|row| row.commits.range(first..=last).map(|(_, commit)| commit.clone()))
                .into_iter()
                .flatten()
                .collect()
        };
        commits.into_iter().try_for_each(visit)
    }

    fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
        visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        for &cycle in cycles {
            let bodies = {
                let tables = self.tables();
                let row = tables.branches.get(&branch);
                row.and_then(|row| row.commits.get(&cycle)).map(|commit| commit.bodies.clone())
            };
            if let Some(bodies) = bodies {
                visit(cycle, bodies)?;
            }
        }
        Ok(())
    }

    fn checkpoint_bodies(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Vec<u8>>> {
        let tables = self.tables();
        let checkpoint = tables.branches.get(&branch).and_then(|row| row.checkpoints.get(&cycle));
        Ok(checkpoint.map(|checkpoint| checkpoint.bodies.clone()))
    }

    fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64> {
        let tables = self.tables();
        Ok(tables.branches.get(&branch).map_or(0, |row| count(&row.commits, cycle)))
    }

    fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)> {
        let mut tables = self.tables();
        let context = tables.context(context)?;
        Ok((context.row.revision, context.journal.clone()))
    }

    fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        let tables = self.tables();
        Ok(hashes.iter().map(|hash| tables.contents.get(hash).cloned()).collect())
    }

    fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
        let tables = self.tables();
        let users = tables.branches.iter().filter(|(_, row)| row.uses.contains_key(hash));
        Ok(users.map(|(&branch, _)| branch).collect())
    }

    fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>> {
        let tables = self.tables();
        Ok(tables.contexts.get(&context).map_or_else(Vec::new, |row| row.attempts.clone()))
    }

    fn side_record(&self, context: ContextId, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        let tables = self.tables();
        let side = tables.contexts.get(&context).map(|context| &context.side);
        Ok(side.and_then(|side| side.get(&(kind.to_owned(), key.to_owned())).cloned()))
    }

    fn side_records(&self, context: ContextId, kind: Option<&str>) -> Result<Vec<SideRecord>> {
        let tables = self.tables();
        let side = tables.contexts.get(&context).into_iter().flat_map(|context| &context.side);
        let record = |((kind, key), value): (&(String, String), &Vec<u8>)| SideRecord {
            kind: kind.clone(),
            key: key.clone(),
            value: value.clone(),
        };
        let wanted =
            |((own, _), _): &(&(String, String), &Vec<u8>)| kind.is_none_or(|kind| kind == own);
        Ok(side.filter(wanted).map(record).collect())
    }

    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        let mut tables = self.tables();
        let row = tables.context(context)?.row.clone();
        let lineage = tables.lineage(row.branch)?;
        if !tables.has_snapshot(&lineage, pin.cycle) {
            return Err(StoreError::NotFound { context: format!("{}@c{}", row.name, pin.cycle) });
        }
        tables.context(context)?.pins.insert(pin.cycle, pin.label.clone());
        Ok(())
    }

    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        let mut tables = self.tables();
        let pins = tables.contexts.get_mut(&context).map(|context| &mut context.pins);
        Ok(pins.is_some_and(|pins| pins.remove(&cycle).is_some()))
    }

    fn pins(&self, context: ContextId) -> Result<Vec<Pin>> {
        let tables = self.tables();
        let pins = tables.contexts.get(&context).map(|context| &context.pins);
        let pin = |(&cycle, label): (&Cycle, &String)| Pin { cycle, label: label.clone() };
        Ok(pins.into_iter().flatten().map(pin).collect())
    }

    fn children(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        Ok(self.tables().children(branch))
    }

    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow> {
        let mut tables = self.tables();
        let known = tables.context(context)?;
        known.expect(expected)?;
        let branch = known.row.branch;
        let pinned: BTreeSet<Cycle> = known.pins.keys().copied().collect();
        let conflict = known.conflict(expected);
        let children: BTreeSet<(BranchId, Cycle)> =
            tables.children(branch).iter().map(|child| (child.branch, child.upto)).collect();
        if pinned != rewrite.pinned.iter().copied().collect()
            || children != rewrite.children.iter().map(|child| (child.branch, child.upto)).collect()
        {
            return Err(conflict);
        }

        let stored: BTreeSet<[u8; 32]> = tables.contents.keys().copied().collect();
        let row = tables.branch(branch)?;
        row.commits.retain(|cycle, _| !rewrite.dropped_commits.contains(cycle));
        row.checkpoints.retain(|cycle, _| !rewrite.dropped_checkpoints.contains(cycle));
        row.commits.extend(rewrite.commits.iter().map(|commit| (commit.cycle, commit.clone())));
        row.checkpoints.extend(
            rewrite.checkpoints.iter().map(|checkpoint| (checkpoint.cycle, checkpoint.clone())),
        );
        row.uses.retain(|hash, _| rewrite.contents.contains(hash));
        for hash in rewrite.contents.iter().filter(|hash| stored.contains(*hash)) {
            row.uses.entry(*hash).or_insert(Cycle::ZERO);
        }
        let parent = row.parent.take_if(|_| rewrite.detach);
        match parent {
            Some(parent) => tables.release(parent.branch),
            None => tables.sweep(),
        }

        let context = tables.context(context)?;
        context.key = [0; 16];
        context.row.revision = context.row.revision.next();
        context.row.snapshots = context.row.snapshots.saturating_sub(rewrite.dropped_snapshots);
        Ok(context.row.clone())
    }

    fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow> {
        let mut tables = self.tables();
        let taken = tables.contexts.values().any(|it| it.row.name == name && it.row.id != context);
        if taken {
            return Err(StoreError::Exists { context: name.to_owned() });
        }
        let context = tables.context(context)?;
        name.clone_into(&mut context.row.name);
        Ok(context.row.clone())
    }

    fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        let mut tables = self.tables();
        let known = tables.context(context)?;
        known.expect(expected)?;
        let branch = known.row.branch;
        tables.contexts.remove(&context);
        tables.release(branch);
        Ok(())
    }

    fn with_view(&self, work: &mut dyn FnMut(&dyn Backend) -> Result<()>) -> Result<()> {
        let tables = self.tables().clone();
        work(&Memory { tables: Mutex::new(tables) })
    }

    fn reclaim(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn check(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

fn count(commits: &BTreeMap<Cycle, Commit>, cycle: Cycle) -> u64 {
    commits.range(..=cycle).filter(|(_, commit)| commit.effects.is_some()).count() as u64
}
