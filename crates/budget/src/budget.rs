//! Budgets, and their translation to a policy of the engine.

use contextree_engine::{Clear, Limit, MeasureName, Policy};
use contextree_tokens::Tokenizer;
use contextree_tree::Region;

use crate::measure::TOKENS;

/// The maximum size of a request in tokens. Fields that are not set do not limit anything.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The tokenizer. `None` is that of the model which a request is for, and `o200k_base` for a
    /// commit without a request.
    pub tokenizer: Option<Tokenizer>,
    /// The limit of the whole request: system text, tools, messages with what the provider adds
    /// around them, and settings.
    pub max_tokens: Option<u64>,
    /// The limits of `^sys`, `^seq` and `^ah`. Nothing in `^sys` is pruned unless it has a limit
    /// here.
    pub region_tokens: [Option<u64>; 3],
    /// The limit of each turn, and of the head.
    pub turn_tokens: Option<u64>,
    /// The maximum number of turns, including the one about to be sealed. Whole turns are pruned,
    /// oldest first.
    pub max_turns: Option<u64>,
    /// The number of newest turns, including the one about to be sealed, from which nothing is
    /// pruned; 1 by default.
    pub keep_turns: u64,
    /// Whether the newest user message is never pruned, however many calls follow it; true by
    /// default.
    pub keep_user: bool,
    /// Selectors whose matches, with their descendants, are never pruned.
    pub exclude: Vec<String>,
    /// If anything is pruned, the minimum number of tokens to prune. Pruning in large steps keeps
    /// the cached prefix valid for longer.
    pub clear_at_least: Option<u64>,
    /// Clears tool results before anything is pruned: all but this many of the newest get a
    /// placeholder as their content, oldest first, and their calls stay.
    pub keep_results: Option<u64>,
    /// The content of a cleared result; [`Clear::PLACEHOLDER`] by default.
    pub placeholder: Option<String>,
    /// The tokens that are kept free for a summary of what is pruned.
    pub summary_tokens: Option<u64>,
}

/// The rule of a budget that pruned a node, or that could not be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// `max_turns`.
    MaxTurns,
    /// A key of `regions`.
    Region(
        /// The region.
        Region,
    ),
    /// `turn_tokens`.
    TurnTokens,
    /// `max_tokens`.
    MaxTokens,
    /// `clear_at_least`.
    ClearAtLeast,
}

impl Rule {
    /// Returns the key in a budget file: `max_tokens`, `regions.sys`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Rule::MaxTurns => "max_turns",
            Rule::Region(Region::Sys) => "regions.sys",
            Rule::Region(Region::Seq) => "regions.seq",
            Rule::Region(Region::Head) => "regions.ah",
            Rule::TurnTokens => "turn_tokens",
            Rule::MaxTokens => "max_tokens",
            Rule::ClearAtLeast => "clear_at_least",
        }
    }
}

impl Rule {
    /// Returns the rule that a limit of a policy is; `None` if budgets have no such rule.
    #[must_use]
    pub fn of_limit(limit: &Limit) -> Option<Rule> {
        match limit {
            Limit::Depth(_) => Some(Rule::MaxTurns),
            Limit::Region { region, .. } => Some(Rule::Region(*region)),
            Limit::Turn { .. } => Some(Rule::TurnTokens),
            Limit::Total { .. } => Some(Rule::MaxTokens),
            Limit::ClearAtLeast { .. } => Some(Rule::ClearAtLeast),
            _ => None,
        }
    }
}

impl Default for Budget {
    /// Returns a budget without limits.
    fn default() -> Self {
        Budget {
            tokenizer: None,
            max_tokens: None,
            region_tokens: [None; 3],
            turn_tokens: None,
            max_turns: None,
            keep_turns: 1,
            keep_user: true,
            exclude: Vec::new(),
            clear_at_least: None,
            keep_results: None,
            placeholder: None,
            summary_tokens: None,
        }
    }
}

impl Budget {
    /// Creates a budget without limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tokenizer.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// Limits the whole request.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Limits one region.
    #[must_use]
    pub fn region_tokens(mut self, region: Region, tokens: u64) -> Self {
        self.region_tokens[region as usize] = Some(tokens);
        self
    }

    /// Limits each turn.
    #[must_use]
    pub fn turn_tokens(mut self, tokens: u64) -> Self {
        self.turn_tokens = Some(tokens);
        self
    }

    /// Limits the number of turns.
    #[must_use]
    pub fn max_turns(mut self, turns: u64) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Protects the newest turns from pruning.
    #[must_use]
    pub fn keep_turns(mut self, turns: u64) -> Self {
        self.keep_turns = turns;
        self
    }

    /// Sets whether the newest user message is protected from pruning.
    #[must_use]
    pub fn keep_user(mut self, keep: bool) -> Self {
        self.keep_user = keep;
        self
    }

    /// Protects the matches of a selector from pruning.
    #[must_use]
    pub fn exclude(mut self, selector: impl Into<String>) -> Self {
        self.exclude.push(selector.into());
        self
    }

    /// Sets the minimum number of tokens to prune at once.
    #[must_use]
    pub fn clear_at_least(mut self, tokens: u64) -> Self {
        self.clear_at_least = Some(tokens);
        self
    }

    /// Clears tool results, except for the newest, before anything is pruned.
    #[must_use]
    pub fn keep_results(mut self, results: u64) -> Self {
        self.keep_results = Some(results);
        self
    }

    /// Sets the content of cleared results.
    #[must_use]
    pub fn placeholder(mut self, text: impl Into<String>) -> Self {
        self.placeholder = Some(text.into());
        self
    }

    /// Keeps tokens free for a summary of what is pruned.
    #[must_use]
    pub fn summary_tokens(mut self, tokens: u64) -> Self {
        self.summary_tokens = Some(tokens);
        self
    }

    /// Returns the name of this budget's measure in the engine: `tokens`, or `tokens:o200k_base` if
    /// it has a tokenizer of its own.
    #[must_use]
    pub fn measure_name(&self) -> String {
        match self.tokenizer {
            Some(tokenizer) => format!("{TOKENS}:{}", tokenizer.name()),
            None => TOKENS.to_owned(),
        }
    }

    /// Returns the rules of the budget with their limits, in the order in which they are applied:
    /// number of turns, regions, each turn, the whole tree.
    #[must_use]
    pub fn rules(&self) -> Vec<(Rule, Limit)> {
        let measure = || MeasureName::Named(self.measure_name());
        let mut rules = Vec::new();
        if let Some(max) = self.max_turns {
            rules.push((Rule::MaxTurns, Limit::Depth(max)));
        }
        for region in Region::ALL {
            if let Some(max) = self.region_tokens[region as usize] {
                let limit = Limit::Region { region, measure: measure(), max };
                rules.push((Rule::Region(region), limit));
            }
        }
        if let Some(max) = self.turn_tokens {
            rules.push((Rule::TurnTokens, Limit::Turn { measure: measure(), max }));
        }
        if let Some(max) = self.max_tokens {
            rules.push((Rule::MaxTokens, Limit::Total { measure: measure(), max }));
        }
        if let Some(min) = self.clear_at_least {
            rules.push((Rule::ClearAtLeast, Limit::ClearAtLeast { measure: measure(), min }));
        }
        rules
    }

    /// Returns the equivalent policy of the engine. The context needs the measure: see
    /// [`Keeper`](crate::Keeper).
    ///
    /// The system text is the oldest and usually the most important part, so it is excluded unless
    /// `regions.sys` limits it.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let mut exclude = self.exclude.clone();
        if self.region_tokens[Region::Sys as usize].is_none() {
            exclude.push(Region::Sys.word().to_owned());
        }
        Policy {
            protect_turns: self.keep_turns,
            protect_user: self.keep_user,
            limits: self.rules().into_iter().map(|(_, limit)| limit).collect(),
            exclude,
            clear: self.keep_results.map(|keep| match &self.placeholder {
                Some(text) => Clear { keep, placeholder: text.clone() },
                None => Clear::all_but(keep),
            }),
            reserve: self.summary_tokens.unwrap_or(0),
            ..Policy::default()
        }
    }
}
