//! The public encodings of OpenAI.

use std::fmt;

use crate::bpe::{self, Split, Vocabulary};
use crate::split;

/// An encoding whose vocabulary is part of the package.
///
/// Everything is counted as ordinary text: `<|endoftext|>` in a message is a sequence of
/// characters, not a control token, as in the APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// GPT-4o, GPT-4.1, GPT-4.5, GPT-5, o1, o3, o4-mini.
    O200kBase,
    /// gpt-oss. Counts ordinary text like `o200k_base`.
    O200kHarmony,
    /// GPT-4, GPT-3.5, text-embedding-3.
    Cl100kBase,
    /// text-davinci-002 and -003, the Codex models.
    P50kBase,
    /// The edit models. Counts ordinary text like `p50k_base`.
    P50kEdit,
    /// GPT-3.
    R50kBase,
    /// GPT-2. Counts ordinary text like `r50k_base`.
    Gpt2,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Encoding; 7] = [
        Encoding::O200kBase,
        Encoding::O200kHarmony,
        Encoding::Cl100kBase,
        Encoding::P50kBase,
        Encoding::P50kEdit,
        Encoding::R50kBase,
        Encoding::Gpt2,
    ];

    /// Returns the name: `o200k_base`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::O200kHarmony => "o200k_harmony",
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::P50kBase => "p50k_base",
            Encoding::P50kEdit => "p50k_edit",
            Encoding::R50kBase => "r50k_base",
            Encoding::Gpt2 => "gpt2",
        }
    }

    /// Returns the encoding with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Encoding> {
        Encoding::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// Returns the encoding of an OpenAI model: `gpt-5-mini`, `o3`, `ft:gpt-4o:acme::1`.
    #[must_use]
    pub fn for_model(model: &str) -> Option<Encoding> {
        crate::models::encoding(model)
    }

    /// Returns the number of tokens of a text.
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        let (vocabulary, split) = self.parts();
        vocabulary.count(text, split)
    }

    /// Returns the tokens of a text, as ranks.
    #[must_use]
    pub fn encode(self, text: &str) -> Vec<u32> {
        let (vocabulary, split) = self.parts();
        let mut ranks = Vec::new();
        vocabulary.encode(text, split, &mut ranks);
        ranks
    }

    /// Returns all ordinary tokens with their ranks, lowest rank first.
    pub fn vocabulary(self) -> impl Iterator<Item = (u32, &'static [u8])> {
        self.parts().0.tokens()
    }

    fn parts(self) -> (&'static Vocabulary, Split) {
        match self {
            Encoding::O200kBase | Encoding::O200kHarmony => (&bpe::O200K, split::o200k),
            Encoding::Cl100kBase => (&bpe::CL100K, split::cl100k),
            Encoding::P50kBase | Encoding::P50kEdit => (&bpe::P50K, split::r50k),
            Encoding::R50kBase | Encoding::Gpt2 => (&bpe::R50K, split::r50k),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
