//! Selects how texts are counted: exactly, or by an estimate.

use std::fmt;

use crate::encoding::Encoding;
use crate::estimate::Estimate;
use crate::models;

/// The error of counts of requests with an exact tokenizer, in per cent.
const REQUEST_ERROR: u64 = 10;

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
    /// Returns `o200k_base`.
    fn default() -> Self {
        Tokenizer::Exact(Encoding::O200kBase)
    }
}

impl Tokenizer {
    /// Returns the tokenizer of an encoding (`o200k_base`), an estimate (`anthropic`) or a model
    /// (`gpt-5`, `claude-opus-5`).
    ///
    /// # Errors
    ///
    /// If the name is unknown. `other` is an estimate for any other model.
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

    /// Returns whether counts are exact.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.error_percent() == 0
    }

    /// Returns the error of counts of text in per cent, either way.
    #[must_use]
    pub fn error_percent(self) -> u64 {
        match self {
            Tokenizer::Exact(_) => 0,
            Tokenizer::Estimate(estimate) => estimate.error_percent(),
        }
    }

    /// Returns the error of counts of requests in per cent, either way. No provider publishes how it
    /// writes a request for the model, so these are never exact.
    #[must_use]
    pub fn request_error_percent(self) -> u64 {
        self.error_percent().max(REQUEST_ERROR)
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

/// Not a known encoding, estimate or model.
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

    /// Returns the known models with the most similar names, best first; empty if none is similar.
    #[must_use]
    pub fn nearest(&self) -> Vec<&'static str> {
        models::nearest(&self.name)
    }

    /// Returns a hint: the nearest names, or the known ones.
    #[must_use]
    pub fn hint(&self) -> String {
        let nearest = self.nearest();
        if !nearest.is_empty() {
            let names: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
            return format!(
                "the nearest known names are {}; `other` estimates any model",
                names.join(", ")
            );
        }
        let encodings: Vec<&str> = Encoding::ALL.into_iter().map(Encoding::name).collect();
        let estimates: Vec<&str> = Estimate::ALL.into_iter().map(Estimate::name).collect();
        format!(
            "exact: {}, or an OpenAI model; estimates: {}, or a model of these providers",
            encodings.join(", "),
            estimates.join(", ")
        )
    }
}

impl fmt::Display for UnknownTokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown model or tokenizer `{}`", self.name)
    }
}

impl std::error::Error for UnknownTokenizer {}
