//! Tests reading model responses: the complete document of a provider is one message.

use contextree_provider::parts::names;
use contextree_provider::read::Role;
use contextree_provider::{Incoming, Provider, read_answer};

use crate::support::parse;

fn read(provider: Provider, document: &str) -> Incoming {
    read_answer(provider, parse(document.as_bytes())).unwrap_or_else(|error| panic!("{error}"))
}

fn kinds(answer: &Incoming) -> Vec<&str> {
    answer.parts.iter().map(|part| part.kind.as_deref().unwrap_or_default()).collect()
}

const ANSWERS: [(Provider, &str); 4] = [
    (
        Provider::OpenAiChat,
        r#"{"id":"a","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"Look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"clock","arguments":"{}"}}]}}],"usage":{"total_tokens":7}}"#,
    ),
    (
        Provider::OpenAiResponses,
        r#"{"id":"a","object":"response","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Look."}]},{"type":"function_call","call_id":"c1","name":"clock","arguments":"{}"}],"usage":{"total_tokens":7}}"#,
    ),
    (
        Provider::Anthropic,
        r#"{"id":"a","type":"message","role":"assistant","content":[{"type":"text","text":"Look."},{"type":"tool_use","id":"c1","name":"clock","input":{}}],"usage":{"output_tokens":7}}"#,
    ),
    (
        Provider::Gemini,
        r#"{"responseId":"a","candidates":[{"content":{"role":"model","parts":[{"text":"Look."},{"functionCall":{"id":"c1","name":"clock","args":{}}}]}}],"usageMetadata":{"totalTokenCount":7}}"#,
    ),
];

#[test]
fn complete_response_is_one_message_and_keeps_its_usage() {
    for (provider, document) in ANSWERS {
        let answer = read(provider, document);
        assert_eq!(answer.role, Role::Assistant, "{provider}");
        assert_eq!(kinds(&answer), ["text", "call"], "{provider}");
        let entry = answer.parts[0].attributes.iter().find(|(name, _)| name == names::ENTRY);
        let (_, entry) = entry.expect("the rest of the document is kept");
        let usage = entry.get("usage").or_else(|| entry.get("usageMetadata"));
        assert!(usage.is_some(), "{provider}: the usage is kept");
    }
}

#[test]
fn bare_message_is_read_as_a_response() {
    let message = r#"{"role":"assistant","content":"Look."}"#;
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Anthropic] {
        assert_eq!(kinds(&read(provider, message)), ["text"], "{provider}");
    }
}

#[test]
fn response_without_output_becomes_an_empty_text() {
    let answer = read(Provider::OpenAiResponses, r#"{"id":"a","output":[]}"#);
    assert_eq!((answer.role, kinds(&answer)), (Role::Assistant, vec!["text"]));
}

#[test]
fn response_of_unexpected_shape_is_refused_with_its_path() {
    let check = |provider, document: &str, expected: &str| {
        let error = read_answer(provider, parse(document.as_bytes())).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(Provider::OpenAiChat, r#"{"choices":[]}"#, "expected a message at `choices[0].message`");
    check(
        Provider::OpenAiChat,
        r#"{"choices":[{"message":{"content":"x"}}]}"#,
        "expected a string at `choices[0].message.role`",
    );
    check(
        Provider::OpenAiResponses,
        r#"{"output":[{"type":"function_call"}]}"#,
        "expected a string at `output[0].call_id`",
    );
}
