//! Changing a child list: append, insert, remove, replace.

use std::sync::{Arc, OnceLock};

use super::node::{Entry, locate};
use super::{Child, Children, Entries, FEW, Items, List, Run, Summary};

impl Children {
    /// Returns the list of these rows, which are in canonical order.
    pub(crate) fn from_rows(rows: &[u32], entries: &impl Entries) -> Children {
        if rows.len() <= FEW {
            let mut few = [0; FEW];
            few[..rows.len()].copy_from_slice(rows);
            return Children::Few {
                len: u8::try_from(rows.len()).expect("at most three"),
                rows: few,
            };
        }
        let mut list = List::EMPTY;
        for row in rows {
            list.push_row(*row, entries);
        }
        Children::Many(Arc::new(list))
    }

    /// Inserts a row at a position.
    pub(crate) fn insert(&mut self, index: usize, row: u32, entries: &impl Entries) {
        match self {
            Children::Few { len, rows } if usize::from(*len) < FEW => {
                let count = usize::from(*len);
                rows.copy_within(index..count, index + 1);
                rows[index] = row;
                *len += 1;
            }
            Children::Few { rows, .. } => {
                let mut all = rows.to_vec();
                all.insert(index, row);
                *self = Children::from_rows(&all, entries);
            }
            Children::Many(list) => {
                let len = list.len();
                if index == len {
                    Arc::make_mut(list).push_row(row, entries);
                } else if entries.boundary(row) == 0 {
                    // No run ends here that did not end before.
                    let summary = entries.summary(row);
                    Arc::make_mut(list).edit_leaf(
                        index,
                        &mut |rows, at| {
                            rows.insert(at, Entry { row, expires: summary.expires });
                            Change { count: 1, gains: summary.marks, loses: 0 }
                        },
                        entries,
                    );
                } else {
                    *list = Arc::new(list.spliced(index, 0, Some(row), entries));
                }
            }
        }
    }

    /// Removes the row at a position.
    pub(crate) fn remove(&mut self, index: usize, entries: &impl Entries) {
        match self {
            Children::Few { len, rows } => {
                rows.copy_within(index + 1..usize::from(*len), index);
                *len -= 1;
            }
            // What fits into the small form has the small form: the shape follows from the entries alone.
            Children::Many(list) if list.len() == FEW + 1 => {
                let rows: Vec<u32> = self.iter().collect();
                let kept: Vec<u32> = [&rows[..index], &rows[index + 1..]].concat();
                *self = Children::from_rows(&kept, entries);
            }
            Children::Many(list) => {
                let row = list.get(index).expect("the index lies in the list");
                if entries.boundary(row) == 0 {
                    let loses = entries.summary(row).marks;
                    Arc::make_mut(list).edit_leaf(
                        index,
                        &mut |rows, at| {
                            rows.remove(at);
                            Change { count: -1, gains: 0, loses }
                        },
                        entries,
                    );
                } else {
                    *list = Arc::new(list.spliced(index, 1, None, entries));
                }
            }
        }
    }

    /// Puts another version of the same node at a position, or notes that the row there has changed.
    pub(crate) fn replace(&mut self, index: usize, row: u32, entries: &impl Entries) {
        match self {
            Children::Few { rows, .. } => rows[index] = row,
            Children::Many(list) => {
                let summary = entries.summary(row);
                Arc::make_mut(list).edit_leaf(
                    index,
                    &mut |rows, at| {
                        let before = rows[at].row;
                        rows[at] = Entry { row, expires: summary.expires };
                        // A row that changed in place does not tell what it was before: it may have lost any mark.
                        let loses =
                            if before == row { u32::MAX } else { entries.summary(before).marks };
                        Change { count: 0, gains: summary.marks, loses: loses & !summary.marks }
                    },
                    entries,
                );
            }
        }
    }
}

/// What an edit of a run of rows changed.
struct Change {
    count: i32,
    /// Marks that it may have brought.
    gains: u32,
    /// Marks that it may have taken away.
    loses: u32,
}

/// Edits the rows of a run in place, or of the run below that holds the index. No run may begin or end to exist by it. As deep as the
/// runs are, not as user input.
fn edit_run(
    run: &mut Arc<Run>,
    mut index: usize,
    edit: &mut dyn FnMut(&mut Vec<Entry>, usize) -> Change,
    entries: &impl Entries,
) -> Change {
    let run = Arc::make_mut(run);
    run.digest = OnceLock::new();
    let change = match &mut run.items {
        Items::Rows(rows) => edit(rows, index),
        Items::Runs(runs) => {
            let at = locate(runs, &mut index).expect("the index lies in this run");
            let child = &mut runs[at];
            let change = edit_run(&mut child.run, index, edit, entries);
            *child = Child::new(Arc::clone(&child.run));
            change
        }
    };
    run.count = run.count.saturating_add_signed(change.count);
    if run.summary.marks & change.loses & Summary::EXACT == 0 {
        run.refresh_expiry();
        run.summary.marks |= change.gains;
    } else {
        run.summarize(entries);
    }
    change
}

impl List {
    pub(super) const EMPTY: List = List { levels: Vec::new() };

    /// Edits the run of rows that holds an index.
    fn edit_leaf(
        &mut self,
        mut index: usize,
        edit: &mut dyn FnMut(&mut Vec<Entry>, usize) -> Change,
        entries: &impl Entries,
    ) {
        for run in self.levels.iter_mut().rev() {
            let count = run.count as usize;
            if index < count {
                edit_run(run, index, edit, entries);
                return;
            }
            index -= count;
        }
    }

    /// The unfinished run of a level, to be changed.
    fn open(&mut self, level: usize) -> &mut Run {
        while self.levels.len() <= level {
            self.levels.push(Arc::new(Run::empty(self.levels.len())));
        }
        Arc::make_mut(&mut self.levels[level])
    }

    /// Finishes the unfinished runs of the lowest `ended` levels.
    fn finish(&mut self, from: usize, ended: u32) {
        for level in from..ended as usize {
            let run = std::mem::replace(&mut self.levels[level], Arc::new(Run::empty(level)));
            self.open(level + 1).push_run(Child::new(run));
        }
    }

    pub(super) fn push_row(&mut self, row: u32, entries: &impl Entries) {
        let summary = entries.summary(row);
        self.open(0).push_row(row, summary);
        self.finish(0, entries.boundary(row));
    }

    /// Appends a finished run of a level: whole where it fits, else piece by piece until it does.
    fn push_run(&mut self, level: usize, child: &Child, entries: &impl Entries) {
        if self.levels.iter().take(level + 1).all(|open| open.is_empty()) {
            let ended = entries.boundary(child.last);
            self.open(level + 1).push_run(child.clone());
            self.finish(level + 1, ended);
            return;
        }
        self.push_items(level, &child.run, entries);
    }

    fn push_items(&mut self, level: usize, run: &Run, entries: &impl Entries) {
        match &run.items {
            Items::Rows(rows) => rows.iter().for_each(|entry| self.push_row(entry.row, entries)),
            Items::Runs(runs) => {
                runs.iter().for_each(|run| self.push_run(level - 1, run, entries));
            }
        }
    }

    /// Returns the list with `removed` rows (none or one) at a position replaced by `row`, if any.
    fn spliced(
        &self,
        index: usize,
        removed: usize,
        row: Option<u32>,
        entries: &impl Entries,
    ) -> List {
        let mut out = List::EMPTY;
        let mut left = index;
        let mut found = false;
        for level in (0..self.levels.len()).rev() {
            let run = &self.levels[level];
            let count = run.count as usize;
            if found {
                // To the right of the place: the pieces of an unfinished run are finished runs.
                out.push_items(level, run, entries);
            } else if left < count {
                found = true;
                out.splice_run(level, run, left, removed, row, entries);
            } else {
                left -= count;
                if !run.is_empty() {
                    out.open(level);
                    out.levels[level] = Arc::clone(run);
                }
            }
        }
        // The highest level is never empty in a list that was built by appending.
        while out.levels.last().is_some_and(|run| run.is_empty()) {
            out.levels.pop();
        }
        out
    }

    /// Appends a run of a level with a row of it replaced: what stands before as it is, the rest pushed anew.
    fn splice_run(
        &mut self,
        level: usize,
        run: &Run,
        index: usize,
        removed: usize,
        row: Option<u32>,
        entries: &impl Entries,
    ) {
        match &run.items {
            Items::Rows(rows) => {
                *self.open(0) = Run::of(Items::Rows(rows[..index].to_vec()), entries);
                row.iter().for_each(|row| self.push_row(*row, entries));
                rows[index + removed..].iter().for_each(|entry| self.push_row(entry.row, entries));
            }
            Items::Runs(runs) => {
                let mut left = index;
                let at = locate(runs, &mut left).expect("the index lies in this run");
                self.open(level);
                self.levels[level] = Arc::new(Run::of(Items::Runs(runs[..at].to_vec()), entries));
                self.splice_run(level - 1, &runs[at].run, left, removed, row, entries);
                runs[at + 1..].iter().for_each(|run| self.push_run(level - 1, run, entries));
            }
        }
    }
}
