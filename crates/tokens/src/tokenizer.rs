//! How texts are counted: exactly, or by an estimate.

use std::fmt;

use crate::encoding::Encoding;
use crate::estimate::Estimate;
use crate::models;

/// A way to count tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tokenizer {
    /// Exactly, by a public encoding.
    Exact(
        /// The encoding.
        Encoding,
    ),
    /// By an estimate.
    Estimate(
        /// The estimate.
        Estimate,
    ),
}

impl Default for Tokenizer {
    /// `o200k_base`.
    fn default() -> Self {
        Tokenizer::Exact(Encoding::O200kBase)
    }
}

impl Tokenizer {
    /// Returns the tokenizer of an encoding (`o200k_base`), an estimate (`anthropic`) or a model (`gpt-5`, `claude-opus-5`).
    ///
    /// # Errors
    ///
    /// The name is none of these. `other` is an estimate for everything else.
    pub fn named(name: &str) -> Result<Tokenizer, UnknownTokenizer> {
        let estimate = |name| Estimate::ALL.into_iter().find(|estimate| estimate.name() == name);
        Encoding::from_name(name)
            .or_else(|| models::encoding(name))
            .map(Tokenizer::Exact)
            .or_else(|| estimate(name).or_else(|| models::estimate(name)).map(Tokenizer::Estimate))
            .ok_or_else(|| UnknownTokenizer { name: name.to_owned() })
    }

    /// Returns the number of tokens of a text.
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        match self {
            Tokenizer::Exact(encoding) => encoding.count(text),
            Tokenizer::Estimate(estimate) => estimate.count(text),
        }
    }

    /// Returns the name of the encoding or of the estimate.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tokenizer::Exact(encoding) => encoding.name(),
            Tokenizer::Estimate(estimate) => estimate.name(),
        }
    }

    /// True if counts are exact.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.error_percent() == 0
    }

    /// Returns how far off counts may be, in per cent, either way.
    #[must_use]
    pub fn error_percent(self) -> u64 {
        match self {
            Tokenizer::Exact(_) => 0,
            Tokenizer::Estimate(estimate) => estimate.error_percent(),
        }
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tokenizer::Exact(encoding) => encoding.fmt(formatter),
            Tokenizer::Estimate(estimate) => {
                write!(formatter, "{} (estimate, ±{} %)", estimate.name(), estimate.error_percent())
            }
        }
    }
}

/// No encoding, no estimate and no model that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTokenizer {
    /// The name.
    pub name: String,
}

impl UnknownTokenizer {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_UNKNOWN_TOKENIZER"
    }

    /// Returns what to write instead.
    #[must_use]
    pub fn hint(&self) -> String {
        let encodings: Vec<&str> = Encoding::ALL.into_iter().map(Encoding::name).collect();
        let estimates: Vec<&str> = Estimate::ALL.into_iter().map(Estimate::name).collect();
        format!(
            "exact: {}, or a model of OpenAI; estimates: {}, or a model of these",
            encodings.join(", "),
            estimates.join(", ")
        )
    }
}

impl fmt::Display for UnknownTokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "nobody knows how `{}` counts tokens", self.name)
    }
}

impl std::error::Error for UnknownTokenizer {}
