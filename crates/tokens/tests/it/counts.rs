//! Tests counts of texts and blocks.

use contextree_engine::{Context, NewNode, Place};
use contextree_tokens::{Encoding, Estimate, TokenCounter, Tokenizer, count_json, counted_text};

#[test]
fn tokenizer_name_is_an_encoding_a_model_or_an_estimate() {
    let check = |name: &str, expected: Tokenizer| {
        assert_eq!(Tokenizer::named(name), Ok(expected), "{name}");
    };
    check("cl100k_base", Tokenizer::Exact(Encoding::Cl100kBase));
    check("gpt-5-nano", Tokenizer::Exact(Encoding::O200kBase));
    check("anthropic", Tokenizer::Estimate(Estimate::CLAUDE_5));
    check("claude-3-opus-20240229", Tokenizer::Estimate(Estimate::CLAUDE_3));
    check("gemini-2.5-flash", Tokenizer::Estimate(Estimate::GEMINI));
    check("other", Tokenizer::Estimate(Estimate::OTHER));
    let unknown = Tokenizer::named("gpt-9").unwrap_err();
    assert_eq!(unknown.code(), "E_UNKNOWN_TOKENIZER");
    assert!(unknown.hint().contains("`gpt-5`"), "the hint names the nearest models");
    let unknown = Tokenizer::named("mistral-large").unwrap_err();
    assert!(unknown.hint().contains("o200k_base"), "the hint names the encodings");
}

#[test]
fn estimate_is_displayed_as_one() {
    let text = "The quick brown fox jumps over the lazy dog.";
    let exact = Tokenizer::default();
    assert_eq!((exact.count(text), exact.is_exact(), exact.error_percent()), (10, true, 0));
    let estimate = Tokenizer::Estimate(Estimate::CLAUDE_5);
    assert_eq!((estimate.count(text), estimate.is_exact()), (17, false));
    assert_eq!(estimate.to_string(), "anthropic (estimate, ±15 %)");
    assert_eq!(estimate.count(""), 0);
}

#[test]
fn block_is_counted_by_its_text_or_canonical_json() {
    let mut context = Context::new();
    let text = context.add(Place::head(), NewNode::text("hello world").role("user")).unwrap();
    let arguments = contextree_json_value(r#"{"city": "Oslo",  "days": 3}"#);
    let json = context.add(Place::head(), NewNode::json(arguments).role("assistant")).unwrap();
    let bare = context.add(Place::head(), NewNode::default().role("user")).unwrap();
    let counter = TokenCounter::new(Tokenizer::default());
    let count = |id: &str| counter.count_node(context.working().get(id).unwrap());
    assert_eq!(count(&text), 2);
    assert_eq!(count(&json), counter.count_text(r#"{"city":"Oslo","days":3}"#));
    assert_eq!(count(&bare), 0);
    assert_eq!(counter.remembered(), 2);
    assert_eq!(count(&text), 2, "from the cache");
}

#[test]
fn request_counts_include_what_surrounds_a_block_but_no_signature() {
    let mut context = Context::new();
    let mut add = |node: NewNode| context.add(Place::head(), node).unwrap();
    let text = add(NewNode::text("hello world").role("user"));
    let call = NewNode::text(r#"{"city":"Oslo"}"#).role("assistant").kind("call");
    let call = add(call.attribute("data_call_id", "c1").attribute("data_name", "weather"));
    let result = NewNode::text("rain").role("tool").kind("result");
    let result = add(result.attribute("data_call_id", "c1"));
    let hidden = NewNode::text("").role("assistant").kind("reasoning");
    let hidden = add(hidden.attribute("data_signature", "EqAb9xYz".repeat(500).as_str()));
    let foreign = add(NewNode::text("an entry of a log").kind("foreign"));
    let check = |model: &str, expected: [u64; 5]| {
        let counter = TokenCounter::of_requests(Tokenizer::named(model).unwrap());
        assert!(counter.counts_requests());
        let count = |id: &String| counter.count_node(context.working().get(id).unwrap());
        assert_eq!([&text, &call, &result, &hidden, &foreign].map(count), expected, "{model}");
    };
    check("gpt-5", [2 + 7, 6 + 1 + 12, 1 + 12, 0, 0]);
    check("claude-opus-4-5", [3 + 5, 8 + 2 + 60, 2 + 18, 0, 0]);
}

fn contextree_json_value(text: &str) -> contextree_json::Value {
    contextree_json::parse(text.as_bytes()).unwrap()
}

#[test]
fn counter_respects_its_capacity() {
    let mut context = Context::new();
    let counter = TokenCounter::with_capacity(Tokenizer::default(), 10);
    for number in 0..100 {
        let id = context.add(Place::head(), NewNode::text(format!("text {number}"))).unwrap();
        assert!(counter.count_node(context.working().get(&id).unwrap()) > 0);
        assert!(counter.remembered() <= 10, "{} counts are cached", counter.remembered());
    }
    let forgetful = TokenCounter::with_capacity(Tokenizer::default(), 0);
    let first = context.working().get("block:1.1").unwrap();
    assert_eq!((forgetful.count_node(first), forgetful.remembered()), (3, 0));
}

#[test]
fn json_is_counted_without_escapes() {
    let mut context = Context::new();
    let value = contextree_json_value(r#"{"text":"Привет, мир"}"#);
    let json = context.add(Place::head(), NewNode::json(value).role("user")).unwrap();
    let counter = TokenCounter::new(Tokenizer::default());
    let node = context.working().get(&json).unwrap();
    let expected = counter.count_text(r#"{"text":"Привет, мир"}"#);
    assert_eq!(counter.count_node(node), expected);
    assert!(expected < 15, "{expected} tokens; the escapes alone would be 40");
    assert_eq!(counted_text(node), r#"{"text":"Привет, мир"}"#);
    let escaped = br#"{"text":"\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440"}"#;
    assert_eq!(count_json(escaped, Tokenizer::default()).tokens, expected);
}

#[test]
fn image_is_counted_as_an_image_in_any_position() {
    let png = format!("iVBORw0KGgoAAAANSUhEUgAABLAAAAMgCAYAAACHsmpP{}", "QUFB".repeat(100_000));
    let mut context = Context::new();
    let mut add = |node: NewNode| context.add(Place::head(), node.role("user")).unwrap();
    let image = || NewNode::text(png.as_str()).mime("image/png").encoding("base64");
    let plain = add(image().kind("image"));
    let by_address = add(NewNode::text("https://e.org/a.png").kind("image").encoding("uri"));
    let nested = add(NewNode::json(contextree_json_value(&format!(r#"[{{"data":"{png}"}}]"#))));
    let text = add(NewNode::text("aGVsbG8gd29ybGQ=").mime("text/plain").encoding("base64"));
    let sound = add(NewNode::text("QUFB".repeat(1000)).mime("audio/wav").encoding("base64"));
    let document = add(NewNode::text(format!("JVBERi0{}", "A".repeat(100_000))).encoding("base64"));
    let measure = |id: &str, model: &str| {
        let counter = TokenCounter::new(Tokenizer::named(model).unwrap());
        let measured = counter.measure_node(context.working().get(id).unwrap());
        (measured.tokens, measured.media)
    };
    assert_eq!(measure(&plain, "gpt-5"), (1105, 1105), "1200 × 800 pixels, by tiles");
    assert_eq!(measure(&plain, "claude-sonnet-5"), (1280, 1280));
    assert_eq!(measure(&by_address, "gpt-5"), (765, 765), "of unknown size");
    let (tokens, media) = measure(&nested, "gpt-5");
    assert!(media == 1105 && tokens > media && tokens < media + 10, "{tokens}");
    assert_eq!(measure(&text, "gpt-5"), (2, 0), "text is text");
    assert_eq!(measure(&sound, "gpt-5"), (100, 100));
    assert_eq!(measure(&document, "gpt-5"), (4000, 4000));
}
