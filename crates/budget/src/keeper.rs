//! Keeps contexts within a budget.

use std::sync::Arc;

use contextree_engine::{CommitError, CommitOptions, CommitReport, Context, Policy};
use contextree_tokens::TokenCounter;
use contextree_tree::NodeRef;

use crate::budget::{Budget, Rule};
use crate::forecast::Forecast;

/// A budget with its counter.
///
/// One keeper can serve many contexts and threads, because counts are cached by content.
#[derive(Clone, Debug)]
pub struct Keeper {
    budget: Budget,
    rules: Vec<Rule>,
    policy: Policy,
    counter: Arc<TokenCounter>,
}

impl Keeper {
    /// Creates a keeper with its own counter.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        let counter = Arc::new(TokenCounter::new(budget.tokenizer));
        Self::with_counter(budget, counter)
    }

    /// Creates a keeper that shares a counter. The tokenizer of the counter replaces that of the
    /// budget.
    #[must_use]
    pub fn with_counter(mut budget: Budget, counter: Arc<TokenCounter>) -> Self {
        budget.tokenizer = counter.tokenizer();
        let rules = budget.rules().into_iter().map(|(rule, _)| rule).collect();
        let policy = budget.policy();
        Keeper { budget, rules, policy, counter }
    }

    /// Returns the budget.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the counter.
    #[must_use]
    pub fn counter(&self) -> &Arc<TokenCounter> {
        &self.counter
    }

    /// Returns the policy, for callers that commit themselves. [`Keeper::install`] must have added
    /// the measure to the context.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the rule at a position of the policy.
    #[must_use]
    pub fn rule(&self, limit: usize) -> Option<Rule> {
        self.rules.get(limit).copied()
    }

    /// Adds this budget's measure to a context.
    pub fn install(&self, context: &mut Context) {
        let counter = Arc::clone(&self.counter);
        let measure = move |block: NodeRef<'_>| counter.count_node(block);
        context.set_measure(self.budget.measure_name(), Arc::new(measure));
    }

    /// Returns what a commit under this budget would prune, and why, without committing.
    ///
    /// # Errors
    ///
    /// If the commit would fail: an excluded selector is invalid in the edition of the context.
    pub fn preview(&self, context: &mut Context) -> Result<Forecast, CommitError> {
        self.install(context);
        let options = CommitOptions { policy: Some(&self.policy), ..CommitOptions::default() };
        let preview = context.preview(&options)?;
        Ok(Forecast::new(self, context, preview))
    }

    /// Commits under this budget.
    ///
    /// # Errors
    ///
    /// In the same cases as [`Context::commit_with`].
    pub fn commit(&self, context: &mut Context) -> Result<CommitReport, CommitError> {
        self.install(context);
        let options = CommitOptions { policy: Some(&self.policy), ..CommitOptions::default() };
        context.commit_with(&options)
    }

    /// Commits exactly what was forecast.
    ///
    /// # Errors
    ///
    /// [`CommitError::StalePreview`] if the commit would differ from the forecast.
    pub fn accept(
        &self,
        context: &mut Context,
        forecast: &Forecast,
    ) -> Result<CommitReport, CommitError> {
        let options = CommitOptions { policy: Some(&self.policy), ..CommitOptions::default() };
        context.accept(&forecast.preview, &options)
    }
}
