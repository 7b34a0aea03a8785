//! Iterates over a child list, forwards and backwards.

use std::slice;
use std::sync::Arc;

use super::node::Entry;
use super::{Children, Items, Run, RunsIter};
use crate::row::RowNumber;

/// Rows still to be visited, in either form.
#[derive(Clone, Debug)]
enum Rows<'a> {
    Plain(slice::Iter<'a, RowNumber>),
    Entries(slice::Iter<'a, Entry>),
}

impl Rows<'_> {
    #[inline]
    fn next(&mut self) -> Option<RowNumber> {
        match self {
            Rows::Plain(rows) => rows.next().copied(),
            Rows::Entries(rows) => rows.next().map(|entry| entry.row),
        }
    }

    fn next_back(&mut self) -> Option<RowNumber> {
        match self {
            Rows::Plain(rows) => rows.next_back().copied(),
            Rows::Entries(rows) => rows.next_back().map(|entry| entry.row),
        }
    }
}

/// The rows of a list in canonical order.
#[derive(Clone, Debug)]
pub(crate) struct ChildIter<'a> {
    rows: Rows<'a>,
    /// Runs still to be visited, the next one last.
    pending: Vec<RunsIter<'a>>,
    /// Unfinished runs still to be visited, the next one last.
    levels: slice::Iter<'a, Arc<Run>>,
}

impl<'a> ChildIter<'a> {
    pub(super) fn new(children: &'a Children) -> Self {
        let (rows, levels) = match children {
            Children::Few { len, rows } => (&rows[..usize::from(*len)], &[][..]),
            Children::Some(run) => (&[][..], slice::from_ref(run)),
            Children::Many(list) => (&[][..], &list.levels[..]),
        };
        ChildIter { rows: Rows::Plain(rows.iter()), pending: Vec::new(), levels: levels.iter() }
    }

    #[cold]
    fn next_run(&mut self) -> Option<RowNumber> {
        loop {
            let run: &'a Run = loop {
                match self.pending.last_mut() {
                    Some(runs) => match runs.next() {
                        Some(child) => break &child.run,
                        None => drop(self.pending.pop()),
                    },
                    None => break self.levels.next_back()?,
                }
            };
            match &run.items {
                Items::Rows(rows) => {
                    self.rows = Rows::Entries(rows.iter());
                    if let Some(row) = self.rows.next() {
                        return Some(row);
                    }
                }
                Items::Runs(runs) => self.pending.push(runs.iter()),
            }
        }
    }
}

impl Iterator for ChildIter<'_> {
    type Item = RowNumber;

    #[inline]
    fn next(&mut self) -> Option<RowNumber> {
        match self.rows.next() {
            Some(row) => Some(row),
            None => self.next_run(),
        }
    }
}

/// The rows of a list, last one first.
#[derive(Clone, Debug)]
pub(crate) struct ReverseIter<'a> {
    rows: Rows<'a>,
    pending: Vec<RunsIter<'a>>,
    levels: slice::Iter<'a, Arc<Run>>,
}

impl<'a> ReverseIter<'a> {
    pub(super) fn new(children: &'a Children) -> Self {
        let ChildIter { rows, pending, levels } = ChildIter::new(children);
        ReverseIter { rows, pending, levels }
    }
}

impl<'a> Iterator for ReverseIter<'a> {
    type Item = RowNumber;

    fn next(&mut self) -> Option<RowNumber> {
        loop {
            if let Some(row) = self.rows.next_back() {
                return Some(row);
            }
            let run: &'a Run = loop {
                match self.pending.last_mut() {
                    Some(runs) => match runs.next_back() {
                        Some(child) => break &child.run,
                        None => drop(self.pending.pop()),
                    },
                    None => break self.levels.next()?,
                }
            };
            match &run.items {
                Items::Rows(rows) => self.rows = Rows::Entries(rows.iter()),
                Items::Runs(runs) => self.pending.push(runs.iter()),
            }
        }
    }
}
