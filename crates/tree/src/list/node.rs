//! A run: a section of a child list.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Beside, Entries, List, Runs, Summary};
use crate::row::RowNumber;

/// A row in a run. Fields that every walk reads are copied here, so that the row itself need not be
/// fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) row: RowNumber,
    /// The earliest expiry in the row's subtree.
    pub(crate) expires: u32,
}

impl Entry {
    pub(super) fn of(row: RowNumber, entries: &impl Entries) -> Self {
        Entry { row, expires: entries.summary(row).expires }
    }
}

/// A finished run in a run of the level above, with the fields that every walk reads.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) run: Arc<Run>,
    pub(crate) summary: Summary,
    pub(crate) count: u32,
    /// Its last row.
    pub(crate) last: RowNumber,
}

impl Child {
    pub(super) fn new(run: Arc<Run>) -> Self {
        let last = run.last().expect("a finished run is not empty");
        Child { summary: run.summary, count: run.count, last, run }
    }

    /// Updates the copied fields after the run changed.
    pub(super) fn refresh(&mut self) {
        self.summary = self.run.summary;
        self.count = self.run.count;
        self.last = self.run.last().expect("a finished run is not empty");
    }
}

/// The items of a run.
#[derive(Clone, Debug)]
pub(crate) enum Items {
    /// Rows.
    Rows(Vec<Entry>),
    /// Finished runs of the level below.
    Runs(Runs),
}

/// A section of a list at one level.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) items: Items,
    /// Number of rows in it, at all depths.
    pub(crate) count: u32,
    pub(crate) summary: Summary,
    pub(crate) digest: OnceLock<[u8; 32]>,
    /// The digests of its rows. Empty for most runs that are still growing.
    pub(crate) beside: OnceLock<Box<Beside>>,
    extent: AtomicU32,
}

/// The value of [`Run::extent`] before it is computed.
const UNKNOWN: u32 = u32::MAX;

/// A copy is made in order to change it: it has room for one more entry and none of the cached
/// values.
impl Clone for Run {
    fn clone(&self) -> Self {
        let items = match &self.items {
            Items::Rows(rows) => {
                let mut copy = Vec::with_capacity(rows.len() + 1);
                copy.extend_from_slice(rows);
                Items::Rows(copy)
            }
            Items::Runs(runs) => Items::Runs(runs.clone()),
        };
        Run {
            items,
            count: self.count,
            summary: self.summary,
            digest: OnceLock::new(),
            beside: self.beside.clone(),
            extent: AtomicU32::new(UNKNOWN),
        }
    }
}

impl Run {
    /// Returns an empty unfinished run of a level.
    pub(super) fn empty(level: usize) -> Self {
        let items = if level == 0 { Items::Rows(Vec::new()) } else { Items::Runs(Runs::default()) };
        Run::bare(items)
    }

    fn bare(items: Items) -> Self {
        Run {
            items,
            count: 0,
            summary: Summary::EMPTY,
            digest: OnceLock::new(),
            beside: OnceLock::new(),
            extent: AtomicU32::new(UNKNOWN),
        }
    }

    /// Returns a run of these items.
    pub(super) fn of(items: Items, entries: &impl Entries) -> Self {
        let mut run = Run::bare(items);
        run.count = match &run.items {
            Items::Rows(rows) => u32::try_from(rows.len()).expect("rows are counted in 32 bits"),
            Items::Runs(runs) => runs.iter().map(|child| child.count).sum(),
        };
        run.summarize(entries);
        run
    }

    /// Drops cached values that were computed from all entries, because the entries change.
    pub(super) fn forget(&mut self) {
        self.digest = OnceLock::new();
        self.extent = AtomicU32::new(UNKNOWN);
    }

    /// Returns the extent set by [`Run::set_extent`]: the number of rows in the log that make up
    /// this run and everything below it as one contiguous section in document order; 0 if they are
    /// not contiguous.
    pub(crate) fn extent(&self) -> Option<u32> {
        Some(self.extent.load(Ordering::Relaxed)).filter(|extent| *extent != UNKNOWN)
    }

    /// Sets the extent. It never changes: neither the run nor rows of the log do.
    pub(crate) fn set_extent(&self, extent: u32) {
        self.extent.store(extent, Ordering::Relaxed);
    }

    /// Recomputes the summary from the items.
    pub(super) fn summarize(&mut self, entries: &impl Entries) {
        self.summary = match &self.items {
            Items::Rows(rows) => {
                rows.iter().fold(Summary::EMPTY, |all, entry| all.and(entries.summary(entry.row)))
            }
            Items::Runs(runs) => {
                runs.iter().fold(Summary::EMPTY, |all, child| all.and(child.summary))
            }
        };
    }

    /// Recomputes the earliest expiry from the items; the marks are unaffected.
    pub(super) fn refresh_expiry(&mut self) {
        self.summary.expires = match &self.items {
            Items::Rows(rows) => rows.iter().map(|entry| entry.expires).min(),
            Items::Runs(runs) => runs.iter().map(|child| child.summary.expires).min(),
        }
        .unwrap_or(u32::MAX);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn push_row(&mut self, row: RowNumber, summary: Summary) {
        self.forget();
        self.beside = OnceLock::new();
        self.summary = self.summary.and(summary);
        if let Items::Rows(rows) = &mut self.items {
            rows.push(Entry { row, expires: summary.expires });
        }
        self.count += 1;
    }

    pub(super) fn push_run(&mut self, child: Child) {
        self.forget();
        self.count += child.count;
        self.summary = self.summary.and(child.summary);
        if let Items::Runs(runs) = &mut self.items {
            runs.own().push(child);
        }
    }

    pub(crate) fn last(&self) -> Option<RowNumber> {
        match &self.items {
            Items::Rows(rows) => rows.last().map(|entry| entry.row),
            Items::Runs(runs) => runs.last().map(|child| child.last),
        }
    }

    /// Reads the first item to bring the items into the cache. The result has no meaning.
    pub(crate) fn touch(&self) -> u32 {
        match &self.items {
            Items::Rows(rows) => rows.first().map_or(0, |entry| entry.row.0),
            Items::Runs(runs) => runs.get(0).map_or(0, |child| child.last.0),
        }
    }

    pub(super) fn get(&self, mut index: usize) -> Option<RowNumber> {
        let mut run = self;
        loop {
            match &run.items {
                Items::Rows(rows) => return rows.get(index).map(|entry| entry.row),
                Items::Runs(runs) => {
                    let at = runs.locate(&mut index)?;
                    run = &runs.get(at)?.run;
                }
            }
        }
    }
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.levels.iter().map(|run| run.count as usize).sum()
    }

    pub(crate) fn get(&self, mut index: usize) -> Option<RowNumber> {
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
