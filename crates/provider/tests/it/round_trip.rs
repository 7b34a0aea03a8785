//! Tests that a request is unchanged after import and rendering.

use contextree_import::Format;
use contextree_provider::{Provider, lint};

use crate::support::{assert_same, imported, parse, rendered, samples};

fn check(format: Format, provider: Provider) {
    for (name, text) in samples(format) {
        for chosen in [format, Format::Auto] {
            let imported = imported(&text, chosen);
            assert_eq!(imported.report.format, Some(format), "the format of {name} is detected");
            let rendered = rendered(&imported, provider);
            // The last line of a log of requests is the whole request.
            let request = match name.ends_with(".jsonl") {
                true => text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap(),
                false => &text,
            };
            assert_same(&rendered.value(), &parse(request), &name);
            assert_eq!(rendered.losses, [], "{name}: nothing is lost");
            let findings = lint(&rendered);
            assert!(findings.is_empty(), "{name}: {findings:?}");
        }
    }
}

#[test]
fn chat_completions_requests_round_trip() {
    check(Format::OpenAiChat, Provider::OpenAiChat);
}

#[test]
fn responses_requests_round_trip() {
    check(Format::OpenAiResponses, Provider::OpenAiResponses);
}

#[test]
fn anthropic_requests_round_trip() {
    check(Format::Anthropic, Provider::Anthropic);
}

#[test]
fn gemini_requests_round_trip() {
    check(Format::Gemini, Provider::Gemini);
}
