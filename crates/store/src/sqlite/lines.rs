//! Commits that leave a context's history, and those that come back; and other names.

use contextree_tree::Cycle;

use rusqlite::params;

use super::fault::fault;
use super::write::{Rows, as_integer};
use super::{seal, sql, totals};
use crate::error::{Result, StoreError};
use crate::rows::{BranchId, ContextId, ContextRow, LineChange, Revision, SideChange, SideRecord};
use crate::tally::Tally;

impl Rows<'_> {
    /// Moves commits out of a context's own branch or back into it, and changes the row of the context accordingly.
    pub(super) fn change_line(
        &self,
        row: &mut ContextRow,
        line: &LineChange,
        now_ns: i64,
    ) -> Result<()> {
        let LineChange::Leave { after, head, name, attempts, note } = line else {
            let LineChange::Rejoin { name } = line else { return Ok(()) };
            return self.rejoin(row, name);
        };
        self.check_free(name)?;
        let BranchId(id) = self.new_branch(Some((row.branch, *after)))?;
        self.change(sql::NEW_CONTEXT, params![id, name, row.settings, now_ns])?;
        let added = Some((ContextId(id), name.as_str()));
        totals::change(self.connection, None, added, self.counted)?;
        self.change(sql::NEW_HEAD, params![id, as_integer(row.snapshots), now_ns])?;
        let kept = super::read::count(self.connection, row.branch, *after)?;
        let all = super::read::count(self.connection, row.branch, Cycle::MAX)?;
        self.move_rows(row.branch, i64::from(*after), BranchId(id))?;
        for attempt in attempts {
            self.change(sql::MOVE_ATTEMPT, params![row.id, attempt, id])?;
        }
        let (id, branch) = (ContextId(id), BranchId(id));
        let SideRecord { kind, key, value } = note.clone();
        let note = SideChange { kind, key, value: Some(value) };
        self.change_side(id, &note, &mut Tally::default())?;
        let moved = ContextRow {
            id,
            name: name.clone(),
            branch,
            revision: Revision::FIRST,
            created_ns: now_ns,
            updated_ns: now_ns,
            ..row.clone()
        };
        self.set_head(&moved, None, seal::count(self.connection, id)?)?;
        row.head = *head;
        row.snapshots = row.snapshots.saturating_sub(all - kept);
        Ok(())
    }

    fn rejoin(&self, row: &mut ContextRow, name: &str) -> Result<()> {
        let line = totals::find(self.connection, name, self.counted)?
            .ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?
            .row;
        let parent = self.number(sql::PARENT, line.branch)?;
        let begin = super::read::begin(self.connection, line.branch)?.flatten();
        let upto = begin.map(|(_, upto)| upto.get());
        let others = self.numbers(sql::ANY_AFTER, params![row.branch, upto])?;
        if line.revision != Revision::FIRST
            || parent != Some(row.branch.get())
            || !others.is_empty()
        {
            let (expected, found) = (Revision::FIRST, line.revision);
            return Err(StoreError::Conflict {
                context: line.name,
                expected,
                found,
                head: line.head,
            });
        }
        self.move_rows(line.branch, -1, row.branch)?;
        self.change(sql::MOVE_ATTEMPTS, params![line.id, row.id])?;
        self.change(sql::DROP_USES, params![line.branch])?;
        for statement in sql::DROP_CONTEXT {
            self.change(statement, params![line.id])?;
        }
        let removed = Some((line.id, line.name.as_str()));
        totals::change(self.connection, removed, None, self.counted)?;
        self.change(sql::DROP_BRANCH, params![line.branch])?;
        (row.head, row.snapshots) = (line.head, line.snapshots);
        Ok(())
    }

    /// Moves everything after a cycle from one branch to another; both use the contents then.
    fn move_rows(&self, from: BranchId, after: i64, to: BranchId) -> Result<()> {
        for statement in [sql::MOVE_COMMITS, sql::MOVE_CHECKPOINTS, sql::MOVE_PINS] {
            self.change(statement, params![from, after, to])?;
        }
        for (child, upto) in self.move_children(from, after, to)? {
            self.seal_branch(child, Some((to, upto)))?;
        }
        self.change(sql::COPY_USES, params![from, to])?;
        Ok(())
    }

    /// Moves the branches that begin after a cycle; returns them.
    fn move_children(
        &self,
        from: BranchId,
        after: i64,
        to: BranchId,
    ) -> Result<Vec<(BranchId, Cycle)>> {
        let mut moved = self.connection.prepare_cached(sql::MOVE_CHILDREN).map_err(fault)?;
        let moved = moved
            .query_map(params![from, after, to], |row| Ok((row.get(0)?, Cycle(row.get(1)?))))
            .map_err(fault)?;
        moved.collect::<rusqlite::Result<_>>().map_err(fault)
    }

    pub(super) fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow> {
        let known = self.context(context)?;
        let (tally, key) = (known.tally(), known.key);
        let row = ContextRow { name: name.to_owned(), ..known.row.clone() };
        if known.row.name != name {
            self.check_free(name)?;
            self.change(sql::RENAME, params![context, name])?;
            let (before, after) = ((context, known.row.name.as_str()), (context, name));
            totals::change(self.connection, Some(before), Some(after), self.counted)?;
            self.set_head(&row, key, tally)?;
        }
        Ok(row)
    }

    fn check_free(&self, name: &str) -> Result<()> {
        match totals::find(self.connection, name, self.counted)? {
            Some(_) => Err(StoreError::Exists { context: name.to_owned() }),
            None => Ok(()),
        }
    }
}
