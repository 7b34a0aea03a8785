//! Estimates token counts for providers that do not publish their vocabulary.

use crate::encoding::Encoding;

/// An estimate: the exact count of a public encoding, multiplied by a factor.
///
/// Counting the tokens of another vocabulary accounts for the script and the kind of text, unlike
/// counting characters. `docs/tokens.md` has the origin and the error of the factors. If a request
/// has to fit exactly, use the provider's counting endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Estimate {
    name: &'static str,
    base: Encoding,
    /// In per cent.
    factor: u64,
    /// In per cent, either way: what nine of ten real sessions stay within.
    error: u64,
}

impl Estimate {
    /// Claude models from Opus 4.7 on.
    pub const CLAUDE_5: Estimate = Estimate::new("anthropic", 161, 15);
    /// Claude models before Opus 4.7.
    pub const CLAUDE_3: Estimate = Estimate::new("anthropic-before-4.7", 117, 15);
    /// Gemini models.
    pub const GEMINI: Estimate = Estimate::new("google", 110, 25);
    /// Unknown models.
    pub const OTHER: Estimate = Estimate::new("other", 120, 50);

    /// Every estimate.
    pub const ALL: [Estimate; 4] =
        [Estimate::CLAUDE_5, Estimate::CLAUDE_3, Estimate::GEMINI, Estimate::OTHER];

    const fn new(name: &'static str, factor: u64, error: u64) -> Self {
        Estimate { name, base: Encoding::O200kBase, factor, error }
    }

    /// Returns the name: `anthropic`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the error in per cent, either way, that the estimate of a session rarely exceeds.
    /// Short or unusual texts may be further off.
    #[must_use]
    pub fn error_percent(self) -> u64 {
        self.error
    }

    /// Returns the estimated number of tokens, rounded up.
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        (self.base.count(text) * self.factor).div_ceil(100)
    }
}
