//! Budgets as they are stored with a context: as its policy.

use contextree_engine::{Clear, Limit, MeasureName, Policy};
use contextree_tokens::Tokenizer;
use contextree_tree::Region;

use crate::budget::Budget;
use crate::measure::{TOKENS, measure_of, tokenizer_of};

impl Budget {
    /// Returns the budget whose policy this is; `None` if the policy is not one of a budget.
    #[must_use]
    pub fn of_policy(policy: &Policy) -> Option<Budget> {
        let mut budget =
            Budget::new().keep_turns(policy.protect_turns).keep_user(policy.protect_user);
        for limit in &policy.limits {
            if let Some(MeasureName::Named(name)) = measure_of(limit)
                && name != TOKENS
            {
                budget.tokenizer = Some(tokenizer_of(name, Tokenizer::default())?);
            }
            match limit {
                Limit::Depth(max) => budget.max_turns = Some(*max),
                Limit::Region { region, max, .. } => {
                    budget.region_tokens[*region as usize] = Some(*max);
                }
                Limit::Turn { max, .. } => budget.turn_tokens = Some(*max),
                Limit::Total { max, .. } => budget.max_tokens = Some(*max),
                Limit::ClearAtLeast { min, .. } => budget.clear_at_least = Some(*min),
                _ => return None,
            }
        }
        if let Some(Clear { keep, placeholder }) = &policy.clear {
            budget.keep_results = Some(*keep);
            let is_own = placeholder != Clear::PLACEHOLDER;
            budget.placeholder = is_own.then(|| placeholder.clone());
        }
        budget.summary_tokens = Some(policy.reserve).filter(|reserve| *reserve > 0);
        budget.exclude.clone_from(&policy.exclude);
        if budget.region_tokens[Region::Sys as usize].is_none() {
            budget.exclude.pop();
        }
        (budget.policy() == *policy).then_some(budget)
    }

    /// Returns the budget as a file in TOML. Defaults are left out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut put = |key: &str, value: String| text.push_str(&format!("{key} = {value}\n"));
        if let Some(tokenizer) = self.tokenizer {
            put("tokenizer", quoted(tokenizer.name()));
        }
        let numbers = [
            ("max_tokens", self.max_tokens),
            ("clear_at_least", self.clear_at_least),
            ("keep_results", self.keep_results),
            ("summary_tokens", self.summary_tokens),
            ("turn_tokens", self.turn_tokens),
            ("max_turns", self.max_turns),
            ("keep_turns", Some(self.keep_turns).filter(|turns| *turns != 1)),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                put(key, value.to_string());
            }
        }
        if let Some(placeholder) = &self.placeholder {
            put("placeholder", quoted(placeholder));
        }
        if !self.keep_user {
            put("keep_user", "false".to_owned());
        }
        if !self.exclude.is_empty() {
            let selectors: Vec<String> = self.exclude.iter().map(|text| quoted(text)).collect();
            put("exclude", format!("[{}]", selectors.join(", ")));
        }
        if self.region_tokens.iter().any(Option::is_some) {
            text.push_str("\n[regions]\n");
        }
        for region in Region::ALL {
            if let Some(max) = self.region_tokens[region as usize] {
                text.push_str(&format!("{} = {max}\n", region.word().trim_start_matches('^')));
            }
        }
        text
    }
}

/// Returns a text as a string of TOML, which are escaped like those of JSON.
fn quoted(text: &str) -> String {
    String::from_utf8_lossy(&contextree_json::Value::from(text).to_canonical()).into_owned()
}
