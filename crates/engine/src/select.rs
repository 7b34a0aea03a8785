//! Selects from the working tree and the history of a context.

use contextree_query::{
    Answer, Explanation, Moment, Plan, QueryError, QueryLimits, RangeDiff, RangeOptions,
    SelectOptions, Timeline, diff_selected, explain, plan, resolve_on_tree, select, select_parsed,
};
use contextree_selector as ast;
use contextree_selector::{Edition, RelativePoint, SnapshotRange, Span, Time, TimeKind, parse};
use contextree_tree::diff::Diff;
use contextree_tree::{Cycle, TreeRef};

use crate::context::Context;
use crate::snapshot::{Snapshot, SnapshotAddress, SnapshotError};

impl Timeline for Context {
    /// [`QueryError::NotLoaded`] if a context from a store is asked for a part of the history that only the store has.
    type Error = QueryError;

    fn snapshot_count(&self) -> usize {
        self.skipped + self.history().len()
    }

    fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, QueryError> {
        let index = position.checked_sub(self.skipped).ok_or(QueryError::NotLoaded)?;
        let snapshot = self.history().get(index);
        Ok(snapshot.map(|found| Moment { cycle: found.cycle(), tree: found.view() }))
    }

    fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
        Ok(Some(Context::working(self)))
    }

    fn position_of_cycle(&self, cycle: Cycle) -> Result<usize, QueryError> {
        let history = self.history();
        let cycle_at = |index| history.get(index).map(Snapshot::cycle);
        let (mut low, mut high) = (0, history.len());
        while low < high {
            let middle = low.midpoint(high);
            match cycle_at(middle) {
                Some(found) if found < cycle => low = middle + 1,
                _ => high = middle,
            }
        }
        // Snapshots before the loaded ones are only in the store, so it alone knows the position.
        let is_before = low == 0 && cycle_at(0) != Some(cycle);
        if is_before && self.skipped > 0 {
            return Err(QueryError::NotLoaded);
        }
        Ok(self.skipped + low)
    }
}

/// Why the nodes that a selector matches could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A snapshot does not exist.
    #[error(transparent)]
    Snapshot(SnapshotError),
    /// The selector is invalid, or contains a time prefix.
    #[error(transparent)]
    Query(QueryError),
}

impl DiffError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            DiffError::Snapshot(error) => error.code(),
            DiffError::Query(error) => error.code(),
        }
    }
}

impl Context {
    /// Evaluates a selector of the context's edition: returns nodes, or differences for a range.
    ///
    /// # Errors
    ///
    /// If the selector is invalid or addresses a snapshot that does not exist.
    pub fn select(&self, selector: &str) -> Result<Answer<'_>, QueryError> {
        self.select_with(selector, self.edition(), &SelectOptions::default())
    }

    /// Like [`Context::select`], but in another edition or with options.
    ///
    /// # Errors
    ///
    /// If the selector is invalid in that edition or addresses a snapshot that does not exist.
    pub fn select_with(
        &self,
        selector: &str,
        edition: Edition,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, QueryError> {
        select(selector, edition, self, options)
    }

    /// Explains how a selector is parsed and evaluated: its syntax tree, its canonical text, the
    /// plan, and what each step matched.
    ///
    /// # Errors
    ///
    /// If the selector is invalid or addresses a snapshot that does not exist.
    pub fn explain(&self, selector: &str) -> Result<Explanation, QueryError> {
        self.explain_with(selector, self.edition())
    }

    /// Like [`Context::explain`], but in another edition.
    ///
    /// # Errors
    ///
    /// If the selector is invalid in that edition or addresses a snapshot that does not exist.
    pub fn explain_with(
        &self,
        selector: &str,
        edition: Edition,
    ) -> Result<Explanation, QueryError> {
        explain(selector, edition, self)
    }

    /// Compares what a selector matches over a range of snapshots, like [`Context::select`] for a
    /// selector with a range. A selector without a time prefix is compared over the whole history;
    /// one that addresses a single snapshot has nothing to compare with.
    ///
    /// # Errors
    ///
    /// If the selector is invalid or addresses a snapshot that does not exist.
    pub fn range_diff_latest(
        &self,
        selector: &str,
        options: &RangeOptions,
    ) -> Result<RangeDiff, QueryError> {
        let mut parsed = parse(selector, self.edition())?;
        let range = match parsed.time.map(|time| time.kind) {
            None | Some(TimeKind::All) => SnapshotRange::HISTORY,
            Some(TimeKind::Range(range)) => range,
            Some(TimeKind::At(ast::Snapshot::Relative(at))) => {
                let point = RelativePoint::At(at);
                SnapshotRange::Relative { from: point, to: point }
            }
            Some(TimeKind::At(ast::Snapshot::Cycle(cycle))) => {
                SnapshotRange::Cycles { from: cycle, to: cycle }
            }
        };
        let span = parsed.time.map_or(Span::NONE, |time| time.span);
        parsed.time = Some(Time { kind: TimeKind::Range(range), span });
        let options = SelectOptions { range: options.clone(), ..SelectOptions::default() };
        match select_parsed(&parsed, selector, self, &options)? {
            Answer::Range(range) => Ok(range),
            Answer::Nodes(_) => unreachable!("a selector with a range answers with differences"),
        }
    }

    /// Like [`Context::diff`], but only for nodes that a selector matches: a node that matches in
    /// only one of the two counts as added or removed.
    ///
    /// # Errors
    ///
    /// If a snapshot does not exist, or the selector is invalid or contains a time prefix.
    pub fn diff_selected(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
        selector: &str,
    ) -> Result<Diff, DiffError> {
        let (older, newer) = self.in_order(left, right).map_err(DiffError::Snapshot)?;
        let at = |snapshot: &Snapshot| Some(snapshot.cycle());
        let plan = self.plan_of(selector).map_err(DiffError::Query)?;
        let limits = QueryLimits::default();
        diff_selected(&plan, (older.view(), at(older)), (newer.view(), at(newer)), &limits)
            .map_err(DiffError::Query)
    }

    /// Parses a selector without a time prefix.
    fn plan_of(&self, selector: &str) -> Result<Plan, QueryError> {
        let parsed = parse(selector, self.edition())?;
        Ok(plan(resolve_on_tree(&parsed)?))
    }
}
