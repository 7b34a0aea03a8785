//! The commit: expire → cascade → compact (optional) → drop (optional) → prune (optional) → cascade
//! → seal → snapshot.
//!
//! The order matters. Expiry comes first, so that compaction and pruning see, and limits count,
//! only nodes that are still alive. The head is sealed after pruning, because limits count it as
//! the newest turn. Every step changes the draft only; a checkpoint taken before the first step
//! restores it if a step fails.

mod cascade;
mod clear;
mod drop;
mod expire;
mod prune;
mod seal;
mod summary;
mod sums;
mod units;

pub use clear::CLEARED;
pub use prune::prune_order;
pub use summary::Summary;
pub(crate) use sums::Sums;

use contextree_canon::{Hash, snapshot_digest};
use contextree_query::{Plan, QueryError, QueryLimits, evaluate_within, plan, resolve_on_tree};
use contextree_selector::parse;
use contextree_tree::{NodeRef, Tree, TreeRef};

use crate::context::Context;
use crate::error::{BatchError, CommitError};
use crate::op::Op;
use crate::policy::{BoundMeasure, Measuring, Policy};
use crate::refs::Handles;
use crate::report::{Cleared, CommitReport, Deferred, Pruned, Unmet};
use crate::work::{MAX_CYCLE, Work};

/// Options of a commit.
#[derive(Clone, Copy, Default)]
pub struct CommitOptions<'a> {
    /// What to prune. `None` is the context's own policy, see
    /// [`ContextOptions::policy`](crate::ContextOptions::policy).
    pub policy: Option<&'a Policy>,
    /// Prunes nothing, regardless of the context's own policy.
    pub without_policy: bool,
    /// Runs after expiry and before pruning: returns operations that make the tree smaller, such as
    /// replacing the post-context of old turns with a summary. They are checked like any other; if
    /// one is rejected, the commit fails and nothing has changed.
    pub compaction: Option<Compaction<'a>>,
    /// Nodes to remove, sealed or not, with everything below them: a past that the next request no longer contains, because its client
    /// rewrote it or summarized it. Turns are removed as a whole. Removed after compaction and before pruning.
    pub drop: &'a [String],
    /// Tool results, sealed or not, that a client left out of the next request and whose calls it kept: a placeholder takes the place of
    /// each. Replaced after dropping; the report lists them as dropped, and the placeholder names the result ([`CLEARED`]).
    pub clear: Option<ClearedByClient<'a>>,
    /// Measures for this commit, in place of the context's measures of the same names: a policy in tokens counts as the model does that the
    /// snapshot is sent to.
    pub measures: &'a [BoundMeasure],
    /// The summary of what the policy prunes; it takes the place of the first node that is pruned. The commit fails if it prunes other nodes
    /// than those that were summarized.
    pub summary: Option<&'a Summary>,
    /// How much work each selector of the policy may be; `None` for the default limits.
    pub limits: Option<&'a QueryLimits>,
}

/// Results that a client left out, and what it wrote in their place.
#[derive(Clone, Copy, Debug)]
pub struct ClearedByClient<'a> {
    /// The results. Nodes that do not exist are skipped.
    pub results: &'a [String],
    /// The content of their placeholders.
    pub placeholder: &'a str,
}

/// Examines the working tree and returns operations that make it smaller.
pub type Compaction<'a> = &'a dyn Fn(TreeRef<'_>) -> Vec<Op>;

/// What the steps have done so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    expired: Vec<String>,
    along: Vec<String>,
    deferred: Vec<Deferred>,
    cascaded: Vec<String>,
    dropped: Vec<String>,
    cleared: Vec<Cleared>,
    pruned: Vec<Pruned>,
    summary: Option<String>,
    unmet: Vec<Unmet>,
}

impl<'a> CommitOptions<'a> {
    /// Returns the policy that a commit of a context with these options keeps to.
    #[must_use]
    pub fn policy_in(&self, context: &'a Context) -> Option<&'a Policy> {
        self.policy_or(context.policy())
    }

    /// Like [`CommitOptions::policy_in`], but with the context's own policy.
    pub(crate) fn policy_or(&self, own: Option<&'a Policy>) -> Option<&'a Policy> {
        if self.without_policy { None } else { self.policy.or(own) }
    }
}

/// What the steps of a commit need besides the draft.
pub(crate) struct Surroundings<'a> {
    pub(crate) handles: &'a Handles,
    pub(crate) measures: Measuring<'a>,
    pub(crate) sums: &'a Sums,
    pub(crate) limits: &'a QueryLimits,
}

impl Work<'_> {
    /// Runs a commit. On an error the draft is unchanged; the caller restores the counters.
    pub(crate) fn commit(
        &mut self,
        options: &CommitOptions<'_>,
        around: &Surroundings<'_>,
    ) -> Result<(CommitReport, Tree), CommitError> {
        if self.cycle() > MAX_CYCLE {
            return Err(CommitError::TooManyCommits);
        }
        self.draft.checkpoint();
        match self.commit_steps(options, around) {
            Ok(done) => Ok(done),
            Err(error) => {
                self.draft.roll_back();
                Err(error)
            }
        }
    }

    fn commit_steps(
        &mut self,
        options: &CommitOptions<'_>,
        around: &Surroundings<'_>,
    ) -> Result<(CommitReport, Tree), CommitError> {
        let cycle = self.cycle();
        let mut progress = Progress::default();
        let policy = options.policy_or(self.settings.policy.as_ref());
        let removable = policy.map_or(&[][..], |policy| &policy.removable);
        self.expire(around, &mut progress);
        self.cascade(removable, around, &mut progress)?;
        if let Some(compaction) = options.compaction {
            let operations = compaction(self.draft.view());
            for (index, op) in operations.into_iter().enumerate() {
                self.apply(op)
                    .map_err(|error| CommitError::Compaction(BatchError { index, error }))?;
            }
        }
        self.drop_nodes(options.drop, &mut progress)?;
        if let Some(cleared) = options.clear {
            self.clear_for_client(cleared, &mut progress);
        }
        if let Some(policy) = policy {
            self.prune(policy, options.summary, around, &mut progress)?;
        }
        if policy.is_some() || options.compaction.is_some() || !options.drop.is_empty() {
            self.cascade(removable, around, &mut progress)?;
        }
        let (sealed, core) = self.seal();
        let tree = self.draft.freeze();
        if let Some(policy) = policy {
            around.keep_sums(policy, &tree)?;
        }
        let report = CommitReport {
            cycle,
            digest: digest_of(&tree),
            expired: progress.expired,
            along: progress.along,
            deferred: progress.deferred,
            cascaded: progress.cascaded,
            dropped: progress.dropped,
            cleared: progress.cleared,
            pruned: progress.pruned,
            summary: progress.summary,
            unmet: progress.unmet,
            sealed,
            core,
            operations: std::mem::take(&mut self.counters.operations),
            warnings: std::mem::take(&mut self.counters.warnings),
        };
        self.counters.next_index = 0;
        Ok((report, tree))
    }
}

impl Work<'_> {
    /// Returns the nodes of the working tree that the selectors of a policy match, selector by
    /// selector. `list` is the policy's name for these selectors.
    fn matched(
        &self,
        list: &'static str,
        selectors: &[String],
        limits: &QueryLimits,
    ) -> Result<Vec<NodeRef<'_>>, CommitError> {
        let mut nodes = Vec::new();
        for selector in selectors {
            let query = self.query(list, selector)?;
            let found = evaluate_within(&query, self.draft.view(), None, limits);
            nodes.extend(found.map_err(|error| CommitError::Selector {
                list,
                selector: selector.clone(),
                error,
            })?);
        }
        Ok(nodes)
    }

    /// Fails if a selector of a policy is invalid.
    fn check_selectors(&self, list: &'static str, selectors: &[String]) -> Result<(), CommitError> {
        selectors.iter().try_for_each(|selector| self.query(list, selector).map(drop))
    }

    fn query(&self, list: &'static str, selector: &str) -> Result<Plan, CommitError> {
        let error = |error| CommitError::Selector { list, selector: selector.to_owned(), error };
        let parsed = parse(selector, self.settings.edition)
            .map_err(|problem| error(QueryError::from(problem)))?;
        resolve_on_tree(&parsed).map(plan).map_err(|problem| error(problem.into()))
    }
}

fn digest_of(tree: &Tree) -> Hash {
    snapshot_digest(tree)
}
