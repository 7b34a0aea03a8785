//! Keeps contexts within a budget.

use std::sync::Arc;

use contextree_engine::{BoundMeasure, CommitError, CommitOptions, CommitReport, Context, Policy};
use contextree_query::QueryLimits;
use contextree_tokens::{TokenCounter, Tokenizer};
use contextree_tree::TreeRef;

use crate::budget::{Budget, Rule};
use crate::forecast::Forecast;
use crate::measure::Counting;

/// A budget with its counter.
///
/// One keeper can serve many contexts and threads, because counts are cached by content.
#[derive(Clone, Debug)]
pub struct Keeper {
    budget: Budget,
    rules: Vec<Rule>,
    policy: Policy,
    counting: Counting,
    bound: Vec<BoundMeasure>,
    limits: Option<QueryLimits>,
}

impl Keeper {
    /// Creates a keeper for commits without a request.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        let tokenizer = budget.tokenizer.unwrap_or_default();
        Self::with(budget, Counting::shared(tokenizer), 0)
    }

    /// Creates a keeper for requests: the tokenizer is that of their model, unless the budget has its
    /// own, and `base` is what they take besides their content: settings.
    #[must_use]
    pub fn for_requests(budget: Budget, tokenizer: Tokenizer, base: u64) -> Self {
        let tokenizer = budget.tokenizer.unwrap_or(tokenizer);
        Self::with(budget, Counting::shared(tokenizer), base)
    }

    /// Creates a keeper with a counter of its own, which replaces that of the budget.
    #[must_use]
    pub fn with_counter(budget: Budget, counter: Arc<TokenCounter>) -> Self {
        let budget = budget.tokenizer(counter.tokenizer());
        Self::with(budget, Counting::new(counter), 0)
    }

    fn with(budget: Budget, counting: Counting, base: u64) -> Self {
        let rules = budget.rules().into_iter().map(|(rule, _)| rule).collect();
        let policy = budget.policy();
        let (name, measure) = (budget.measure_name(), Arc::clone(&counting.measure));
        let bound = vec![BoundMeasure { name, measure, base }];
        Keeper { budget, rules, policy, counting, bound, limits: None }
    }

    /// Returns the keeper with other limits on the selectors of its budget than the default ones.
    #[must_use]
    pub fn with_limits(self, limits: QueryLimits) -> Self {
        Keeper { limits: Some(limits), ..self }
    }

    /// Returns the budget.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the counter.
    #[must_use]
    pub fn counter(&self) -> &Arc<TokenCounter> {
        &self.counting.counter
    }

    /// Returns the tokens of a request besides its content.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.bound.iter().map(|bound| bound.base).sum()
    }

    /// Returns the policy. It needs the measure: see [`Keeper::options`] and [`Keeper::install`].
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the rule at a position of the policy.
    #[must_use]
    pub fn rule(&self, limit: usize) -> Option<Rule> {
        self.rules.get(limit).copied()
    }

    /// Returns the options of a commit under this budget.
    #[must_use]
    pub fn options(&self) -> CommitOptions<'_> {
        CommitOptions {
            policy: Some(&self.policy),
            measures: &self.bound,
            limits: self.limits.as_ref(),
            ..CommitOptions::default()
        }
    }

    /// Adds this budget's measure to a context, for callers that commit with [`Keeper::policy`].
    pub fn install(&self, context: &mut Context) {
        let measure = Arc::clone(&self.counting.measure);
        context.set_measure(self.budget.measure_name(), measure);
    }

    /// Returns what a commit under this budget would prune, and why, without committing.
    ///
    /// # Errors
    ///
    /// If the commit would fail: an excluded selector is invalid in the edition of the context.
    pub fn preview(&self, context: &Context) -> Result<Forecast, CommitError> {
        let preview = context.preview(&self.options())?;
        let forecast = self.forecast(context.working(), &preview.report, preview.snapshot.view());
        Ok(Forecast { preview: Some(preview), ..forecast })
    }

    /// Describes a commit under this budget: what it made of a tree, and why.
    pub fn forecast(
        &self,
        before: TreeRef<'_>,
        report: &CommitReport,
        after: TreeRef<'_>,
    ) -> Forecast {
        Forecast::new(self, before, report, after)
    }

    /// Commits under this budget.
    ///
    /// # Errors
    ///
    /// In the same cases as [`Context::commit_with`].
    pub fn commit(&self, context: &mut Context) -> Result<CommitReport, CommitError> {
        context.commit_with(&self.options())
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
        match &forecast.preview {
            Some(preview) => context.accept(preview, &self.options()),
            None => Err(CommitError::StalePreview),
        }
    }
}
