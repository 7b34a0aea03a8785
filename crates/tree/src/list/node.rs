//! A run: a piece of a child list.

use std::sync::{Arc, OnceLock};

use super::{Entries, List, Summary};

/// What a run holds.
#[derive(Clone, Debug)]
pub(crate) enum Items {
    /// Rows.
    Rows(Vec<u32>),
    /// Finished runs of the level below.
    Runs(Vec<Arc<Run>>),
}

/// A piece of a list at one level.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) items: Items,
    /// Rows in it, at all depths.
    pub(crate) count: u32,
    pub(crate) summary: Summary,
    pub(crate) digest: OnceLock<[u8; 32]>,
}

/// A copy is made to be changed: room for one more entry, and no digest.
impl Clone for Run {
    fn clone(&self) -> Self {
        fn with_room<T: Clone>(items: &[T]) -> Vec<T> {
            let mut copy = Vec::with_capacity(items.len() + 1);
            copy.extend_from_slice(items);
            copy
        }
        let items = match &self.items {
            Items::Rows(rows) => Items::Rows(with_room(rows)),
            Items::Runs(runs) => Items::Runs(with_room(runs)),
        };
        Run { items, count: self.count, summary: self.summary, digest: OnceLock::new() }
    }
}

impl Run {
    /// An empty unfinished run of a level.
    pub(crate) fn empty(level: usize) -> Self {
        let items = if level == 0 { Items::Rows(Vec::new()) } else { Items::Runs(Vec::new()) };
        Run { items, count: 0, summary: Summary::EMPTY, digest: OnceLock::new() }
    }

    pub(crate) fn of_rows(rows: &[u32], entries: &impl Entries) -> Self {
        let mut run = Run::empty(0);
        run.items = Items::Rows(rows.to_vec());
        run.count = u32::try_from(rows.len()).expect("row numbers are 32 bits, so are counts");
        run.summary = rows.iter().fold(Summary::EMPTY, |all, row| all.and(entries.summary(*row)));
        run
    }

    pub(crate) fn of_runs(runs: &[Arc<Run>]) -> Self {
        let mut run = Run::empty(1);
        run.count = runs.iter().map(|run| run.count).sum();
        run.summary = runs.iter().fold(Summary::EMPTY, |all, run| all.and(run.summary));
        run.items = Items::Runs(runs.to_vec());
        run
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn push_row(&mut self, row: u32, summary: Summary) {
        self.digest = OnceLock::new();
        self.count += 1;
        self.summary = self.summary.and(summary);
        if let Items::Rows(rows) = &mut self.items {
            rows.push(row);
        }
    }

    pub(crate) fn push_run(&mut self, run: Arc<Run>) {
        self.digest = OnceLock::new();
        self.count += run.count;
        self.summary = self.summary.and(run.summary);
        if let Items::Runs(runs) = &mut self.items {
            runs.push(run);
        }
    }

    pub(crate) fn last(&self) -> Option<u32> {
        match &self.items {
            Items::Rows(rows) => rows.last().copied(),
            Items::Runs(runs) => runs.last()?.last(),
        }
    }

    fn get(&self, mut index: usize) -> Option<u32> {
        match &self.items {
            Items::Rows(rows) => rows.get(index).copied(),
            Items::Runs(runs) => {
                for run in runs {
                    let count = run.count as usize;
                    if index < count {
                        return run.get(index);
                    }
                    index -= count;
                }
                None
            }
        }
    }
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.levels.iter().map(|run| run.count as usize).sum()
    }

    pub(crate) fn get(&self, mut index: usize) -> Option<u32> {
        for run in self.levels.iter().rev() {
            let count = run.count as usize;
            if index < count {
                return run.get(index);
            }
            index -= count;
        }
        None
    }
}
