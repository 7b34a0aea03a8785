//! Asking a context: selectors over the working tree and over its history.

use contextree_query::{
    Answer, Explanation, Moment, Plan, QueryError, SelectOptions, Timeline, diff_selected,
    evaluate, explain, plan, resolve_on_tree, select,
};
use contextree_selector::{Edition, parse};
use contextree_tree::diff::Diff;
use contextree_tree::{NodeRef, TreeRef};

use crate::context::Context;
use crate::snapshot::{Snapshot, SnapshotAddress, SnapshotError};

impl Timeline for Context {
    fn snapshot_count(&self) -> usize {
        self.skipped + self.history().len()
    }

    fn snapshot(&self, position: usize) -> Option<Moment<'_>> {
        let Some(index) = position.checked_sub(self.skipped) else {
            self.missed.note();
            return None;
        };
        let snapshot = self.history().get(index)?;
        Some(Moment { cycle: snapshot.cycle(), tree: snapshot.view() })
    }

    fn working(&self) -> Option<TreeRef<'_>> {
        Some(Context::working(self))
    }

    fn position_of_cycle(&self, cycle: i64) -> usize {
        let history = self.history();
        let cycle_at = |index| history.get(index).map(|snapshot| i64::from(snapshot.cycle()));
        let (mut low, mut high) = (0, history.len());
        while low < high {
            let middle = low.midpoint(high);
            match cycle_at(middle) {
                Some(found) if found < cycle => low = middle + 1,
                _ => high = middle,
            }
        }
        if self.skipped > 0 && low == 0 && cycle_at(0) != Some(cycle) {
            self.missed.note();
        }
        self.skipped + low
    }
}

/// Why a diff of what a selector matches could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffError {
    /// A snapshot does not exist.
    Snapshot(SnapshotError),
    /// The selector is none, or says when.
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

impl std::fmt::Display for DiffError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DiffError::Snapshot(error) => error.fmt(formatter),
            DiffError::Query(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for DiffError {}

impl Context {
    /// Answers a selector of the context's edition: nodes, or for a range the differences.
    ///
    /// # Errors
    ///
    /// The text is no selector, or addresses a snapshot that does not exist.
    pub fn select(&self, selector: &str) -> Result<Answer<'_>, QueryError> {
        self.select_with(selector, self.edition(), &SelectOptions::default())
    }

    /// As [`Context::select`], in another edition or with options.
    ///
    /// # Errors
    ///
    /// The text is no selector of that edition, or addresses a snapshot that does not exist.
    pub fn select_with(
        &self,
        selector: &str,
        edition: Edition,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, QueryError> {
        let answer = select(selector, edition, self, options);
        // Whatever came out: without the snapshots that were missed it is not the answer.
        if self.missed.take() { Err(QueryError::NotLoaded) } else { answer }
    }

    /// Tells how a selector is read and answered: its syntax tree, its canonical text, the plan, and what each step matched.
    ///
    /// # Errors
    ///
    /// The text is no selector, or addresses a snapshot that does not exist.
    pub fn explain(&self, selector: &str) -> Result<Explanation, QueryError> {
        let explanation = explain(selector, self.edition(), self);
        if self.missed.take() { Err(QueryError::NotLoaded) } else { explanation }
    }

    /// As [`Context::diff`], of the nodes that a selector matches: one that matches in only one of the two came or went.
    ///
    /// # Errors
    ///
    /// A snapshot does not exist, or the text is no selector without a time.
    pub fn diff_selected(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
        selector: &str,
    ) -> Result<Diff, DiffError> {
        let (older, newer) = self.in_order(left, right).map_err(DiffError::Snapshot)?;
        let at = |snapshot: &Snapshot| Some(snapshot.cycle());
        let plan = self.plan_of(selector).map_err(DiffError::Query)?;
        Ok(diff_selected(&plan, (older.view(), at(older)), (newer.view(), at(newer))))
    }

    /// Answers a selector that does not say when on the working state, in every edition.
    pub(crate) fn select_working(&self, selector: &str) -> Result<Vec<NodeRef<'_>>, QueryError> {
        Ok(evaluate(&self.plan_of(selector)?, Context::working(self), None))
    }

    /// Reads a selector that does not say when.
    fn plan_of(&self, selector: &str) -> Result<Plan, QueryError> {
        let parsed = parse(selector, self.edition())?;
        Ok(plan(resolve_on_tree(&parsed)?))
    }
}
