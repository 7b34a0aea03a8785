//! What an answer says about itself: its id, the model, why it ended, and the tokens that are billed.

use contextree_json::Value;

use crate::Provider;

/// What a provider reports with an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Why the model stopped, in the provider's words.
    pub stop_reason: Option<String>,
    /// All tokens of the request, whether they were cached or not.
    pub input: Option<u64>,
    /// All tokens of the answer, thinking included.
    pub output: Option<u64>,
    /// Tokens of the request that were read from the cache.
    pub cache_read: Option<u64>,
    /// Tokens of the request that were written to the cache, for any lifetime.
    pub cache_write: Option<u64>,
    /// Of these, the tokens that are kept for five minutes.
    pub cache_write_5m: Option<u64>,
    /// Of these, the tokens that are kept for an hour.
    pub cache_write_1h: Option<u64>,
    /// Of the tokens of the answer, those of the model's reasoning.
    pub reasoning: Option<u64>,
    /// What the provider says about the call besides, such as the reason of a cache miss.
    pub diagnostics: Option<Value>,
}

/// Reads what an answer says about itself. What is missing stays `None`.
///
/// Providers count differently: Anthropic's `input_tokens` leave out what the cache was read for
/// and written with, the others include it. Here `input` is always the whole request.
#[must_use]
pub fn read_usage(provider: Provider, answer: &Value) -> Usage {
    let text = |path: &[&str]| find(answer, path).and_then(Value::as_str).map(str::to_owned);
    let number = |path: &[&str]| find(answer, path).and_then(Value::as_u64);
    match provider {
        Provider::OpenAiChat => Usage {
            id: text(&["id"]),
            model: text(&["model"]),
            stop_reason: text(&["choices", "0", "finish_reason"]),
            input: number(&["usage", "prompt_tokens"]),
            output: number(&["usage", "completion_tokens"]),
            // Other servers of this API have names of their own: DeepSeek, Moonshot, and gateways to
            // Anthropic.
            cache_read: number(&["usage", "prompt_tokens_details", "cached_tokens"])
                .or_else(|| number(&["usage", "prompt_cache_hit_tokens"]))
                .or_else(|| number(&["usage", "cached_tokens"]))
                .or_else(|| number(&["usage", "cache_read_input_tokens"])),
            cache_write: number(&["usage", "cache_creation_input_tokens"]),
            reasoning: number(&["usage", "completion_tokens_details", "reasoning_tokens"]),
            ..Usage::default()
        },
        Provider::OpenAiResponses => Usage {
            id: text(&["id"]),
            model: text(&["model"]),
            stop_reason: text(&["incomplete_details", "reason"]).or_else(|| text(&["status"])),
            input: number(&["usage", "input_tokens"]),
            output: number(&["usage", "output_tokens"]),
            cache_read: number(&["usage", "input_tokens_details", "cached_tokens"])
                .or_else(|| number(&["usage", "cached_tokens"])),
            reasoning: number(&["usage", "output_tokens_details", "reasoning_tokens"]),
            ..Usage::default()
        },
        Provider::Anthropic => {
            let cache_read = number(&["usage", "cache_read_input_tokens"]);
            let cache_write = number(&["usage", "cache_creation_input_tokens"]);
            let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
            let written = |name| number(&["usage", "cache_creation", name]);
            Usage {
                id: text(&["id"]),
                model: text(&["model"]),
                stop_reason: text(&["stop_reason"]),
                input: number(&["usage", "input_tokens"]).map(|new| new.saturating_add(cached)),
                output: number(&["usage", "output_tokens"]),
                cache_read,
                cache_write,
                cache_write_5m: written("ephemeral_5m_input_tokens"),
                cache_write_1h: written("ephemeral_1h_input_tokens"),
                diagnostics: find(answer, &["diagnostics"]).filter(|it| !it.is_null()).cloned(),
                ..Usage::default()
            }
        }
        Provider::Gemini => {
            let thoughts = number(&["usageMetadata", "thoughtsTokenCount"]);
            let spoken = number(&["usageMetadata", "candidatesTokenCount"]);
            Usage {
                id: text(&["responseId"]),
                model: text(&["modelVersion"]),
                stop_reason: text(&["candidates", "0", "finishReason"]),
                input: number(&["usageMetadata", "promptTokenCount"]),
                output: spoken.map(|spoken| spoken.saturating_add(thoughts.unwrap_or(0))),
                cache_read: number(&["usageMetadata", "cachedContentTokenCount"]),
                reasoning: thoughts,
                ..Usage::default()
            }
        }
    }
}

/// Returns the provider whose answer a document is, if its shape tells.
#[must_use]
pub fn provider_of_answer(document: &Value) -> Option<Provider> {
    let is_list = |name: &str| document.get(name).and_then(Value::as_array).is_some();
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    if is_list("choices") {
        return Some(Provider::OpenAiChat);
    }
    if is_list("candidates") {
        return Some(Provider::Gemini);
    }
    if is_list("output") && (text("object") == Some("response") || text("type").is_none()) {
        return Some(Provider::OpenAiResponses);
    }
    (text("type") == Some("message") && is_list("content") && text("role") == Some("assistant"))
        .then_some(Provider::Anthropic)
}

/// Follows names and positions into a document.
fn find<'a>(document: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(document, |value, step| match value {
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

#[cfg(test)]
mod tests {
    use contextree_json::parse;

    use super::{Provider, Usage, provider_of_answer, read_usage};

    fn check(provider: Provider, document: &str, expected: [Option<u64>; 4]) {
        let document = parse(document.as_bytes()).unwrap();
        let Usage { input, output, cache_read, cache_write, .. } = read_usage(provider, &document);
        assert_eq!([input, output, cache_read, cache_write], expected);
        assert_eq!(provider_of_answer(&document), Some(provider));
    }

    #[test]
    fn cached_tokens_are_read_under_the_names_of_other_servers() {
        for name in ["prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"] {
            let usage = format!(r#"{{"prompt_tokens":100,"completion_tokens":5,"{name}":90}}"#);
            check(
                Provider::OpenAiChat,
                &format!(r#"{{"choices":[],"usage":{usage}}}"#),
                [Some(100), Some(5), Some(90), None],
            );
        }
        check(
            Provider::OpenAiResponses,
            r#"{"object":"response","output":[],"usage":{"input_tokens":100,"output_tokens":5,"cached_tokens":90}}"#,
            [Some(100), Some(5), Some(90), None],
        );
    }

    #[test]
    fn input_is_the_whole_request_for_every_provider() {
        check(
            Provider::Anthropic,
            r#"{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":90,"cache_creation_input_tokens":7,"output_tokens":5}}"#,
            [Some(100), Some(5), Some(90), Some(7)],
        );
        check(
            Provider::OpenAiChat,
            r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":90}}}"#,
            [Some(100), Some(5), Some(90), None],
        );
        check(
            Provider::OpenAiResponses,
            r#"{"object":"response","output":[],"usage":{"input_tokens":100,"output_tokens":5,"input_tokens_details":{"cached_tokens":90}}}"#,
            [Some(100), Some(5), Some(90), None],
        );
        check(
            Provider::Gemini,
            r#"{"candidates":[],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":3,"thoughtsTokenCount":2,"cachedContentTokenCount":90}}"#,
            [Some(100), Some(5), Some(90), None],
        );
    }
}
