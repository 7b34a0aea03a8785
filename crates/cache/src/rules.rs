//! The caching rules of providers, as data. `docs/tokens.md` has sources and dates.

use contextree_tokens::bare_model;

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
}

impl CacheRules {
    const fn new(name: &'static str, breakpoints: usize, min_tokens: u64) -> Self {
        CacheRules { name, breakpoints, min_tokens, lookback: None, own_tail: false }
    }

    /// Returns whether the provider compares requests token by token, not only at breakpoints.
    #[must_use]
    pub fn compares_tokens(&self) -> bool {
        self.breakpoints == 0
    }

    /// Returns the rules of Anthropic: up to 4 breakpoints, each with a lookback of 20 blocks. The
    /// minimum depends on the model.
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
        CacheRules { lookback: Some(20), ..Self::new("anthropic", 4, min_tokens) }
    }

    /// Returns the rules of OpenAI: automatic from 1,024 tokens on; from GPT-5.6 on, up to 4
    /// breakpoints, one of them automatic at the end.
    #[must_use]
    pub fn openai(model: &str) -> Self {
        let model = bare_model(model);
        let version = model.strip_prefix("gpt-").and_then(|rest| {
            let number = rest.split('-').next()?;
            let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
        });
        let explicit = version.is_some_and(|version| version >= (5, 6));
        let rules = Self::new("openai", if explicit { 4 } else { 0 }, 1024);
        CacheRules { own_tail: explicit, ..rules }
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
}
