//! What providers cache, as data. Sources and dates are in `docs/tokens.md`.

use contextree_tokens::bare_model;

/// The rules of a provider's prompt cache for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheRules {
    /// Their name: `anthropic`.
    pub name: &'static str,
    /// How many breakpoints a request may have; 0 if the provider finds the prefix by itself.
    pub breakpoints: usize,
    /// A shorter prefix is not cached.
    pub min_tokens: u64,
    /// How many blocks a provider looks at from a breakpoint backwards, the one with the breakpoint included, for an older entry; nothing
    /// if it is not limited.
    pub lookback: Option<usize>,
    /// True if one of the breakpoints is set by the provider itself, at the end.
    pub own_tail: bool,
}

impl CacheRules {
    const fn new(name: &'static str, breakpoints: usize, min_tokens: u64) -> Self {
        CacheRules { name, breakpoints, min_tokens, lookback: None, own_tail: false }
    }

    /// True if the provider compares requests token by token, and not only where a breakpoint was.
    #[must_use]
    pub fn compares_tokens(&self) -> bool {
        self.breakpoints == 0
    }

    /// Anthropic: up to 4 breakpoints, each of which looks back 20 blocks. The minimum depends on the model.
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

    /// OpenAI: by itself from 1,024 tokens on; from GPT-5.6 on, up to 4 breakpoints, one of them by itself at the end.
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

    /// Gemini: by itself, without a promise; from 1,024 tokens on for Flash, 4,096 for Pro.
    #[must_use]
    pub fn gemini(model: &str) -> Self {
        Self::new("gemini", 0, if model.contains("flash") { 1024 } else { 4096 })
    }

    /// Returns the rules for a model, or for a provider by its name; nothing if they are not known.
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
