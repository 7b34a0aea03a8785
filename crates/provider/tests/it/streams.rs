//! Tests of streams: the events of an answer give the document that the provider returns without streaming.
//!
//! The samples in `tests/streams` are in the form of the providers' APIs; `cargo xtask providers` checks with the SDKs' own collectors that
//! their documents are right.

use std::fs;
use std::path::Path;

use contextree_json::Value;
use contextree_provider::{Provider, StreamCollector, StreamError, is_event_stream, read_answer};

use crate::support::parse;

/// Returns the samples: name, provider, body, document.
fn samples() -> Vec<(String, Provider, Vec<u8>, Value)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/streams"));
    let mut samples = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "sse") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let all = [
            Provider::Anthropic,
            Provider::Gemini,
            Provider::OpenAiChat,
            Provider::OpenAiResponses,
        ];
        let provider =
            all.into_iter().find(|it| name.starts_with(it.name())).expect("a provider's name");
        let document = parse(&fs::read(path.with_extension("json")).unwrap());
        samples.push((name, provider, fs::read(&path).unwrap(), document));
    }
    samples.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(samples.len(), 6, "every sample is read");
    samples
}

/// Returns the events of a body as JSON texts.
fn events(body: &[u8]) -> Vec<&str> {
    let lines = std::str::from_utf8(body).unwrap().lines();
    lines.filter_map(|line| line.strip_prefix("data: ")).filter(|text| *text != "[DONE]").collect()
}

fn collect(provider: Provider, body: &[u8], size: usize) -> Result<(String, Value), StreamError> {
    let mut collector = StreamCollector::new(provider);
    for piece in body.chunks(size) {
        collector.feed(piece)?;
    }
    assert_eq!(collector.skipped(), [""; 0], "nothing is unknown");
    let text = collector.text().to_owned();
    Ok((text, collector.finish()?))
}

#[test]
fn stream_in_pieces_of_any_size_gives_the_document_of_the_provider() {
    for (name, provider, body, document) in samples() {
        for size in [1, 2, 3, 7, 64, 1000, body.len()] {
            let (text, collected) = collect(provider, &body, size).unwrap();
            assert_eq!(collected, document, "{name} in pieces of {size}");
            assert!(
                ["Let me look. ☔", "It will rain. ☔", "Rain", ""].contains(&&*text),
                "{name}: {text}"
            );
        }
        let answer =
            read_answer(provider, document).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!answer.parts.is_empty(), "{name} is an answer");
    }
}

#[test]
fn events_of_an_sdk_give_the_same_document() {
    for (name, provider, body, document) in samples() {
        let mut collector = StreamCollector::new(provider);
        for event in events(&body) {
            collector.feed_event(parse(event.as_bytes())).unwrap();
        }
        assert!(collector.is_complete(), "{name}");
        assert_eq!(collector.finish(), Ok(document), "{name}");
    }
}

#[test]
fn json_lines_and_a_json_list_give_the_same_document() {
    for (name, provider, body, document) in samples() {
        let lines = events(&body).join("\n");
        let list = format!("[{}]", events(&body).join(",\r\n"));
        for text in [lines, list] {
            let collected = collect(provider, text.as_bytes(), 5).unwrap().1;
            assert_eq!(collected, document, "{name}");
        }
    }
}

#[test]
fn stream_that_ends_early_is_an_error_of_its_own() {
    for (name, provider, body, _) in samples() {
        let all = events(&body);
        let last = all.len() - 1;
        for count in 0..last {
            let mut collector = StreamCollector::new(provider);
            for event in &all[..count] {
                collector.feed_event(parse(event.as_bytes())).unwrap();
            }
            // The last chunk of a chat stream may carry nothing but the usage.
            if collector.is_complete() {
                assert_eq!(
                    (&*name, count),
                    ("openai-chat-text", last),
                    "only the usage is missing"
                );
                continue;
            }
            let error = collector.finish().unwrap_err();
            assert_eq!(error, StreamError::Incomplete { events: count }, "{name}");
            assert_eq!(error.code(), "E_ANSWER_INCOMPLETE");
        }
    }
}

#[test]
fn bodies_of_streams_are_told_from_documents() {
    for (name, _, body, document) in samples() {
        assert!(is_event_stream(&body), "{name}");
        assert!(!is_event_stream(&document.to_canonical()), "{name}");
    }
    assert!(is_event_stream(b"\xef\xbb\xbf\n: hello\n\n"));
    assert!(!is_event_stream(b""));
}

fn fail(provider: Provider, events: &[&str]) -> StreamError {
    let mut collector = StreamCollector::new(provider);
    let fed = events.iter().try_for_each(|event| collector.feed_event(parse(event.as_bytes())));
    let error = fed.unwrap_err();
    assert_eq!(collector.feed(b"data: {}\n\n"), Err(error.clone()), "the collector stays failed");
    assert!(!collector.is_complete());
    assert_eq!(collector.finish(), Err(error.clone()));
    error
}

#[test]
fn error_that_the_provider_reports_in_the_stream_has_its_message() {
    for (provider, event) in [
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
        ),
        (Provider::OpenAiChat, r#"{"error":{"message":"busy","type":"overloaded_error"}}"#),
        (
            Provider::OpenAiResponses,
            r#"{"type":"error","code":"overloaded_error","message":"busy"}"#,
        ),
        (
            Provider::Gemini,
            r#"{"error":{"code":503,"message":"busy","status":"overloaded_error"}}"#,
        ),
    ] {
        let error = fail(provider, &[event]);
        let expected = StreamError::Provider {
            message: "busy".to_owned(),
            kind: Some("overloaded_error".to_owned()),
        };
        assert_eq!(error, expected, "{provider}");
        assert_eq!(error.code(), "E_ANSWER_ERROR");
    }
}

#[test]
fn event_out_of_order_or_of_another_provider_is_refused() {
    let check = |provider, events: &[&str], expected: &str| {
        let error = fail(provider, events);
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.code(), "E_ANSWER_INVALID");
    };
    let start = r#"{"type":"message_start","message":{}}"#;
    let (stop, block) =
        (r#"{"type":"message_stop"}"#, r#"{"type":"content_block_stop","index":3}"#);
    let first = "event 1 of the stream: expected `message_start` as the first event at `type`";
    check(Provider::Anthropic, &[stop], first);
    check(
        Provider::Anthropic,
        &[start, stop, start],
        "event 3 of the stream: expected no event after `message_stop` at `type`",
    );
    check(
        Provider::Anthropic,
        &[start, block],
        "event 2 of the stream: expected the index of a block that began at `index`",
    );
    let chunk = r#"{"choices":[{"delta":7}]}"#;
    check(Provider::Anthropic, &[chunk], "event 1 of the stream: expected a string at `type`");
    check(
        Provider::OpenAiChat,
        &[chunk],
        "event 1 of the stream: expected an object at `choices[0].delta`",
    );
    check(Provider::OpenAiChat, &["{}"], "event 1 of the stream: expected a list at `choices`");
    check(Provider::Gemini, &[chunk], "event 1 of the stream: expected a chunk of a response");
    check(
        Provider::OpenAiResponses,
        &[
            r#"{"type":"response.created"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"x"}"#,
        ],
        "event 2 of the stream: expected the index of an item that was added at `output_index`",
    );
}

#[test]
fn events_that_are_not_part_of_the_answer_are_left_out_wherever_they_are() {
    let cases = [
        (Provider::OpenAiResponses, ["keepalive", "codex.rate_limits"]),
        (Provider::Anthropic, ["new_event", "vendor.status"]),
    ];
    for (provider, others) in cases {
        let sample = |(_, own, ..): &(String, Provider, Vec<u8>, Value)| *own == provider;
        for (name, _, body, document) in samples().into_iter().filter(sample) {
            let mut collector = StreamCollector::new(provider);
            let mut others = others.iter().cycle();
            let mut send = |collector: &mut StreamCollector| {
                let kind = others.next().unwrap();
                let event = format!(r#"{{"type":"{kind}","sequence_number":3}}"#);
                collector.feed_event(parse(event.as_bytes())).unwrap();
            };
            for event in events(&body) {
                send(&mut collector);
                collector.feed_event(parse(event.as_bytes())).unwrap();
            }
            send(&mut collector);
            assert_eq!(collector.skipped().len(), 2, "{name}: {:?}", collector.skipped());
            assert_eq!(collector.finish(), Ok(document), "{name}");
        }
    }
}

#[test]
fn body_that_is_not_json_is_refused_with_the_number_of_the_event() {
    let mut collector = StreamCollector::new(Provider::OpenAiChat);
    let error = collector.feed(b"data: {\"choices\":[]}\n\ndata: oops\n\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 2 of the stream is not JSON: expected a value at line 1, column 1"
    );
    let mut collector = StreamCollector::new(Provider::Gemini);
    assert_eq!(collector.feed(b"{\"candidates\":[]} ;").unwrap_err().code(), "E_ANSWER_INVALID");
}

#[test]
fn calls_of_local_servers_are_told_apart_by_their_ids() {
    let mut collector = StreamCollector::new(Provider::OpenAiChat);
    // Every call has the index 0, and its id and name are repeated.
    for (id, arguments) in [("a", "{"), ("a", "}"), ("b", "{}")] {
        let event = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"clock","arguments":"{arguments}"}}}}]}}}}]}}"#
        );
        collector.feed_event(parse(event.as_bytes())).unwrap();
    }
    collector.feed(b"data: [DONE]\n\n").unwrap();
    let document = collector.finish().unwrap();
    let expected = r#"{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"clock"},"id":"a"},{"function":{"arguments":"{}","name":"clock"},"id":"b"}]}}],"object":"chat.completion"}"#;
    assert_eq!(document, parse(expected.as_bytes()));
}

#[test]
fn input_of_a_tool_that_was_cut_off_is_kept_as_it_was_written() {
    let mut collector = StreamCollector::new(Provider::Anthropic);
    for event in [
        r#"{"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Os"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}"#,
        r#"{"type":"new_event"}"#,
        r#"{"type":"message_stop"}"#,
    ] {
        collector.feed_event(parse(event.as_bytes())).unwrap();
    }
    assert_eq!(collector.skipped(), ["delta `new_delta`", "event `new_event`"]);
    let document = collector.finish().unwrap();
    let input = document.get("content").unwrap().as_array().unwrap()[0].get("input").unwrap();
    assert_eq!(input.as_str(), Some("{\"city\": \"Os"));
}

#[test]
fn last_event_of_responses_without_output_is_completed_by_the_events_before() {
    let (_, provider, body, document) = samples()
        .into_iter()
        .find(|(_, provider, ..)| *provider == Provider::OpenAiResponses)
        .unwrap();
    let mut collector = StreamCollector::new(provider);
    let all = events(&body);
    // Without the events that repeat an item when it is done.
    for event in &all[..all.len() - 1] {
        if !event.contains("output_item.done") {
            collector.feed_event(parse(event.as_bytes())).unwrap();
        }
    }
    collector
        .feed_event(parse(
            br#"{"type":"response.completed","response":{"id":"resp_1","status":"completed"}}"#,
        ))
        .unwrap();
    let collected = collector.finish().unwrap();
    let texts = |document: &Value| -> Vec<Value> {
        let items = document.get("output").unwrap().as_array().unwrap().iter();
        items
            .flat_map(|item| {
                ["summary", "content", "arguments"]
                    .map(|it| item.get(it).cloned().unwrap_or_default())
            })
            .collect()
    };
    assert_eq!(texts(&collected), texts(&document));
}

#[test]
fn names_of_the_python_sdk_give_a_document_of_the_api() {
    let mut collector = StreamCollector::new(Provider::Gemini);
    let chunk = br#"{"sdk_http_response":{"headers":{}},"candidates":[{"content":{"parts":[{"text":"Yes.","thought":null}],"role":"model"},"finish_reason":"STOP","index":null}],"usage_metadata":{"prompt_token_count":3}}"#;
    collector.feed_event(parse(chunk)).unwrap();
    let expected = br#"{"candidates":[{"content":{"parts":[{"text":"Yes."}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3}}"#;
    assert_eq!(collector.finish(), Ok(parse(expected)));
}
