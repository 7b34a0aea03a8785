//! A request that is imported and rendered again is the same request.

use contextree_import::Format;
use contextree_provider::{Provider, lint};

use crate::support::{assert_same, imported, parse, rendered, samples};

fn check(format: Format, provider: Provider) {
    for (name, text) in samples(format) {
        for chosen in [format, Format::Auto] {
            let imported = imported(&text, chosen);
            assert_eq!(imported.report.format, Some(format), "{name} is told by its looks");
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
fn requests_of_chat_completions_come_back() {
    check(Format::OpenAiChat, Provider::OpenAiChat);
}

#[test]
fn requests_of_responses_come_back() {
    check(Format::OpenAiResponses, Provider::OpenAiResponses);
}

#[test]
fn requests_of_anthropic_come_back() {
    check(Format::Anthropic, Provider::Anthropic);
}

#[test]
fn requests_of_gemini_come_back() {
    check(Format::Gemini, Provider::Gemini);
}
