//! The measure of budgets: what a block takes in a request, in tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use contextree_engine::{BoundMeasure, Limit, Measure, MeasureName, Policy};
use contextree_tokens::{TokenCounter, Tokenizer};
use contextree_tree::NodeRef;

/// The measure of a budget without a tokenizer: that of the model which a request is for.
pub const TOKENS: &str = "tokens";

/// One counter for each tokenizer, for all contexts: counts are cached by content.
static COUNTERS: LazyLock<Mutex<BTreeMap<Tokenizer, Counting>>> = LazyLock::new(Mutex::default);

/// A counter, and the measure that asks it.
#[derive(Clone)]
pub(crate) struct Counting {
    pub(crate) counter: Arc<TokenCounter>,
    pub(crate) measure: Arc<dyn Measure>,
}

impl std::fmt::Debug for Counting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counter.fmt(formatter)
    }
}

impl Counting {
    pub(crate) fn new(counter: Arc<TokenCounter>) -> Self {
        let asked = Arc::clone(&counter);
        let measure = Arc::new(move |block: NodeRef<'_>| asked.count_node(block));
        Counting { counter, measure }
    }

    /// Returns the shared counter of a tokenizer.
    pub(crate) fn shared(tokenizer: Tokenizer) -> Self {
        let mut known = COUNTERS.lock().unwrap_or_else(PoisonError::into_inner);
        let counting = known.entry(tokenizer);
        let new = || Counting::new(Arc::new(TokenCounter::of_requests(tokenizer)));
        counting.or_insert_with(new).clone()
    }
}

/// Returns the measures of a policy that count tokens: `tokens` with this tokenizer, `tokens:NAME`
/// with the one named. `base` is what a request takes besides its content.
#[must_use]
pub fn bind(policy: &Policy, tokenizer: Tokenizer, base: u64) -> Vec<BoundMeasure> {
    let mut bound: Vec<BoundMeasure> = Vec::new();
    for name in policy.limits.iter().filter_map(measure_of) {
        let MeasureName::Named(name) = name else { continue };
        let Some(tokenizer) = tokenizer_of(name, tokenizer) else { continue };
        if bound.iter().all(|known| known.name != *name) {
            let measure = Counting::shared(tokenizer).measure;
            bound.push(BoundMeasure { name: name.clone(), measure, base });
        }
    }
    bound
}

/// Returns the tokenizer that counts for a policy; `None` if the policy does not count tokens.
#[must_use]
pub fn counted_by(policy: &Policy, tokenizer: Tokenizer) -> Option<Tokenizer> {
    policy.limits.iter().filter_map(measure_of).find_map(|name| match name {
        MeasureName::Named(name) => tokenizer_of(name, tokenizer),
        _ => None,
    })
}

/// Returns what a limit measures.
pub(crate) fn measure_of(limit: &Limit) -> Option<&MeasureName> {
    match limit {
        Limit::Total { measure, .. }
        | Limit::Region { measure, .. }
        | Limit::Turn { measure, .. }
        | Limit::ClearAtLeast { measure, .. } => Some(measure),
        _ => None,
    }
}

/// Returns the tokenizer of a measure; `None` if it does not count tokens.
pub(crate) fn tokenizer_of(name: &str, usual: Tokenizer) -> Option<Tokenizer> {
    match name.strip_prefix(TOKENS)? {
        "" => Some(usual),
        other => Tokenizer::named(other.strip_prefix(':')?).ok(),
    }
}
