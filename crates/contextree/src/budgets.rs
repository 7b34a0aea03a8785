//! Budgets that are stored with a context.

use std::sync::Arc;

use contextree_budget::{Budget, bind};
use contextree_store::{ContextSettings, OpenHook, Session, StoreOptions};
use contextree_tokens::Tokenizer;

use crate::error::Result;

/// Returns store options whose contexts can count tokens, as commits under a stored budget do. [`open_with`](crate::open_with) does this;
/// needed only for stores that are opened in another way.
#[must_use]
pub fn with_budgets(options: StoreOptions) -> StoreOptions {
    let inner = options.on_open.clone();
    let hook: OpenHook = Arc::new(move |settings, context| {
        if let Some(policy) = &settings.policy {
            let bound = bind(policy, Tokenizer::default(), 0);
            context.measures.extend(bound.into_iter().map(|bound| (bound.name, bound.measure)));
        }
        inner.as_ref().map_or(Ok(()), |inner| inner(settings, context))
    });
    StoreOptions { on_open: Some(hook), ..options }
}

/// Returns the budget that is stored with a context. `None` if it has none, or a policy that does not count tokens.
#[must_use]
pub fn budget_of(settings: &ContextSettings) -> Option<Budget> {
    settings.policy.as_ref().and_then(Budget::of_policy)
}

/// Stores a budget with a context, durably, in place of its policy; `None` removes it. From then on it applies to every call and commit that
/// does not name another one.
///
/// # Errors
///
/// If the store cannot be written, or another process wrote first.
pub fn set_budget(session: &mut Session, budget: Option<&Budget>) -> Result<()> {
    let policy = budget.map(Budget::policy);
    let settings = ContextSettings { policy, ..session.settings().clone() };
    Ok(session.set_settings(settings)?)
}
