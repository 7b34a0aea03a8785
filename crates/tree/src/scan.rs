//! Scans: find all descendants of a node that match given names, in document order.
//!
//! A subtree whose rows are contiguous in document order, as those of a turn created at once are,
//! is read from the column of briefs alone; consecutive turns are read as one section. Everything
//! else is walked.

use std::ops::{ControlFlow, Range};

use crate::class::{Class, Region};
use crate::list::{Children, Items, Run, RunsIter, Summary};
use crate::node::NodeRef;
use crate::row::{Row, RowNumber};
use crate::store::{Brief, Page, Pattern};
use crate::symbol::{Hint, Symbol};
use crate::view::TreeRef;

/// The names that a scan looks for. Each may be set once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names(Pattern);

impl Names {
    /// Only nodes of this class.
    #[must_use]
    pub fn with_class(self, class: Class) -> Self {
        Names(self.0.with_class(class))
    }

    /// Only nodes of this type.
    #[must_use]
    pub fn with_type(self, symbol: Symbol) -> Self {
        Names(self.0.with_type(symbol.number()))
    }

    /// Only nodes with this role.
    #[must_use]
    pub fn with_role(self, symbol: Symbol) -> Self {
        Names(self.0.with_role(symbol.number()))
    }

    /// Only nodes with this kind.
    #[must_use]
    pub fn with_kind(self, symbol: Symbol) -> Self {
        Names(self.0.with_kind(symbol.number()))
    }
}

/// Nodes found by a scan, in document order. They have not been fetched yet.
#[derive(Clone, Copy, Debug)]
pub struct Hits<'h, 'a> {
    tree: TreeRef<'a>,
    page: Page<'a>,
    numbers: &'h [RowNumber],
}

impl<'h, 'a> Hits<'h, 'a> {
    /// Returns the [`NodeRef::version`] of each node.
    #[must_use]
    #[inline]
    pub fn versions(self) -> &'h [RowNumber] {
        self.numbers
    }

    /// Returns the nodes.
    pub fn nodes(self) -> impl Iterator<Item = NodeRef<'a>> + use<'h, 'a> {
        self.numbers.iter().map(move |number| node(self.tree, &self.page, *number))
    }
}

fn node<'a>(tree: TreeRef<'a>, page: &Page<'a>, number: RowNumber) -> NodeRef<'a> {
    match page.row(number) {
        Some(row) => NodeRef { tree, number, row },
        None => tree.node_at(number),
    }
}

impl<'a> TreeRef<'a> {
    /// Returns the nodes of this tree with these [versions](NodeRef::version).
    ///
    /// # Panics
    ///
    /// If a version does not belong to this context.
    pub fn at_versions(
        self,
        versions: impl IntoIterator<Item = RowNumber>,
    ) -> impl Iterator<Item = NodeRef<'a>> {
        // Neighbours in a result are often neighbours in the log.
        let mut page = Page::EMPTY;
        versions.into_iter().map(move |number| {
            if !page.has(number) && number < self.base.rows {
                page = self.base.space.page(number).unwrap_or(Page::EMPTY);
            }
            let is_in_log = number < self.base.rows;
            node(self, if is_in_log { &page } else { &Page::EMPTY }, number)
        })
    }
}

impl<'a> NodeRef<'a> {
    /// Calls `visit` for the nodes below this one that match the names, in batches and in document
    /// order, until it asks to stop; returns false if it did.
    ///
    /// Nodes that the hint excludes may be left out. The recursion is bounded by the depth limit of
    /// trees.
    pub fn scan_below(
        self,
        names: Names,
        hint: Hint,
        visit: &mut impl FnMut(Hits<'_, 'a>) -> bool,
    ) -> bool {
        let Names(pattern) = names;
        let tree = self.tree;
        let mut scan = Scan { tree, pattern, hint, page: Page::EMPTY, pending: NOTHING, visit };
        let outcome = match self.class() {
            Class::Root => Region::ALL.into_iter().try_for_each(|region| scan.region(region)),
            _ => scan.list(self.list()),
        };
        outcome.is_continue() && scan.flush().is_continue()
    }
}

/// A subtree of more rows is read only if its summary allows a match.
const LONG: u32 = 32;
/// Approximate number of rows read as one section.
const PIECE: usize = 1024;
/// Number of rows compared before the matches among them are passed on.
const BATCH: usize = 256;

/// No rows.
const NOTHING: Range<RowNumber> = RowNumber::ROOT..RowNumber::ROOT;

struct Scan<'a, 'v, V> {
    tree: TreeRef<'a>,
    pattern: Pattern,
    hint: Hint,
    /// The page of the log that was read last.
    page: Page<'a>,
    /// Rows to be read as one section before anything else.
    pending: Range<RowNumber>,
    visit: &'v mut V,
}

impl<'a, V: FnMut(Hits<'_, 'a>) -> bool> Scan<'a, '_, V> {
    fn region(&mut self, region: Region) -> ControlFlow<()> {
        let node = self.tree.region(region);
        self.flush()?;
        self.offer_row(node.number, node.row)?;
        self.list(node.list())
    }

    fn list(&mut self, children: &'a Children) -> ControlFlow<()> {
        match children {
            Children::Few { .. } => children.iter().try_for_each(|number| self.node(number)),
            Children::Some(run) => self.open_run(run),
            Children::Many(list) => list.levels.iter().rev().try_for_each(|run| self.open_run(run)),
        }
    }

    fn open_run(&mut self, run: &'a Run) -> ControlFlow<()> {
        match run.last() {
            Some(last) => self.run(run, run.summary, last),
            None => ControlFlow::Continue(()),
        }
    }

    /// Scans a run, given its last row, and everything below it.
    fn run(&mut self, run: &'a Run, summary: Summary, last: RowNumber) -> ControlFlow<()> {
        if !self.wants(summary) {
            return ControlFlow::Continue(());
        }
        // If few nodes can match, examining each by its summary is faster.
        if self.hint.expires_by == u32::MAX {
            let extent = self.extent(run);
            if extent > 0 {
                let end = last.plus(self.span(last));
                return self.put_off(RowNumber(end.0 - extent), extent);
            }
        }
        match &run.items {
            Items::Rows(entries) => {
                for entry in entries {
                    if entry.expires <= self.hint.expires_by {
                        self.node(entry.row)?;
                    }
                }
                ControlFlow::Continue(())
            }
            Items::Runs(runs) => {
                let mut rest = runs.iter();
                for _ in 0..runs.len().div_ceil(RunsIter::AHEAD) {
                    rest.fetch(self.hint);
                    let mut now = rest.by_ref().take(RunsIter::AHEAD);
                    now.try_for_each(|child| self.run(&child.run, child.summary, child.last))?;
                }
                ControlFlow::Continue(())
            }
        }
    }

    /// Scans a node and everything below it.
    #[inline]
    fn node(&mut self, number: RowNumber) -> ControlFlow<()> {
        let span = self.span(number);
        if span > 0 {
            if span > LONG && !self.wants(self.tree.row(number).summary) {
                return ControlFlow::Continue(());
            }
            return self.put_off(number, span);
        }
        let row = self.tree.row(number);
        if !self.wants(row.summary) {
            return ControlFlow::Continue(());
        }
        self.flush()?;
        self.offer_row(number, row)?;
        self.list(&row.children)
    }

    /// Adds rows to the pending section.
    #[inline]
    fn put_off(&mut self, first: RowNumber, span: u32) -> ControlFlow<()> {
        // Limited, so that a scan that needs only the first few nodes can stop early.
        if self.pending.end != first || self.pending.end.since(self.pending.start) as usize >= PIECE
        {
            self.flush()?;
            self.pending = first..first;
        }
        self.pending.end = self.pending.end.plus(span);
        ControlFlow::Continue(())
    }

    /// Returns the number of rows of a run and everything below it, if they are contiguous in
    /// document order; 0 if they are not, or are too many to be read without checking summaries.
    /// The recursion is as deep as the levels of runs.
    fn extent(&mut self, run: &Run) -> u32 {
        if run.count as usize > PIECE {
            return 0;
        }
        if let Some(known) = run.extent() {
            return known;
        }
        let (mut extent, mut end) = (0, None);
        let mut piece = |span: u32, last: RowNumber, last_span: u32| {
            let next = last.plus(last_span);
            let fits =
                span > 0 && end.is_none_or(|end: RowNumber| next.checked_since(end) == Some(span));
            extent += span;
            end = Some(next);
            fits
        };
        let is_piece = match &run.items {
            Items::Rows(rows) => rows.iter().all(|entry| {
                let span = self.span(entry.row);
                piece(span, entry.row, span)
            }),
            Items::Runs(runs) => runs.iter().all(|child| {
                let span = self.extent(&child.run);
                let last_span = self.span(child.last);
                piece(span, child.last, last_span)
            }),
        };
        let extent = if is_piece && extent as usize <= PIECE { extent } else { 0 };
        // Rows of the working state are not in the log yet.
        if run.last().is_some_and(|last| last < self.tree.base.rows) {
            run.set_extent(extent);
        }
        extent
    }

    /// Returns the number of rows from this one on that form its subtree; 0 if the subtree must be
    /// walked.
    #[inline]
    fn span(&mut self, number: RowNumber) -> u32 {
        if number >= self.tree.base.rows {
            return 0;
        }
        if !self.page.has(number) {
            self.turn_to(number);
        }
        self.page.brief(number).map_or(0, Brief::span)
    }

    /// Reads the pending rows.
    fn flush(&mut self) -> ControlFlow<()> {
        let Range { mut start, end } = std::mem::replace(&mut self.pending, NOTHING);
        while start < end {
            if !self.page.has(start) {
                self.turn_to(start);
            }
            let page = self.page;
            let Some(briefs) = page.briefs(start..end) else { break };
            let length = briefs.len();
            let mut first = start;
            for briefs in briefs.chunks(BATCH) {
                // Every number is written, but only matching ones are counted: a branch would be
                // mispredicted too often.
                let mut numbers = [RowNumber::ROOT; BATCH];
                let mut count = 0;
                for (number, brief) in (first.0..).map(RowNumber).zip(briefs) {
                    numbers[count] = number;
                    count += usize::from(self.pattern.admits(brief.get()));
                }
                self.offer(&numbers[..count], page)?;
                first = first.plus(BATCH as u32);
            }
            start = start.plus(length as u32);
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn turn_to(&mut self, number: RowNumber) {
        self.page = self.tree.base.space.page(number).unwrap_or(Page::EMPTY);
    }

    fn offer(&mut self, numbers: &[RowNumber], page: Page<'a>) -> ControlFlow<()> {
        match numbers.is_empty() || (self.visit)(Hits { tree: self.tree, page, numbers }) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn offer_row(&mut self, number: RowNumber, row: &Row) -> ControlFlow<()> {
        let numbers: &[RowNumber] =
            if self.pattern.admits(Brief::of(row)) { &[number] } else { &[] };
        self.offer(numbers, Page::EMPTY)
    }

    #[inline]
    fn wants(&self, summary: Summary) -> bool {
        summary.may_have(self.hint.marks, self.hint.expires_by)
    }
}
