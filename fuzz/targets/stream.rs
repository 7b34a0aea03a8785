//! Collects arbitrary bytes as the stream of each provider: it never panics, the result does not depend on the pieces in which the bytes
//! arrive, and a document that was collected can be written and read again.
#![no_main]

use contextree_json::parse;
use contextree_provider::{Provider, StreamCollector, read_answer};
use libfuzzer_sys::fuzz_target;

const PROVIDERS: [Provider; 4] =
    [Provider::Anthropic, Provider::Gemini, Provider::OpenAiChat, Provider::OpenAiResponses];

fuzz_target!(|body: &[u8]| {
    let size = 1 + body.len() % 7;
    for provider in PROVIDERS {
        let (mut whole, mut pieces) = (StreamCollector::new(provider), StreamCollector::new(provider));
        let fed = whole.feed(body);
        let fed_pieces = body.chunks(size).try_for_each(|it| pieces.feed(it));
        assert_eq!(fed, fed_pieces);
        assert_eq!(whole.text(), pieces.text());
        let (whole, pieces) = (whole.finish(), pieces.finish());
        assert_eq!(whole, pieces);
        if let Ok(document) = whole {
            let again = parse(&document.to_canonical()).expect("it is JSON");
            assert_eq!(again, document);
            let _ = read_answer(provider, document);
        }
    }
});
