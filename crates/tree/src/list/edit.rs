//! Changes child lists: append, insert, remove and replace, single entries or many at once.

use std::sync::{Arc, OnceLock};

use super::node::Entry;
use super::{Beside, Child, Children, Entries, FEW, Items, List, Run, Runs, Summary, UNCUT};
use crate::row::RowNumber;

/// One change to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The position before any of the changes that are made together.
    pub(crate) position: usize,
    /// The row at the position, which is removed; `None` to insert before it.
    pub(crate) before: Option<RowNumber>,
    /// The row that replaces it; `None` to remove it. If `before` is set too, this is another
    /// version of the same node, or the same row changed in place.
    pub(crate) after: Option<RowNumber>,
}

impl Children {
    /// Returns the list of these rows, which must be in canonical order.
    pub(crate) fn from_rows(rows: &[RowNumber], entries: &impl Entries) -> Children {
        if rows.len() <= FEW {
            let mut few = [RowNumber::ROOT; FEW];
            few[..rows.len()].copy_from_slice(rows);
            return Children::Few {
                len: u8::try_from(rows.len()).expect("at most three"),
                rows: few,
            };
        }
        if rows.len() <= UNCUT {
            let rows = rows.iter().map(|row| Entry::of(*row, entries)).collect();
            return Children::Some(Arc::new(Run::of(Items::Rows(rows), entries)));
        }
        let mut list = List::EMPTY;
        for row in rows {
            list.push_row(*row, entries);
        }
        Children::Many(Arc::new(list))
    }

    /// Inserts a row at a position.
    pub(crate) fn insert(&mut self, index: usize, row: RowNumber, entries: &impl Entries) {
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
            Children::Some(run) if (run.count as usize) < UNCUT => {
                let edit = Edit { position: index, before: None, after: Some(row) };
                edit_run(run, 0, &[edit], entries);
            }
            Children::Some(_) => {
                let mut all: Vec<RowNumber> = self.iter().collect();
                all.insert(index, row);
                *self = Children::from_rows(&all, entries);
            }
            Children::Many(list) => {
                if index == list.len() {
                    Arc::make_mut(list).push_row(row, entries);
                } else if entries.boundary(row) == 0 {
                    // No run ends here that did not end before.
                    let edit = Edit { position: index, before: None, after: Some(row) };
                    Arc::make_mut(list).edit_in_runs(&[edit], entries);
                } else {
                    *list = Arc::new(list.with_row_at(index, row, entries));
                }
            }
        }
    }

    /// Removes the row at a position.
    pub(crate) fn remove(&mut self, index: usize, entries: &impl Entries) {
        let before = self.get(index);
        assert!(before.is_some(), "the index is in the list");
        self.edit_all(&[Edit { position: index, before, after: None }], entries);
    }

    /// Replaces the row at a position with another version of the same node, or records that the
    /// row there was changed in place.
    pub(crate) fn replace(&mut self, index: usize, row: RowNumber, entries: &impl Entries) {
        let before = self.get(index);
        assert!(before.is_some(), "the index is in the list");
        self.edit_all(&[Edit { position: index, before, after: Some(row) }], entries);
    }

    /// Removes and replaces rows at ascending positions. Each affected run is copied once, no
    /// matter how many of its rows change.
    pub(crate) fn edit_all(&mut self, edits: &[Edit], entries: &impl Entries) {
        let removed = edits.iter().filter(|edit| edit.after.is_none()).count();
        match self {
            Children::Few { len, rows } => {
                for edit in edits.iter().rev() {
                    match edit.after {
                        Some(row) => rows[edit.position] = row,
                        None => {
                            rows.copy_within(edit.position + 1..usize::from(*len), edit.position);
                            *len -= 1;
                        }
                    }
                }
            }
            Children::Some(run) if run.count as usize - removed > FEW => {
                edit_run(run, 0, edits, entries);
            }
            Children::Many(list) if list.len() - removed > UNCUT => {
                Arc::make_mut(list).edit_all(edits, entries);
            }
            // A list that fits a smaller form must have it: the shape depends on the entries alone.
            Children::Some(_) | Children::Many(_) => {
                let mut rows: Vec<RowNumber> = self.iter().collect();
                for edit in edits.iter().rev() {
                    match edit.after {
                        Some(row) => rows[edit.position] = row,
                        None => drop(rows.remove(edit.position)),
                    }
                }
                *self = Children::from_rows(&rows, entries);
            }
        }
    }
}

/// The effect of edits on a run.
#[derive(Clone, Copy, Default)]
struct Change {
    count: i32,
    /// Marks that may have been added.
    gains: u32,
    /// Marks that may have been removed.
    loses: u32,
}

impl Change {
    fn and(self, other: Change) -> Change {
        Change {
            count: self.count + other.count,
            gains: self.gains | other.gains,
            loses: self.loses | other.loses,
        }
    }
}

/// Edits rows of a run that begins at position `start`, and of the runs below it. The edits must
/// not create or remove a run. The recursion is as deep as the levels of runs, which do not depend
/// on user input.
fn edit_run(run: &mut Arc<Run>, start: usize, edits: &[Edit], entries: &impl Entries) -> Change {
    let run = Arc::make_mut(run);
    let mut change = Change::default();
    match &mut run.items {
        Items::Rows(rows) => {
            let mut beside = run.beside.take();
            for edit in edits.iter().rev() {
                let at = edit.position - start;
                change = change.and(edit_row(rows, at, edit, entries));
                if let Some(beside) = &mut beside {
                    edit_beside(beside, at, edit);
                }
            }
            let is_empty = rows.is_empty();
            if let Some(beside) = beside.filter(|beside| !is_empty && beside.is_useful()) {
                run.beside = OnceLock::from(beside);
            }
        }
        Items::Runs(runs) => {
            change = edit_below(runs, start, edits, entries);
        }
    }
    run.count = run.count.saturating_add_signed(change.count);
    run.settle(change.gains, change.loses, entries);
    change
}

/// Edits rows of the runs in a run that begins at position `start`.
fn edit_below(runs: &mut Runs, start: usize, edits: &[Edit], entries: &impl Entries) -> Change {
    let within = |runs: &mut Runs, at: usize, start: usize, edits: &[Edit]| {
        let child = runs.change(at);
        let change = edit_run(&mut child.run, start, edits, entries);
        child.refresh();
        change
    };
    if let [edit] = edits {
        // Nearly always there is a single edit, which needs no list of affected runs.
        let mut index = edit.position - start;
        let at = runs.locate(&mut index).expect("the position is in this run");
        return within(runs, at, edit.position - index, edits);
    }
    let mut parts = Parts { start, rest: edits };
    let touched: Vec<(usize, (usize, &[Edit]))> = runs
        .iter()
        .enumerate()
        .filter_map(|(at, child)| Some((at, parts.next(child.count)?)))
        .collect();
    let changes = touched.into_iter().map(|(at, (start, edits))| within(runs, at, start, edits));
    changes.fold(Change::default(), Change::and)
}

fn edit_row(rows: &mut Vec<Entry>, at: usize, edit: &Edit, entries: &impl Entries) -> Change {
    if let Some(before) = edit.before {
        assert_eq!(rows[at].row, before, "the edit names the row that is in the list");
    }
    let loses = |before| entries.summary(before).marks;
    match (edit.before, edit.after) {
        (None, None) => Change::default(),
        (Some(before), None) => {
            rows.remove(at);
            Change { count: -1, gains: 0, loses: loses(before) }
        }
        (None, Some(row)) => {
            rows.insert(at, Entry::of(row, entries));
            Change { count: 1, gains: entries.summary(row).marks, loses: 0 }
        }
        (Some(before), Some(row)) => {
            rows[at] = Entry::of(row, entries);
            let summary = entries.summary(row);
            // A row changed in place does not reveal what it was before: it may have lost any mark.
            let loses = if before == row { u32::MAX } else { loses(before) };
            Change { count: 0, gains: summary.marks, loses: loses & !summary.marks }
        }
    }
}

fn edit_beside(beside: &mut Beside, at: usize, edit: &Edit) {
    match (edit.before, edit.after) {
        (None, None) => {}
        (Some(_), None) => beside.remove(at),
        (None, Some(_)) => beside.insert(at),
        (Some(_), Some(_)) => beside.replace(at),
    }
}

/// Distributes edits to the runs that contain them.
struct Parts<'a> {
    start: usize,
    rest: &'a [Edit],
}

impl<'a> Parts<'a> {
    /// Returns the start of the next run and the edits in it, or `None` if it has no edits.
    fn next(&mut self, count: u32) -> Option<(usize, &'a [Edit])> {
        let start = self.start;
        self.start += count as usize;
        // Most runs have no edits.
        if self.rest.first().is_none_or(|edit| edit.position >= self.start) {
            return None;
        }
        let (here, rest) =
            self.rest.split_at(self.rest.partition_point(|edit| edit.position < self.start));
        self.rest = rest;
        Some((start, here))
    }
}

impl Run {
    /// Updates the summary after rows were added or removed.
    fn settle(&mut self, gains: u32, loses: u32, entries: &impl Entries) {
        self.forget();
        if matches!(self.items, Items::Rows(_)) && self.summary.marks & loses & Summary::EXACT == 0
        {
            // No exact mark can have been lost, so the rows need not be fetched.
            self.refresh_expiry();
            self.summary.marks |= gains;
        } else {
            self.summarize(entries);
        }
    }

    /// Removes the last run.
    fn pop_run(&mut self, entries: &impl Entries) -> Option<Child> {
        let Items::Runs(runs) = &mut self.items else { return None };
        let child = runs.own().pop()?;
        self.count -= child.count;
        self.settle(0, 0, entries);
        Some(child)
    }
}

/// Removes a row that ends runs: each run it ended is joined with the run after it. All other runs
/// stay as they are.
struct Merge<'a, E> {
    /// The number of levels that the row ends.
    ended: usize,
    /// The row's marks.
    loses: u32,
    entries: &'a E,
}

impl<E: Entries> Merge<'_, E> {
    /// Removes the row below a run of level `ended` or higher; at level `ended`, joins the two runs
    /// that the row separated.
    fn within(&self, run: &mut Arc<Run>, level: usize, mut index: usize) {
        let run = Arc::make_mut(run);
        if let Items::Runs(runs) = &mut run.items {
            let at = runs.locate(&mut index).expect("the index is in this run");
            if level == self.ended {
                let next = runs.own().remove(at + 1);
                self.join(&mut runs.change(at).run, &next.run);
            } else {
                self.within(&mut runs.change(at).run, level - 1, index);
            }
            runs.change(at).refresh();
        }
        run.count -= 1;
        run.settle(0, self.loses, self.entries);
    }

    /// Joins two adjacent runs, without the last row of the left one.
    fn join(&self, left: &mut Arc<Run>, right: &Run) {
        let left = Arc::make_mut(left);
        match (&mut left.items, &right.items) {
            (Items::Rows(left), Items::Rows(right)) => {
                left.pop();
                left.extend_from_slice(right);
            }
            (Items::Runs(left), Items::Runs(right)) => {
                let mut right = right.iter();
                let left = left.own();
                if let (Some(last), Some(first)) = (left.last_mut(), right.next()) {
                    self.join(&mut last.run, &first.run);
                    last.refresh();
                    left.extend(right.cloned());
                }
            }
            _ => unreachable!("adjacent runs have the same level"),
        }
        left.count = left.count + right.count - 1;
        left.beside = OnceLock::new();
        left.settle(right.summary.marks, self.loses, self.entries);
    }

    /// Prepends a run that is no longer finished to the unfinished runs of its level and below.
    ///
    /// The unfinished runs of a list follow each other from the highest level down, so the rows that continue `run` are in the
    /// unfinished run of its level. If that one is empty, they are on a lower level, and continue the last run inside `run`.
    fn reopen(&self, list: &mut List, level: usize, mut run: Arc<Run>) {
        let next = &list.levels[level];
        if level == 0 || !next.is_empty() {
            self.join(&mut run, next);
            list.levels[level] = run;
            return;
        }
        let last = Arc::make_mut(&mut run).pop_run(self.entries);
        list.levels[level] = run;
        let last = last.expect("a finished run is not empty");
        self.reopen(list, level - 1, last.run);
    }
}

impl List {
    pub(super) const EMPTY: List = List { levels: Vec::new() };

    /// Removes and replaces rows at ascending positions. Rows that end runs are removed last and
    /// from the back, because joining runs changes the shape but not the positions before.
    fn edit_all(&mut self, edits: &[Edit], entries: &impl Entries) {
        let mut within = Vec::with_capacity(edits.len());
        let mut ends = Vec::new();
        let mut removed = 0;
        for edit in edits {
            match (edit.before, edit.after) {
                (Some(before), None) => match entries.boundary(before) {
                    0 => {
                        removed += 1;
                        within.push(*edit);
                    }
                    ended => ends.push((edit.position - removed, before, ended as usize)),
                },
                _ => within.push(*edit),
            }
        }
        self.edit_in_runs(&within, entries);
        for (index, row, ended) in ends.into_iter().rev() {
            let loses = entries.summary(row).marks;
            self.merge_at(index, &Merge { ended, loses, entries });
        }
    }

    /// Edits rows in a way that keeps all runs in place.
    fn edit_in_runs(&mut self, edits: &[Edit], entries: &impl Entries) {
        let mut parts = Parts { start: 0, rest: edits };
        for run in self.levels.iter_mut().rev() {
            if let Some((start, edits)) = parts.next(run.count) {
                edit_run(run, start, edits, entries);
            }
        }
    }

    /// Removes a row that ends runs.
    fn merge_at(&mut self, mut index: usize, merge: &Merge<'_, impl Entries>) {
        for level in (0..self.levels.len()).rev() {
            let run = &mut self.levels[level];
            let count = run.count as usize;
            if index >= count {
                index -= count;
                continue;
            }
            if level == merge.ended && index + 1 == count {
                // The row after it is in an unfinished run, so the run that the row ended is
                // unfinished too.
                let last = Arc::make_mut(run).pop_run(merge.entries);
                let last = last.expect("the row ended a run of this level");
                merge.reopen(self, level - 1, last.run);
            } else {
                merge.within(run, level, index);
            }
            break;
        }
        // A list built by appending never has an empty highest level; equal entries must give equal
        // shapes.
        while self.levels.last().is_some_and(|run| run.is_empty()) {
            self.levels.pop();
        }
    }

    /// Returns the unfinished run of a level for changing it.
    fn open(&mut self, level: usize) -> &mut Run {
        while self.levels.len() <= level {
            self.levels.push(Arc::new(Run::empty(self.levels.len())));
        }
        Arc::make_mut(&mut self.levels[level])
    }

    /// Finishes the unfinished runs of the levels from `from` to below `ended`.
    fn finish(&mut self, from: usize, ended: u32) {
        for level in from..ended as usize {
            let run = std::mem::replace(&mut self.levels[level], Arc::new(Run::empty(level)));
            self.open(level + 1).push_run(Child::new(run));
        }
    }

    pub(super) fn push_row(&mut self, row: RowNumber, entries: &impl Entries) {
        let summary = entries.summary(row);
        self.open(0).push_row(row, summary);
        self.finish(0, entries.boundary(row));
    }

    /// Appends a finished run of a level. If the levels below are empty it starts on a run boundary
    /// and is shared whole; otherwise its pieces are appended until one is.
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

    /// Returns the list with a row inserted that may end runs.
    ///
    /// Such a row cuts the run that it enters in two, on every level that it ends. This shares everything before the row and
    /// appends the rest again, so that the shape is that of a list built by appending. [`List::push_run`] shares whole runs from
    /// the next boundary on, so the cost is that of the runs around the position.
    fn with_row_at(&self, index: usize, row: RowNumber, entries: &impl Entries) -> List {
        let mut out = List::EMPTY;
        let mut left = index;
        let mut found = false;
        for level in (0..self.levels.len()).rev() {
            let run = &self.levels[level];
            let count = run.count as usize;
            if found {
                // Right of the position: the pieces of an unfinished run are finished runs.
                out.push_items(level, run, entries);
            } else if left < count {
                found = true;
                out.split_run(level, run, left, row, entries);
            } else {
                left -= count;
                if !run.is_empty() {
                    out.open(level);
                    out.levels[level] = Arc::clone(run);
                }
            }
        }
        // A list built by appending never has an empty highest level; equal entries must give equal
        // shapes.
        while out.levels.last().is_some_and(|run| run.is_empty()) {
            out.levels.pop();
        }
        out
    }

    /// Appends a run of a level with a row inserted: shares what precedes the row and re-appends
    /// the rest.
    fn split_run(
        &mut self,
        level: usize,
        run: &Run,
        index: usize,
        row: RowNumber,
        entries: &impl Entries,
    ) {
        match &run.items {
            Items::Rows(rows) => {
                *self.open(0) = Run::of(Items::Rows(rows[..index].to_vec()), entries);
                self.push_row(row, entries);
                rows[index..].iter().for_each(|entry| self.push_row(entry.row, entries));
            }
            Items::Runs(runs) => {
                let mut left = index;
                let at = runs.locate(&mut left).expect("the index is in this run");
                let before: Vec<Child> = runs.iter().take(at).cloned().collect();
                self.open(level);
                self.levels[level] = Arc::new(Run::of(Items::Runs(Runs::from(before)), entries));
                let mut rest = runs.iter().skip(at);
                if let Some(child) = rest.next() {
                    self.split_run(level - 1, &child.run, left, row, entries);
                }
                rest.for_each(|run| self.push_run(level - 1, run, entries));
            }
        }
    }
}
