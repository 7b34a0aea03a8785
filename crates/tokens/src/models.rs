//! From names of models to encodings and estimates.

use crate::encoding::Encoding;
use crate::estimate::Estimate;

/// Models with a name of their own, and the beginnings of the names of their variants. Checked against PyPI `tiktoken` 0.14.0.
const OPENAI: [(&str, Encoding); 24] = [
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
    ("text-davinci-001", Encoding::R50kBase),
    ("davinci", Encoding::R50kBase),
    ("gpt2", Encoding::Gpt2),
];

/// Returns the encoding of an OpenAI model.
pub(crate) fn encoding(model: &str) -> Option<Encoding> {
    // A fine-tuned model counts like the one it was made from; a router's prefix says nothing.
    let model = model.strip_prefix("ft:").unwrap_or(model);
    let model = model.strip_prefix("openai/").unwrap_or(model);
    OPENAI
        .iter()
        .find(|(name, _)| {
            let Some(rest) = model.strip_prefix(name) else { return false };
            name.ends_with('-') || rest.is_empty() || rest.starts_with(['-', '.', ':'])
        })
        .map(|(_, encoding)| *encoding)
}

/// Returns the estimate for a model, or for a provider by its name.
pub(crate) fn estimate(model: &str) -> Option<Estimate> {
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let model_of = model.rsplit('/').next().unwrap_or(model);
    if begins(&["anthropic"]) || model_of.contains("claude") {
        return Some(if is_older_claude(model_of) {
            Estimate::CLAUDE_3
        } else {
            Estimate::CLAUDE_5
        });
    }
    if begins(&["google"]) || model_of.starts_with("gemini") {
        return Some(Estimate::GEMINI);
    }
    (model == "other").then_some(Estimate::OTHER)
}

/// True for the models before Opus 4.7, which brought a tokenizer with about a third more tokens.
fn is_older_claude(model: &str) -> bool {
    let is_version = |part: &&str| part.len() < 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers = model.split(['-', '.', '@', ':']).filter(is_version).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), _) if major < 4 => true,
        (Some(Ok(4)), Some(Ok(minor))) => minor < 7,
        (Some(Ok(4)), _) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{encoding, estimate};
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
