//! The checks, one for each kind of case.

mod adoption;
mod calls;
mod commit;
mod documents;
mod insert;
mod logs;
mod selectors;
mod session;
mod trees;
mod ttl;
mod values;

use std::collections::BTreeMap;

use contextree::Snapshot;
use contextree::diff::Diff;
use contextree_json::Object;

use super::case::{Case, Edition};

pub(super) use selectors::{BySelector, language};
pub(super) use trees::diff;

/// What the program returned for a case, under the names that expectations use.
pub type Got = Object;

/// Runs the cases of one kind.
pub trait Check {
    /// Returns what the program returned. A key of the case's `expect` that is missing fails the case;
    /// further keys do no harm.
    ///
    /// # Errors
    ///
    /// If the case cannot be run; the message has the reason.
    fn check(&self, case: &Case, edition: Edition) -> Result<Got, String>;

    /// Returns the name of a missing part that the case needs; `None` if it can be run.
    fn misses(&self, case: &Case) -> Option<String> {
        let _ = case;
        None
    }
}

impl<F: Fn(&Case, Edition) -> Result<Got, String>> Check for F {
    fn check(&self, case: &Case, edition: Edition) -> Result<Got, String> {
        self(case, edition)
    }
}

/// Compares two snapshots within the matches of a selector. Supplied by callers that have a
/// selector language.
pub trait DiffSelector {
    /// Returns the diff.
    ///
    /// # Errors
    ///
    /// If the selector is invalid.
    fn diff(
        &self,
        older: &Snapshot,
        newer: &Snapshot,
        selector: &str,
        edition: Edition,
    ) -> Result<Diff, String>;
}

/// Returns the checks of the selector language.
pub(super) fn selectors() -> BTreeMap<String, Box<dyn Check>> {
    let entry = |kind: &str, check: Box<dyn Check>| (kind.to_owned(), check);
    BTreeMap::from([
        entry("select", Box::new(selectors::select_nodes)),
        entry("parse", Box::new(selectors::parse)),
        entry("range", Box::new(selectors::range)),
        entry("content_diff", Box::new(selectors::content_diff)),
        entry("diff", Box::new(diff(Some(Box::new(BySelector))))),
    ])
}

/// Returns the checks that do not need selectors.
pub(super) fn engine() -> BTreeMap<String, Box<dyn Check>> {
    let entry = |kind: &str, check: Box<dyn Check>| (kind.to_owned(), check);
    BTreeMap::from([
        entry("content_hash", Box::new(values::content_hash)),
        entry("order", Box::new(values::order)),
        entry("serialize_snapshot", Box::new(values::serialize_snapshot)),
        entry("prune_order", Box::new(values::prune_order)),
        entry("thread", Box::new(trees::thread)),
        entry("diff", Box::new(diff(None))),
        entry("ttl", Box::new(ttl::ttl)),
        entry("rag_insert", Box::new(ttl::rag_insert)),
        entry("commit", Box::new(commit::commit)),
        entry("seal_neutral", Box::new(commit::seal_neutral)),
        entry("insert", Box::new(insert::insert)),
        entry("flat_log", Box::new(adoption::flat_log)),
        entry("flat_log_commit", Box::new(adoption::flat_log_commit)),
        entry("session", Box::new(session::session)),
        entry("import", Box::new(documents::import)),
        entry("import_log", Box::new(logs::import_log)),
        entry("import_grown", Box::new(logs::import_grown)),
    ])
}
