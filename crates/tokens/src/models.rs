//! Maps model names to encodings and estimates.

use crate::encoding::Encoding;
use crate::estimate::Estimate;

/// Model names and prefixes of model names; the first match counts. Covers every name in PyPI
/// `tiktoken` 0.14.0.
const OPENAI: [(&str, Encoding); 38] = [
    ("gpt-oss-", Encoding::O200kHarmony),
    ("gpt-5", Encoding::O200kBase),
    ("gpt-4.5", Encoding::O200kBase),
    ("gpt-4.1", Encoding::O200kBase),
    ("gpt-4o", Encoding::O200kBase),
    ("chatgpt-4o-", Encoding::O200kBase),
    ("codex-mini", Encoding::O200kBase),
    ("o1", Encoding::O200kBase),
    ("o3", Encoding::O200kBase),
    ("o4-mini", Encoding::O200kBase),
    ("gpt-4", Encoding::Cl100kBase),
    ("gpt-3.5", Encoding::Cl100kBase),
    ("gpt-35-turbo", Encoding::Cl100kBase),
    ("davinci-002", Encoding::Cl100kBase),
    ("babbage-002", Encoding::Cl100kBase),
    ("text-embedding-ada-002", Encoding::Cl100kBase),
    ("text-embedding-3-", Encoding::Cl100kBase),
    ("text-davinci-edit-001", Encoding::P50kEdit),
    ("code-davinci-edit-001", Encoding::P50kEdit),
    ("text-davinci-003", Encoding::P50kBase),
    ("text-davinci-002", Encoding::P50kBase),
    ("code-davinci-", Encoding::P50kBase),
    ("code-cushman-", Encoding::P50kBase),
    ("davinci-codex", Encoding::P50kBase),
    ("cushman-codex", Encoding::P50kBase),
    ("text-davinci-001", Encoding::R50kBase),
    ("text-curie-001", Encoding::R50kBase),
    ("text-babbage-001", Encoding::R50kBase),
    ("text-ada-001", Encoding::R50kBase),
    ("text-similarity-", Encoding::R50kBase),
    ("text-search-", Encoding::R50kBase),
    ("code-search-", Encoding::R50kBase),
    ("davinci", Encoding::R50kBase),
    ("curie", Encoding::R50kBase),
    ("babbage", Encoding::R50kBase),
    ("ada", Encoding::R50kBase),
    ("gpt2", Encoding::Gpt2),
    ("gpt-2", Encoding::Gpt2),
];

/// Returns the name of a model without the additions of routers and clouds: `gpt-5.6` for
/// `openai/gpt-5.6` and for `ft:gpt-5.6:acme::1`, `claude-opus-5-v1:0` for
/// `us.anthropic.claude-opus-5-v1:0`.
#[must_use]
pub fn bare_model(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    // A fine-tuned model has the encoding of its base model.
    if let Some(tuned) = name.strip_prefix("ft:") {
        return tuned.split(':').next().unwrap_or(tuned);
    }
    let vendors = ["anthropic.", "openai.", "google."];
    vendors.iter().find_map(|vendor| Some(name.split_once(vendor)?.1)).unwrap_or(name)
}

/// Returns the encoding of an OpenAI model.
pub(crate) fn encoding(model: &str) -> Option<Encoding> {
    let model = bare_model(model);
    OPENAI
        .iter()
        .find(|(name, _)| {
            let Some(rest) = model.strip_prefix(name) else { return false };
            name.ends_with('-') || rest.is_empty() || rest.starts_with(['-', '.', ':'])
        })
        .map(|(_, encoding)| *encoding)
}

/// Returns the estimate for a model, or for the name of a provider.
pub(crate) fn estimate(model: &str) -> Option<Estimate> {
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let model_of = bare_model(model);
    if begins(&["anthropic"]) || model_of.contains("claude") {
        // Opus 4.7 introduced a tokenizer that yields about a third more tokens.
        let is_older = model_version(model_of).is_some_and(|version| version < (4, 7));
        return Some(if is_older { Estimate::CLAUDE_3 } else { Estimate::CLAUDE_5 });
    }
    if begins(&["google"]) || model_of.starts_with("gemini") {
        return Some(Estimate::GEMINI);
    }
    (model == "other").then_some(Estimate::OTHER)
}

/// Names to suggest for an unknown one, newest first.
const SUGGESTED: [&str; 16] = [
    "gpt-5.6",
    "gpt-5.5",
    "gpt-5",
    "gpt-4.1",
    "gpt-4o",
    "gpt-4",
    "gpt-3.5-turbo",
    "gpt-oss-120b",
    "o4-mini",
    "o3",
    "o1",
    "codex-mini",
    "claude-opus-5",
    "claude-sonnet-4-5",
    "gemini-3-pro",
    "gemini-2.5-flash",
];

/// Returns up to three suggestions that share the longest beginning with a name: at least two
/// characters, and at least a third of the name. Without any, returns those that are misspelt.
pub(crate) fn nearest(name: &str) -> Vec<&'static str> {
    let name = bare_model(name).to_ascii_lowercase();
    let shared = |known: &str| {
        known.bytes().zip(name.bytes()).take_while(|(known, name)| known == name).count()
    };
    let longest = SUGGESTED.iter().map(|known| shared(known)).max().unwrap_or(0);
    if longest < 2 || longest * 3 < name.len() {
        return misspelt(&name);
    }
    SUGGESTED.into_iter().filter(|known| shared(known) == longest).take(3).collect()
}

/// Returns up to three suggestions that contain a name (`opus`), or begin with a word of the same letters in another order (`gtp-5`).
fn misspelt(name: &str) -> Vec<&'static str> {
    let letters = |name: &str| {
        let mut letters: Vec<u8> = name.split('-').next().unwrap_or_default().bytes().collect();
        letters.sort_unstable();
        letters
    };
    let is_meant =
        |known: &&str| name.len() > 2 && (known.contains(name) || letters(known) == letters(name));
    SUGGESTED.into_iter().filter(is_meant).take(3).collect()
}

/// Returns the version in the name of a model, if there is one: `(4, 5)` for `claude-sonnet-4-5-20250929`,
/// `(5, 6)` for `gpt-5.6-sol`, `(4, 0)` for `claude-opus-4-20250514`.
#[must_use]
pub fn model_version(model: &str) -> Option<(u32, u32)> {
    let is_number = |part: &&str| {
        (1..3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut parts = bare_model(model).split(['-', '.', '@', ':']).skip_while(|it| !is_number(it));
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next().filter(is_number).and_then(|minor| minor.parse().ok());
    Some((major, minor.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{bare_model, encoding, estimate, nearest};
    use crate::{Encoding, Estimate};

    #[test]
    fn models_have_the_encodings_that_openai_says() {
        let check = |model: &str, expected| assert_eq!(encoding(model), expected, "{model}");
        check("gpt-5.1-codex", Some(Encoding::O200kBase));
        check("gpt-4o-2024-05-13", Some(Encoding::O200kBase));
        check("gpt-4-0314", Some(Encoding::Cl100kBase));
        check("gpt-4", Some(Encoding::Cl100kBase));
        check("ft:gpt-3.5-turbo:acme::1", Some(Encoding::Cl100kBase));
        check("openai/gpt-oss-120b", Some(Encoding::O200kHarmony));
        check("o1-preview", Some(Encoding::O200kBase));
        check("davinci", Some(Encoding::R50kBase));
        check("davinci-002", Some(Encoding::Cl100kBase));
        check("claude-sonnet-5", None);
        check("o1000", None);
        check("", None);
    }

    #[test]
    fn unknown_names_have_the_nearest_known_ones() {
        let check = |name: &str, expected: &[&str]| assert_eq!(nearest(name), expected, "{name}");
        check("gpt-99", &["gpt-5.6", "gpt-5.5", "gpt-5"]);
        check("openai/gpt-4x", &["gpt-4.1", "gpt-4o", "gpt-4"]);
        check("GPT_5", &["gpt-5.6", "gpt-5.5", "gpt-5"]);
        check("gtp-5", &["gpt-5.6", "gpt-5.5", "gpt-5"]);
        check("Calude-opus-5", &["claude-opus-5", "claude-sonnet-4-5"]);
        check("sonnet", &["claude-sonnet-4-5"]);
        check("o5", &[]);
        check("mistral-large", &[]);
        check("", &[]);
    }

    /// All names in `tiktoken/model.py` of PyPI `tiktoken` 0.14.0, and its prefixes with a suffix.
    #[test]
    fn every_model_in_tiktoken_has_the_same_encoding() {
        let table = [
            (
                "o200k_base",
                "o1-x o3-x o4-mini-x gpt-5-x gpt-4.5-x gpt-4.1-x chatgpt-4o-x gpt-4o-x ft:gpt-4o-x o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
            ),
            (
                "cl100k_base",
                "gpt-4-x gpt-3.5-turbo-x gpt-35-turbo-x ft:gpt-4-x ft:gpt-3.5-turbo-x ft:davinci-002-x ft:babbage-002-x gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
            ),
            ("o200k_harmony", "gpt-oss-x"),
            (
                "p50k_base",
                "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 code-cushman-001 davinci-codex cushman-codex",
            ),
            (
                "r50k_base",
                "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 code-search-babbage-code-001 code-search-ada-code-001",
            ),
            ("p50k_edit", "text-davinci-edit-001 code-davinci-edit-001"),
            ("gpt2", "gpt2 gpt-2"),
        ];
        for (expected, models) in table {
            for model in models.split(' ') {
                let found = encoding(model).map(Encoding::name);
                assert_eq!(found, Some(expected), "{model}");
            }
        }
    }

    #[test]
    fn what_routers_put_before_a_name_says_nothing() {
        let check = |model: &str, expected: &str| assert_eq!(bare_model(model), expected);
        check("openai/gpt-5.6", "gpt-5.6");
        check("openrouter/openai/gpt-5.6", "gpt-5.6");
        check("ft:gpt-5.6:acme::1", "gpt-5.6");
        check("anthropic/claude-haiku-4.5", "claude-haiku-4.5");
        check("us.anthropic.claude-opus-5-v1:0", "claude-opus-5-v1:0");
        check("models/gemini-3-pro", "gemini-3-pro");
        check("gpt-4.1", "gpt-4.1");
        assert_eq!(
            estimate("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            Some(Estimate::CLAUDE_3)
        );
        assert_eq!(estimate("vertex_ai/gemini-3-pro"), Some(Estimate::GEMINI));
    }

    #[test]
    fn models_of_others_have_an_estimate() {
        let check = |model: &str, expected| assert_eq!(estimate(model), expected, "{model}");
        check("claude-3-5-sonnet-20241022", Some(Estimate::CLAUDE_3));
        check("claude-sonnet-4-5-20250929", Some(Estimate::CLAUDE_3));
        check("claude-opus-4-20250514", Some(Estimate::CLAUDE_3));
        check("claude-opus-4-7", Some(Estimate::CLAUDE_5));
        check("claude-opus-5", Some(Estimate::CLAUDE_5));
        check("anthropic/claude-haiku-4.5", Some(Estimate::CLAUDE_3));
        check("anthropic", Some(Estimate::CLAUDE_5));
        check("gemini-2.5-pro", Some(Estimate::GEMINI));
        check("llama-4", None);
    }
}
