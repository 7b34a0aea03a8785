//! Changing a child list: append, insert, remove, replace.

use std::sync::Arc;

use super::{Children, Entries, FEW, Items, List, Run, Summary};

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
                if index == list.len() {
                    Arc::make_mut(list).push_row(row, entries);
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
            Children::Many(list) => *list = Arc::new(list.spliced(index, 1, None, entries)),
        }
    }

    /// Puts another version of the same node at a position, or notes that the row there has changed.
    pub(crate) fn replace(&mut self, index: usize, row: u32, entries: &impl Entries) {
        match self {
            Children::Few { rows, .. } => rows[index] = row,
            Children::Many(list) => {
                let mut left = index;
                for run in Arc::make_mut(list).levels.iter_mut().rev() {
                    let count = run.count as usize;
                    if left < count {
                        replace_in_run(run, left, row, entries);
                        return;
                    }
                    left -= count;
                }
            }
        }
    }
}

/// Replaces within a run; the id is the same, so no boundary moves. Depth is that of the runs, not of user input.
fn replace_in_run(run: &mut Arc<Run>, mut index: usize, row: u32, entries: &impl Entries) {
    let run = Arc::make_mut(run);
    run.digest = std::sync::OnceLock::new();
    match &mut run.items {
        Items::Rows(rows) => {
            rows[index] = row;
            run.summary =
                rows.iter().fold(Summary::EMPTY, |all, row| all.and(entries.summary(*row)));
        }
        Items::Runs(runs) => {
            for child in runs.iter_mut() {
                let count = child.count as usize;
                if index < count {
                    replace_in_run(child, index, row, entries);
                    break;
                }
                index -= count;
            }
            run.summary = runs.iter().fold(Summary::EMPTY, |all, run| all.and(run.summary));
        }
    }
}

impl List {
    pub(super) const EMPTY: List = List { levels: Vec::new() };

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
            self.open(level + 1).push_run(run);
        }
    }

    pub(super) fn push_row(&mut self, row: u32, entries: &impl Entries) {
        let summary = entries.summary(row);
        self.open(0).push_row(row, summary);
        self.finish(0, entries.boundary(row));
    }

    /// Appends a finished run of a level: whole where it fits, else piece by piece until it does.
    fn push_run(&mut self, level: usize, run: &Arc<Run>, entries: &impl Entries) {
        if self.levels.iter().take(level + 1).all(|open| open.is_empty()) {
            let ended = run.last().map_or(0, |row| entries.boundary(row));
            self.open(level + 1).push_run(Arc::clone(run));
            self.finish(level + 1, ended);
            return;
        }
        self.push_items(level, run, entries);
    }

    fn push_items(&mut self, level: usize, run: &Run, entries: &impl Entries) {
        match &run.items {
            Items::Rows(rows) => rows.iter().for_each(|row| self.push_row(*row, entries)),
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
                *self.open(0) = Run::of_rows(&rows[..index], entries);
                row.iter().for_each(|row| self.push_row(*row, entries));
                rows[index + removed..].iter().for_each(|row| self.push_row(*row, entries));
            }
            Items::Runs(runs) => {
                let mut left = index;
                let at = runs
                    .iter()
                    .position(|run| {
                        let here = left < run.count as usize;
                        if !here {
                            left -= run.count as usize;
                        }
                        here
                    })
                    .expect("the index lies in this run");
                self.open(level);
                self.levels[level] = Arc::new(Run::of_runs(&runs[..at]));
                self.splice_run(level - 1, &runs[at], left, removed, row, entries);
                runs[at + 1..].iter().for_each(|run| self.push_run(level - 1, run, entries));
            }
        }
    }
}
