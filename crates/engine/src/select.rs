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
        self.history().len()
    }

    fn snapshot(&self, position: usize) -> Option<Moment<'_>> {
        let snapshot = self.history().get(position)?;
        Some(Moment { cycle: snapshot.cycle(), tree: snapshot.view() })
    }

    fn working(&self) -> Option<TreeRef<'_>> {
        Some(Context::working(self))
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
        select(selector, edition, self, options)
    }

    /// Tells how a selector is read and answered: its syntax tree, its canonical text, the plan, and what each step matched.
    ///
    /// # Errors
    ///
    /// The text is no selector, or addresses a snapshot that does not exist.
    pub fn explain(&self, selector: &str) -> Result<Explanation, QueryError> {
        explain(selector, self.edition(), self)
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
