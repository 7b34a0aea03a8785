//! A budget, and the policy that it means to the engine.

use contextree_engine::{Limit, MeasureName, Policy};
use contextree_tokens::Tokenizer;
use contextree_tree::Region;

/// How many tokens a context may have. Everything that is not set is not limited.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// How tokens are counted; `o200k_base` by default.
    pub tokenizer: Tokenizer,
    /// In the whole tree.
    pub max_tokens: Option<u64>,
    /// In `^sys`, `^seq` and `^ah`. Nothing is taken from `^sys` unless it has a limit here.
    pub region_tokens: [Option<u64>; 3],
    /// In each turn, and in the head.
    pub turn_tokens: Option<u64>,
    /// How many turns there may be, the one about to be sealed included; whole turns go, oldest first.
    pub max_turns: Option<u64>,
    /// The newest turns, the one about to be sealed included, that nothing is taken from; 1 by default.
    pub keep_turns: u64,
    /// Selectors: what they match, and everything below it, is never taken.
    pub exclude: Vec<String>,
    /// If anything goes, then at least so many tokens.
    pub clear_at_least: Option<u64>,
}

/// The line of a budget that took something, or that could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// `max_turns`.
    MaxTurns,
    /// A line of `regions`.
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

impl Default for Budget {
    /// Limits nothing.
    fn default() -> Self {
        Budget {
            tokenizer: Tokenizer::default(),
            max_tokens: None,
            region_tokens: [None; 3],
            turn_tokens: None,
            max_turns: None,
            keep_turns: 1,
            exclude: Vec::new(),
            clear_at_least: None,
        }
    }
}

impl Budget {
    /// Returns a budget that limits nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts by this tokenizer.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.tokenizer = tokenizer;
        self
    }

    /// Limits the whole tree.
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

    /// Takes nothing from the newest turns.
    #[must_use]
    pub fn keep_turns(mut self, turns: u64) -> Self {
        self.keep_turns = turns;
        self
    }

    /// Takes nothing that a selector matches.
    #[must_use]
    pub fn exclude(mut self, selector: impl Into<String>) -> Self {
        self.exclude.push(selector.into());
        self
    }

    /// If anything goes, then at least so much.
    #[must_use]
    pub fn clear_at_least(mut self, tokens: u64) -> Self {
        self.clear_at_least = Some(tokens);
        self
    }

    /// Returns the name under which the engine knows this budget's measure: `tokens:o200k_base`.
    #[must_use]
    pub fn measure_name(&self) -> String {
        format!("tokens:{}", self.tokenizer.name())
    }

    /// Returns the rules of the budget, each with its limit, in the order in which they are applied: turns, regions, each turn, the whole.
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

    /// Returns the policy of the engine that this budget means. The context must know the measure: see [`Keeper`](crate::Keeper).
    ///
    /// The system text is the oldest of all, and the last that anybody wants to lose: it is excluded, unless `regions.sys` says how long it may
    /// be.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let mut exclude = self.exclude.clone();
        if self.region_tokens[Region::Sys as usize].is_none() {
            exclude.push(Region::Sys.word().to_owned());
        }
        Policy {
            protect_turns: self.keep_turns,
            limits: self.rules().into_iter().map(|(_, limit)| limit).collect(),
            exclude,
        }
    }
}
