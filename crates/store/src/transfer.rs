//! Copying all contexts of a store into another one of any kind, row by row.
//!
//! Snapshots keep their bytes, and forks what they share. Numbers of contexts and revisions are new, so the operation log and the lines that
//! were undone are left out: both name them. A fork of a context that was deleted becomes a context of its own.

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::record::StoredBody;
use contextree_tree::Cycle;

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::load::{Place, split_journal};
use crate::rows::{
    BranchId, Checkpoint, Commit, ContentRow, ContextRow, NewContext, Rewrite, SideChange, Step,
    Stretch,
};
use crate::{calls, operations, side, undo};

/// How many bytes of commits are written in one step.
const BATCH: usize = 8 << 20;

/// How many contents are read at once.
const CONTENTS: usize = 256;

/// Copies every context. `progress` is told how many are done, and of how many.
pub(crate) fn transfer(
    from: &dyn Backend,
    to: &dyn Backend,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let mut sources = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = from.list(after.as_deref(), 1_000)?;
        let Some(last) = page.last() else { break };
        after = Some(last.name.clone());
        for row in page {
            if from.side_records(row.id, Some(undo::UNDONE))?.is_empty() {
                let lineage = from.lineage(row.branch)?;
                sources.push((row, lineage));
            }
        }
    }
    // What a fork begins in has a shorter lineage, so it is there first.
    sources.sort_by_key(|(_, lineage)| lineage.len());
    let mut copied = BTreeMap::new();
    let total = sources.len() as u64;
    for (done, (row, lineage)) in (1..).zip(&sources) {
        let branch = Source { from, to, row, lineage }.copy(&copied)?;
        copied.insert(row.branch, branch);
        progress(done, total);
    }
    Ok(())
}

/// One context that is copied.
struct Source<'s> {
    from: &'s dyn Backend,
    to: &'s dyn Backend,
    row: &'s ContextRow,
    lineage: &'s [Stretch],
}

impl Source<'_> {
    /// Copies the context; returns its branch in the other store. `copied` has those of contexts that were copied before.
    fn copy(&self, copied: &BTreeMap<BranchId, BranchId>) -> Result<BranchId> {
        let (row, to) = (self.row, self.to);
        let place = Place { backend: self.from, name: &row.name, lineage: self.lineage };
        let above = self.lineage.iter().rev().skip(1);
        let begin = above.clone().find_map(|stretch| {
            let branch = *copied.get(&stretch.branch)?;
            Some(Stretch { branch, upto: stretch.upto })
        });
        let first = begin.map_or(Cycle::ZERO, |begin| begin.upto.next());
        let mut checkpoints = own_checkpoints(&place, first)?;
        let base = if begin.is_none() { checkpoints.pop() } else { None };
        let mut used = BTreeSet::new();
        for checkpoint in checkpoints.iter().chain(&base) {
            note(&mut used, &place.read_bodies("a checkpoint", &checkpoint.bodies)?);
        }
        let created = to.create(&NewContext {
            name: row.name.clone(),
            created_ns: row.created_ns,
            settings: row.settings.clone(),
            from: begin,
            base,
            first: Step { now_ns: row.created_ns, ..Step::default() },
        })?;
        let mut copy = Copy { from: self.from, to, row: created };
        let retired = copy.commits(&place, first, row.updated_ns, &mut used)?;
        for checkpoint in &checkpoints {
            to.add_checkpoint(copy.row.branch, checkpoint)?;
        }
        self.rest(&place, &mut copy, &mut used)?;
        if !retired.is_empty() {
            let children = to.children(copy.row.branch)?;
            let contents = used.into_iter().collect();
            let rewrite = Rewrite { children, commits: retired, contents, ..Rewrite::default() };
            copy.row = to.rewrite(copy.row.id, copy.row.revision, &rewrite)?;
        }
        for pin in self.from.pins(row.id)? {
            to.pin(copy.row.id, &pin)?;
        }
        Ok(copy.row.branch)
    }

    /// Copies the head, the working state, attempts and side records.
    fn rest(
        &self,
        place: &Place<'_>,
        copy: &mut Copy<'_>,
        used: &mut BTreeSet<[u8; 32]>,
    ) -> Result<()> {
        let row = self.row;
        let mut last = Step { now_ns: row.updated_ns, head: row.head, ..Step::default() };
        for record in self.from.side_records(row.id, None)? {
            if record.kind == operations::KIND {
                continue;
            }
            let value = side::check(&row.name, &record)?;
            if record.kind == calls::KIND {
                place.bodies_of_call(&record.key, value, &mut |bodies| note(used, bodies))?;
            }
            let (kind, key) = (record.kind, record.key);
            last.side.push(SideChange { kind, key, value: Some(record.value) });
        }
        last.attempts = self.from.attempts(row.id)?;
        let (_, journal) = self.from.journal(row.id)?;
        for entry in &journal {
            let bodies = split_journal(entry).map_or(&[][..], |(_, bodies)| bodies);
            note(used, &place.read_bodies("journal", bodies)?);
        }
        // Contents that are there already are only marked as used.
        last.contents = copy.contents(used)?;
        copy.append(&last)?;
        for entry in journal {
            let journal = Some(entry);
            copy.append(&Step { now_ns: row.updated_ns, journal, ..Step::default() })?;
        }
        Ok(())
    }
}

/// A context in the other store, while it is written.
struct Copy<'c> {
    from: &'c dyn Backend,
    to: &'c dyn Backend,
    row: ContextRow,
}

impl Copy<'_> {
    fn append(&mut self, step: &Step) -> Result<()> {
        self.row = self.to.append(self.row.id, self.row.revision, step)?;
        Ok(())
    }

    /// Copies commits from a cycle on. Returns those that retention left only bodies of.
    fn commits(
        &mut self,
        place: &Place<'_>,
        first: Cycle,
        now_ns: i64,
        used: &mut BTreeSet<[u8; 32]>,
    ) -> Result<Vec<Commit>> {
        let (mut retired, mut bytes) = (Vec::new(), 0);
        let mut step = Step { now_ns, ..Step::default() };
        let mut hashes = BTreeSet::new();
        place.commits(first, Cycle::MAX, &mut |commit| {
            let bodies = place.read_bodies("a commit", &commit.bodies)?;
            note(used, &bodies);
            if commit.effects.is_none() {
                retired.push(commit);
                return Ok(());
            }
            note(&mut hashes, &bodies);
            bytes += commit.bodies.len() + commit.effects.as_ref().map_or(0, Vec::len);
            step.commits.push(commit);
            if bytes >= BATCH {
                step.contents = self.contents(&hashes)?;
                self.append(&step)?;
                (step, bytes) = (Step { now_ns, ..Step::default() }, 0);
                hashes.clear();
            }
            Ok(())
        })?;
        if !step.commits.is_empty() {
            step.contents = self.contents(&hashes)?;
            self.append(&step)?;
        }
        Ok(retired)
    }

    fn contents(&self, hashes: &BTreeSet<[u8; 32]>) -> Result<Vec<ContentRow>> {
        let hashes: Vec<[u8; 32]> = hashes.iter().copied().collect();
        let mut contents = Vec::new();
        for some in hashes.chunks(CONTENTS) {
            for (hash, data) in some.iter().zip(self.from.contents(some)?) {
                let data = data.ok_or_else(|| StoreError::Corrupt {
                    record: format!("context {}", self.row.name),
                    message: "a content is missing".to_owned(),
                })?;
                contents.push(ContentRow { hash: *hash, data });
            }
        }
        Ok(contents)
    }
}

/// Returns the checkpoints from a cycle on, newest first.
fn own_checkpoints(place: &Place<'_>, first: Cycle) -> Result<Vec<Checkpoint>> {
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    let mut next = Some(Cycle::MAX);
    while let Some(upto) = next {
        let found = match place.checkpoint(upto) {
            // There is none before the oldest.
            Err(StoreError::Corrupt { .. }) if !checkpoints.is_empty() => break,
            found => found?,
        };
        if found.cycle < first {
            break;
        }
        next = found.cycle.checked_previous();
        checkpoints.push(found);
    }
    Ok(checkpoints)
}

fn note(used: &mut BTreeSet<[u8; 32]>, bodies: &[StoredBody]) {
    used.extend(bodies.iter().filter_map(StoredBody::shared).map(|hash| hash.0));
}
