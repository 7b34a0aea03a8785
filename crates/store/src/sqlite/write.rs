//! Everything that changes rows, within a transaction that the caller begins and ends.

use std::borrow::Cow;
use std::collections::BTreeSet;

use contextree_tree::Cycle;

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::fault;
use super::read::{Known, children, has_snapshot, known, lineage, pins};
use super::seal::{self, Seal, branch_check};
use super::totals::Counted;
use super::{sql, totals};
use crate::error::{Result, StoreError};
use crate::rows::{
    BranchId, Checkpoint, Commit, ContextId, ContextRow, NewContext, Pin, Revision, Rewrite,
    SideChange, Step, Stretch,
};
use crate::tally::{Count, Tally, attempt_sum, journal_sum, pin_sum, side_entry, side_sum};

/// Something that is to be done.
pub(super) enum Write<'a> {
    Create(Cow<'a, NewContext>),
    Append { context: ContextId, expected: Revision, step: Cow<'a, Step> },
    AddCheckpoint { branch: BranchId, checkpoint: Cow<'a, Checkpoint> },
    Pin { context: ContextId, pin: Cow<'a, Pin> },
    Unpin { context: ContextId, cycle: Cycle },
    Rewrite { context: ContextId, expected: Revision, rewrite: Cow<'a, Rewrite> },
    Rename { context: ContextId, name: Cow<'a, str> },
    Delete { context: ContextId, expected: Revision },
}

/// The result.
pub(super) enum Done {
    Row(ContextRow),
    Whether(bool),
    Nothing,
}

impl Write<'_> {
    pub(super) fn into_owned(self) -> Write<'static> {
        fn own<T: Clone>(value: Cow<'_, T>) -> Cow<'static, T> {
            Cow::Owned(value.into_owned())
        }
        match self {
            Write::Create(new) => Write::Create(own(new)),
            Write::Append { context, expected, step } => {
                Write::Append { context, expected, step: own(step) }
            }
            Write::AddCheckpoint { branch, checkpoint } => {
                Write::AddCheckpoint { branch, checkpoint: own(checkpoint) }
            }
            Write::Pin { context, pin } => Write::Pin { context, pin: own(pin) },
            Write::Unpin { context, cycle } => Write::Unpin { context, cycle },
            Write::Rewrite { context, expected, rewrite } => {
                Write::Rewrite { context, expected, rewrite: own(rewrite) }
            }
            Write::Rename { context, name } => {
                Write::Rename { context, name: Cow::Owned(name.into_owned()) }
            }
            Write::Delete { context, expected } => Write::Delete { context, expected },
        }
    }

    pub(super) fn run(&self, connection: &Connection, counted: &Counted) -> Result<Done> {
        let rows = Rows { connection, counted };
        match self {
            Write::Create(new) => rows.create(new).map(Done::Row),
            Write::Append { context, expected, step } => {
                rows.append(*context, *expected, step).map(Done::Row)
            }
            Write::AddCheckpoint { branch, checkpoint } => {
                rows.add_checkpoint(*branch, checkpoint).map(|()| Done::Nothing)
            }
            Write::Pin { context, pin } => rows.pin(*context, pin).map(|()| Done::Nothing),
            Write::Unpin { context, cycle } => rows.unpin(*context, *cycle).map(Done::Whether),
            Write::Rewrite { context, expected, rewrite } => {
                rows.rewrite(*context, *expected, rewrite).map(Done::Row)
            }
            Write::Rename { context, name } => rows.rename(*context, name).map(Done::Row),
            Write::Delete { context, expected } => {
                rows.delete(*context, *expected).map(|()| Done::Nothing)
            }
        }
    }
}

pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    /// What the list of contexts was found to have.
    pub(super) counted: &'a Counted,
}

impl Rows<'_> {
    fn create(&self, new: &NewContext) -> Result<ContextRow> {
        let taken = totals::find(self.connection, &new.name, self.counted)?;
        if let Some(Known { row, key, .. }) = taken {
            if row.revision == Revision::FIRST && key.is_some() && key == name_of(&new.first) {
                return Ok(row);
            }
            return Err(StoreError::Exists { context: new.name.clone() });
        }
        let mut snapshots = 0;
        if let Some(Stretch { branch, upto }) = new.from {
            let mut lineage = lineage(self.connection, branch)?;
            for stretch in &mut lineage {
                stretch.upto = upto.min(stretch.upto);
                snapshots += super::read::count(self.connection, stretch.branch, stretch.upto)?;
            }
            if upto > Cycle::ZERO && !has_snapshot(self.connection, &lineage, upto)? {
                return Err(StoreError::NotFound { context: format!("branch {branch} @c{upto}") });
            }
        }
        let BranchId(id) = self.new_branch(new.from.map(|begin| (begin.branch, begin.upto)))?;
        self.change(sql::NEW_CONTEXT, params![id, new.name, new.settings, new.created_ns])?;
        let added = Some((ContextId(id), new.name.as_str()));
        totals::change(self.connection, None, added, self.counted)?;
        self.change(sql::NEW_HEAD, params![id, as_integer(snapshots), new.created_ns])?;
        if let Some(base) = &new.base {
            self.change(
                sql::PUT_CHECKPOINT,
                params![id, base.cycle.get(), base.tree, base.bodies],
            )?;
        }
        let row = ContextRow {
            id: ContextId(id),
            name: new.name.clone(),
            branch: BranchId(id),
            revision: Revision::ZERO,
            head: None,
            snapshots,
            settings: new.settings.clone(),
            created_ns: new.created_ns,
            updated_ns: new.created_ns,
        };
        let step = Step { now_ns: new.created_ns, ..new.first.clone() };
        self.take(row, Tally::default(), &step)
    }

    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow> {
        let known = self.context(context)?;
        let (tally, Known { row, key, .. }) = (known.tally(), known);
        let next = row.revision == expected.next();
        if next && key.is_some() && key == name_of(step) {
            return Ok(row);
        }
        demand(&row, expected)?;
        self.take(row, tally, step)
    }

    /// Stores a step whose turn it is.
    fn take(&self, mut row: ContextRow, mut tally: Tally, step: &Step) -> Result<ContextRow> {
        row.revision = row.revision.next();
        if let Some(line) = &step.line {
            self.change_line(&mut row, line, step.now_ns)?;
            tally = seal::count(self.connection, row.id)?;
        }
        if !step.contents.is_empty() {
            self.add_contents(&row, step)?;
        }
        for Commit { cycle, effects, bodies } in &step.commits {
            self.change(sql::ADD_COMMIT, params![row.branch, cycle.get(), effects, bodies])?;
        }
        // Most commits bring their whole turn, so the journal is empty: looking is cheaper than a delete that finds nothing.
        let empties = !step.commits.is_empty() || step.reset_journal;
        if empties && self.number(sql::ANY_JOURNAL, row.id)?.is_some() {
            self.change(sql::EMPTY_JOURNAL, params![row.id])?;
        }
        if empties {
            tally.journal = Count::default();
        }
        if let Some(data) = &step.journal {
            self.change(sql::ADD_JOURNAL, params![row.id, row.revision, data])?;
            tally.journal.add(journal_sum(row.revision, data));
        }
        for attempt in &step.attempts {
            let values = params![row.id, attempt.id, attempt.record];
            if self.change(sql::SET_ATTEMPT, values)? == 0 {
                self.change(sql::ADD_ATTEMPT, values)?;
                let place = self.connection.last_insert_rowid();
                tally.attempts.add(attempt_sum(&attempt.id, &[place]));
            }
        }
        for change in &step.side {
            self.change_side(row.id, change, &mut tally)?;
        }
        if let Some(settings) = &step.settings {
            self.change(sql::SET_SETTINGS, params![row.id, settings])?;
            row.settings.clone_from(settings);
        }
        row.head = step.head.or(row.head);
        row.snapshots += step.commits.len() as u64;
        row.updated_ns = step.now_ns;
        self.set_head(&row, name_of(step), tally)?;
        Ok(row)
    }

    /// Writes or deletes a side record, and counts it.
    pub(super) fn change_side(
        &self,
        context: ContextId,
        SideChange { kind, key, value }: &SideChange,
        tally: &mut Tally,
    ) -> Result<()> {
        let count = tally.side_of_mut(kind);
        let mut statement = self.connection.prepare_cached(sql::SIDE_SUM).map_err(fault)?;
        let before: Option<u32> = statement
            .query_row(params![context, kind, key], |row| row.get(0))
            .optional()
            .map_err(fault)?;
        if let Some(sum) = before {
            count.remove(side_entry(kind, key, u64::from(sum)));
        }
        match value {
            Some(value) => {
                let sum = side_sum(context, kind, key, value);
                count.add(side_entry(kind, key, sum));
                self.change(sql::PUT_SIDE, params![context, kind, key, as_integer(sum), value])?;
            }
            None if before.is_some() => {
                self.change(sql::DROP_SIDE, params![context, kind, key])?;
            }
            None => {}
        }
        Ok(())
    }

    pub(super) fn set_head(
        &self,
        row: &ContextRow,
        key: Option<[u8; 16]>,
        tally: Tally,
    ) -> Result<()> {
        let seal = Seal::of(row, key, tally);
        let cycle = row.head.map(|head| head.cycle.get());
        let digest = row.head.map(|head| head.digest);
        let snapshots = as_integer(row.snapshots);
        self.change(
            sql::SET_HEAD,
            params![row.id, row.revision, snapshots, row.updated_ns, cycle, digest, key, seal],
        )?;
        Ok(())
    }

    fn add_contents(&self, row: &ContextRow, step: &Step) -> Result<()> {
        let needed_by = match (step.commits.first(), row.head) {
            (Some(commit), _) => commit.cycle,
            (None, Some(head)) => head.cycle.next(),
            (None, None) => self.begin(row.branch)?.next(),
        };
        for content in &step.contents {
            let there: Option<i64> = self.number(sql::CONTENT_BY_HASH, content.hash)?;
            let id = match there {
                Some(id) => id,
                None => {
                    self.change(sql::ADD_CONTENT, params![content.hash, content.data])?;
                    self.connection.last_insert_rowid()
                }
            };
            self.change(sql::ADD_USE, params![row.branch, id, needed_by.get()])?;
        }
        Ok(())
    }

    /// Returns the cycle that a branch begins with.
    fn begin(&self, branch: BranchId) -> Result<Cycle> {
        let begin = super::read::begin(self.connection, branch)?.flatten();
        Ok(begin.map_or(Cycle::ZERO, |(_, upto)| upto))
    }

    /// Makes a branch.
    pub(super) fn new_branch(&self, begin: Option<(BranchId, Cycle)>) -> Result<BranchId> {
        let (parent, upto) = begin.unzip();
        self.change(sql::NEW_BRANCH, params![parent, upto.map(Cycle::get)])?;
        let branch = BranchId(self.connection.last_insert_rowid());
        self.seal_branch(branch, begin)?;
        Ok(branch)
    }

    /// Writes the check of where a branch begins.
    pub(super) fn seal_branch(
        &self,
        branch: BranchId,
        begin: Option<(BranchId, Cycle)>,
    ) -> Result<()> {
        self.change(sql::SET_BRANCH_CHECK, params![branch, branch_check(branch, begin)])?;
        Ok(())
    }

    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()> {
        lineage(self.connection, branch)?;
        let Checkpoint { cycle, tree, bodies } = checkpoint;
        self.change(sql::ADD_CHECKPOINT, params![branch, cycle.get(), tree, bodies])?;
        Ok(())
    }

    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        let known = self.context(context)?;
        let (mut tally, Known { row, key, .. }) = (known.tally(), known);
        let lineage = lineage(self.connection, row.branch)?;
        if !has_snapshot(self.connection, &lineage, pin.cycle)? {
            return Err(StoreError::NotFound { context: format!("{}@c{}", row.name, pin.cycle) });
        }
        if let Some(before) = self.pinned(context, pin.cycle)? {
            tally.pins.remove(pin_sum(pin.cycle, &before));
        }
        tally.pins.add(pin_sum(pin.cycle, &pin.label));
        self.change(sql::PUT_PIN, params![context, pin.cycle.get(), pin.label])?;
        self.set_head(&row, key, tally)
    }

    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        let Some(label) = self.pinned(context, cycle)? else { return Ok(false) };
        let known = self.context(context)?;
        let (mut tally, Known { row, key, .. }) = (known.tally(), known);
        tally.pins.remove(pin_sum(cycle, &label));
        self.change(sql::UNPIN, params![context, cycle.get()])?;
        self.set_head(&row, key, tally)?;
        Ok(true)
    }

    /// Returns the label of a pin, if there is one.
    fn pinned(&self, context: ContextId, cycle: Cycle) -> Result<Option<String>> {
        let mut statement = self.connection.prepare_cached(sql::PIN_LABEL).map_err(fault)?;
        statement
            .query_row(params![context, cycle.get()], |row| row.get(0))
            .optional()
            .map_err(fault)
    }

    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow> {
        let known = self.context(context)?;
        let (tally, mut row) = (known.tally(), known.row);
        demand(&row, expected)?;
        let pinned = pins(self.connection, context)?.into_iter().map(|pin| pin.cycle);
        let children = children(self.connection, row.branch)?;
        let sorted = |children: &[Stretch]| -> BTreeSet<(BranchId, Cycle)> {
            children.iter().map(|child| (child.branch, child.upto)).collect()
        };
        if pinned.collect::<BTreeSet<Cycle>>() != rewrite.pinned.iter().copied().collect()
            || sorted(&children) != sorted(&rewrite.children)
        {
            return Err(conflict(&row, expected));
        }
        for cycle in &rewrite.dropped_commits {
            self.change(sql::DROP_COMMIT, params![row.branch, cycle.get()])?;
        }
        for cycle in &rewrite.dropped_checkpoints {
            self.change(sql::DROP_CHECKPOINT, params![row.branch, cycle.get()])?;
        }
        for Commit { cycle, effects, bodies } in &rewrite.commits {
            self.change(sql::PUT_COMMIT, params![row.branch, cycle.get(), effects, bodies])?;
        }
        for Checkpoint { cycle, tree, bodies } in &rewrite.checkpoints {
            self.change(sql::PUT_CHECKPOINT, params![row.branch, cycle.get(), tree, bodies])?;
        }
        self.set_uses(row.branch, rewrite)?;
        if rewrite.detach
            && let Some(parent) = self.number(sql::PARENT, row.branch)?
        {
            let check = branch_check(row.branch, None);
            self.change(sql::DETACH, params![row.branch, check])?;
            self.release(BranchId(parent))?;
        }
        row.revision = row.revision.next();
        row.snapshots = row.snapshots.saturating_sub(rewrite.dropped_snapshots);
        self.set_head(&row, None, tally)?;
        Ok(row)
    }

    /// Makes a branch use exactly these contents.
    fn set_uses(&self, branch: BranchId, rewrite: &Rewrite) -> Result<()> {
        let mut used = BTreeSet::new();
        for hash in &rewrite.contents {
            if let Some(id) = self.number(sql::CONTENT_BY_HASH, hash)? {
                used.insert(id);
            }
        }
        for id in self.numbers(sql::USES, params![branch])? {
            if !used.remove(&id) {
                self.change(sql::DROP_USE, params![branch, id])?;
                self.change(sql::DROP_UNUSED, params![id])?;
            }
        }
        for id in used {
            self.change(sql::ADD_USE, params![branch, id, 0])?;
        }
        Ok(())
    }

    fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        let row = self.context(context)?.row;
        demand(&row, expected)?;
        for statement in sql::DROP_CONTEXT {
            self.change(statement, params![context])?;
        }
        let removed = Some((context, row.name.as_str()));
        totals::change(self.connection, removed, None, self.counted)?;
        self.release(row.branch)
    }

    /// Removes what no context needs any more: this branch, and then those that it began with.
    fn release(&self, branch: BranchId) -> Result<()> {
        let mut next = Some(branch);
        while let Some(branch) = next {
            if self.number(sql::CONTEXT_OF_BRANCH, branch)?.is_some() {
                break;
            }
            // Without any other branch, even cycle 0 is removed.
            let needed = children(self.connection, branch)?.iter().map(|child| child.upto).max();
            let beyond = needed.map_or(-1, i64::from);
            self.change(sql::CUT_COMMITS, params![branch, beyond])?;
            self.change(sql::CUT_CHECKPOINTS, params![branch, beyond])?;
            for content in self.numbers(sql::CUT_USES, params![branch, beyond])? {
                self.change(sql::DROP_UNUSED, params![content])?;
            }
            if needed.is_some() {
                break;
            }
            next = self.number(sql::PARENT, branch)?.map(BranchId);
            self.change(sql::DROP_BRANCH, params![branch])?;
        }
        Ok(())
    }

    pub(super) fn context(&self, context: ContextId) -> Result<Known> {
        known(self.connection, sql::CONTEXT_BY_ID, params![context])?
            .ok_or_else(|| StoreError::NotFound { context: format!("#{context}") })
    }

    pub(super) fn change(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize> {
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        statement.execute(parameters).map_err(fault)
    }

    /// Returns the number in the first column of the first row, if there is one.
    pub(super) fn number(&self, sql: &str, parameter: impl rusqlite::ToSql) -> Result<Option<i64>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        let number = statement.query_row([parameter], |row| row.get::<_, Option<i64>>(0));
        Ok(number.optional().map_err(fault)?.flatten())
    }

    /// Returns the numbers in the first column of all rows.
    pub(super) fn numbers(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<Vec<i64>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        let numbers = statement.query_map(parameters, |row| row.get(0)).map_err(fault)?;
        numbers.collect::<rusqlite::Result<_>>().map_err(fault)
    }
}

/// A step's key, unless it has none.
fn name_of(step: &Step) -> Option<[u8; 16]> {
    Some(step.key).filter(|key| *key != [0; 16])
}

fn demand(row: &ContextRow, expected: Revision) -> Result<()> {
    if row.revision == expected { Ok(()) } else { Err(conflict(row, expected)) }
}

fn conflict(row: &ContextRow, expected: Revision) -> StoreError {
    let ContextRow { name, revision, head, .. } = row;
    StoreError::Conflict { context: name.clone(), expected, found: *revision, head: *head }
}

/// SQLite's integers are signed; no count gets that large.
pub(super) fn as_integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
