//! The caching rules of providers, as data. `docs/cache.md` has sources and dates.

use contextree_tokens::{bare_model, model_version};

/// The rules of a provider's prompt cache for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheRules {
    /// The name of the provider: `anthropic`.
    pub name: &'static str,
    /// The maximum number of breakpoints in a request; 0 if the provider finds the prefix
    /// automatically.
    pub breakpoints: usize,
    /// The minimum length of a prefix that is cached.
    pub min_tokens: u64,
    /// The number of blocks, backwards from and including the one with the breakpoint, in which the
    /// provider looks for an older entry; `None` if unlimited.
    pub lookback: Option<usize>,
    /// Whether the provider sets one of the breakpoints automatically, at the end.
    pub own_tail: bool,
    /// How long an entry stays in the cache after its last use, in seconds; `None` if unknown.
    pub lifetime_s: Option<u64>,
    /// How long an entry stays if the longer lifetime was asked for.
    pub long_lifetime_s: Option<u64>,
    /// What the provider reads from its cache is a multiple of this number of tokens.
    pub step_tokens: u64,
    /// Whether the provider drops the reasoning of earlier turns when the user says something new,
    /// which breaks the prefix there.
    pub drops_reasoning: bool,
}

impl CacheRules {
    const fn new(name: &'static str, breakpoints: usize, min_tokens: u64) -> Self {
        CacheRules {
            name,
            breakpoints,
            min_tokens,
            lookback: None,
            own_tail: false,
            lifetime_s: None,
            long_lifetime_s: None,
            step_tokens: 1,
            drops_reasoning: false,
        }
    }

    /// Returns whether the provider compares requests token by token, not only at breakpoints.
    #[must_use]
    pub fn compares_tokens(&self) -> bool {
        self.breakpoints == 0
    }

    /// Returns the rules of Anthropic: up to 4 breakpoints, each with a lookback of 20 blocks, for
    /// five minutes or one hour. The minimum depends on the model. Opus keeps the reasoning of
    /// earlier turns from 4.5 on, the others from 4.6 on.
    #[must_use]
    pub fn anthropic(model: &str) -> Self {
        let model = bare_model(model);
        let has = |words: &[&str]| words.iter().any(|word| model.contains(word));
        let min_tokens = if has(&["opus-5", "fable-5", "mythos-5"]) {
            512
        } else if has(&["haiku-4-5", "haiku-4.5", "opus-4-5", "opus-4.5", "opus-4-6", "opus-4.6"]) {
            4096
        } else {
            1024
        };
        let keeps_from = if has(&["opus"]) { (4, 5) } else { (4, 6) };
        CacheRules {
            lookback: Some(20),
            lifetime_s: Some(5 * 60),
            long_lifetime_s: Some(60 * 60),
            drops_reasoning: model_version(model).is_some_and(|version| version < keeps_from),
            ..Self::new("anthropic", 4, min_tokens)
        }
    }

    /// Returns the rules of OpenAI: automatic from 1,024 tokens on, in steps of 128, for ten minutes, or
    /// with GPT-5.5 for an hour; the reasoning of earlier turns is dropped. From GPT-5.6 on, up to 4 breakpoints,
    /// one of them automatic at the end, for half an hour; reasoning is kept.
    #[must_use]
    pub fn openai(model: &str) -> Self {
        let model = bare_model(model);
        let version = model_version(model).filter(|_| model.starts_with("gpt-"));
        let explicit = version.is_some_and(|version| version >= (5, 6));
        let rules = Self::new("openai", if explicit { 4 } else { 0 }, 1024);
        let (minutes, long) = match version {
            Some(version) if version >= (5, 6) => (30, Some(12 * 60 * 60)),
            Some((5, 5)) => (60, None),
            _ => (10, None),
        };
        CacheRules {
            own_tail: explicit,
            step_tokens: 128,
            lifetime_s: Some(minutes * 60),
            long_lifetime_s: long,
            drops_reasoning: !explicit,
            ..rules
        }
    }

    /// Returns the rules of Gemini: automatic but not guaranteed, from 1,024 tokens on for Flash
    /// and 4,096 for Pro.
    #[must_use]
    pub fn gemini(model: &str) -> Self {
        Self::new("gemini", 0, if model.contains("flash") { 1024 } else { 4096 })
    }

    /// Returns the rules for a model, or for the name of a provider; `None` if unknown.
    #[must_use]
    pub fn for_model(model: &str) -> Option<Self> {
        let name = bare_model(model);
        if model.starts_with("anthropic") || name.contains("claude") {
            Some(Self::anthropic(name))
        } else if model.starts_with("google") || name.starts_with("gemini") {
            Some(Self::gemini(name))
        } else if model.starts_with("openai")
            || contextree_tokens::Encoding::for_model(name).is_some()
        {
            Some(Self::openai(name))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CacheRules;

    #[test]
    fn models_have_the_rules_of_their_provider() {
        let check = |model: &str, expected: (&str, usize, u64)| {
            let rules = CacheRules::for_model(model).expect(model);
            assert_eq!((rules.name, rules.breakpoints, rules.min_tokens), expected, "{model}");
        };
        check("claude-opus-5", ("anthropic", 4, 512));
        check("claude-sonnet-4-5", ("anthropic", 4, 1024));
        check("anthropic/claude-haiku-4.5", ("anthropic", 4, 4096));
        check("gpt-5.6-mini", ("openai", 4, 1024));
        check("gpt-5.10", ("openai", 4, 1024));
        check("gpt-5", ("openai", 0, 1024));
        check("o3", ("openai", 0, 1024));
        check("openai/gpt-5.6", ("openai", 4, 1024));
        check("ft:gpt-5.6:acme::1", ("openai", 4, 1024));
        check("us.anthropic.claude-opus-5-v1:0", ("anthropic", 4, 512));
        check("gemini-3-flash", ("gemini", 0, 1024));
        check("gemini-2.5-pro", ("gemini", 0, 4096));
        assert_eq!(CacheRules::for_model("llama-4"), None);
    }

    #[test]
    fn lifetimes_and_dropped_reasoning_depend_on_the_model() {
        let check = |model: &str, lifetime, drops| {
            let rules = CacheRules::for_model(model).expect(model);
            assert_eq!((rules.lifetime_s, rules.drops_reasoning), (lifetime, drops), "{model}");
        };
        check("claude-sonnet-4-5-20250929", Some(300), true);
        check("claude-opus-4-1", Some(300), true);
        check("claude-opus-4-5-20251101", Some(300), false);
        check("claude-sonnet-4-6", Some(300), false);
        check("claude-fable-5", Some(300), false);
        check("gpt-5.4", Some(600), true);
        check("gpt-5.5-codex", Some(3600), true);
        check("gpt-5.6-sol", Some(1800), false);
        check("gemini-3-pro", None, false);
    }
}
