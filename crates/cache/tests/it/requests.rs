//! Tests requests as sent to providers.

use contextree_cache::{
    CacheRules, Cause, Evidence, Follower, Outlook, Prompt, Purpose, Reason, Rendered, Report,
    assert_stable_prefix, breakpoints, check_stable_prefix, compare,
};
use contextree_engine::{Context, NewNode, Place};
use contextree_json::{Object, Value, parse};
use contextree_provider::{Provider, RenderOptions, render};
use contextree_tokens::{Part, TokenCounter, Tokenizer};

fn options(settings: &str) -> RenderOptions {
    let Value::Object(settings) = parse(settings.as_bytes()).unwrap() else { panic!("an object") };
    let mut options = RenderOptions::default();
    settings.iter().for_each(|(name, value)| drop(options.settings.insert(name, value.clone())));
    options
}

/// Returns a context whose texts are long enough to be cached.
fn session() -> Context {
    let mut context = Context::new();
    let long = "Some rules that are worth to be kept in mind. ".repeat(200);
    context.add(Place::system(), NewNode::text(long).id("rules").role("system")).unwrap();
    context.add(Place::head(), NewNode::text("hello").id("u1").role("user")).unwrap();
    context.commit().unwrap();
    context
}

/// Compares the newest two snapshots, each with its settings.
fn newest(context: &Context, provider: Provider, settings: (&str, &str)) -> Report {
    let snapshot = |address: &str| context.snapshot(address.parse().unwrap()).unwrap().view();
    let (older, newer) = (snapshot("@t-1"), snapshot("@t0"));
    let before = render(older, provider, &options(settings.0)).unwrap();
    let after = render(newer, provider, &options(settings.1)).unwrap();
    let tokenizer = Tokenizer::default();
    let measure = |rendered| Prompt::measure(Rendered::from(rendered), tokenizer);
    let rules = match provider {
        Provider::Anthropic => CacheRules::anthropic("claude-sonnet-5"),
        Provider::Gemini => CacheRules::gemini("gemini-3-flash"),
        _ => CacheRules::openai("gpt-5"),
    };
    let evidence = Evidence::new(older, newer);
    compare(&measure(&before), &measure(&after), &evidence, &rules)
}

#[test]
fn tokens_are_counted_without_escapes() {
    let text = "Привет, мир. ".repeat(50);
    let mut context = Context::new();
    context.add(Place::head(), NewNode::text(text.as_str()).role("user")).unwrap();
    let request = render(context.working(), Provider::OpenAiChat, &options("{}")).unwrap();
    let tokenizer = Tokenizer::default();
    let tokens = Prompt::measure(Rendered::from(&request), tokenizer).tokens();
    let said = tokenizer.count(&text);
    assert!((said..said + 20).contains(&tokens), "{tokens} tokens for {said} of text");
    assert!(tokenizer.count(request.text()) > 5 * tokens, "the request is ASCII");
}

#[test]
fn spans_are_counted_and_bytes_between_them_are_not() {
    let bytes = br#"{"a":["x"],"the words between":["y"]}"#;
    let rendered = Rendered::new(bytes, [(6, 9, "x"), (32, 35, "y")]).unwrap();
    let tokenizer = Tokenizer::default();
    let expected = 2 * (1 + tokenizer.overhead(Part::Text));
    assert_eq!(Prompt::measure(rendered, tokenizer).tokens(), expected);
}

#[test]
fn a_request_takes_the_sum_of_what_its_blocks_take() {
    let mut context = session();
    let call = NewNode::text(r#"{"city":"Oslo"}"#).role("assistant").kind("call");
    let call = call.attribute("data_call_id", "c1").attribute("data_name", "weather");
    context.add(Place::head(), call).unwrap();
    let result = NewNode::text("rain").role("tool").kind("result");
    context.add(Place::head(), result.attribute("data_call_id", "c1")).unwrap();
    for provider in [Provider::Anthropic, Provider::OpenAiResponses] {
        for model in ["gpt-5", "claude-opus-4-7"] {
            let tokenizer = Tokenizer::named(model).unwrap();
            let request = render(context.working(), provider, &options("{}")).unwrap();
            let counter = TokenCounter::of_requests(tokenizer);
            let blocks: u64 =
                context.working().nodes().map(|(_, node)| counter.count_node(node)).sum();
            let tokens = Prompt::measure(Rendered::from(&request), tokenizer).tokens();
            assert_eq!(tokens, blocks, "{provider} {model}");
        }
    }
}

#[test]
fn settings_that_break_a_cache_are_reported() {
    let mut context = session();
    context.add(Place::head(), NewNode::text("and so on").role("assistant")).unwrap();
    context.commit().unwrap();
    let check = |provider, older: &str, newer: &str, expected: Option<(&str, bool)>| {
        let report = newest(&context, provider, (older, newer));
        let found = report.broken.as_ref().map(|broken| broken.reason.word());
        assert_eq!(found, expected.map(|(word, _)| word), "{provider}: {newer}");
        if let Some((_, keeps_system)) = expected {
            let prefix = report.tokens.prefix;
            assert_eq!(prefix > 1000, keeps_system, "{newer}: {prefix} tokens");
        }
    };
    let (chat, responses) = (Provider::OpenAiChat, Provider::OpenAiResponses);
    let model = |name: &str| format!("{{\"model\":\"{name}\"}}");
    for provider in Provider::ALL {
        check(provider, &model("a"), &model("b"), Some(("model_changed", false)));
        check(provider, &model("a"), &model("a"), None);
        check(provider, r#"{"max_tokens":5}"#, r#"{"max_tokens":6}"#, None);
    }
    let word = |word| Some((word, false));
    check(chat, "{}", r#"{"reasoning_effort":"high"}"#, word("reasoning_effort_changed"));
    check(
        responses,
        r#"{"reasoning":{"effort":"low","summary":"auto"}}"#,
        r#"{"reasoning":{"effort":"high","summary":"auto"}}"#,
        word("reasoning_effort_changed"),
    );
    check(responses, "{}", r#"{"text":{"verbosity":"low"}}"#, word("verbosity_changed"));
    check(responses, "{}", r#"{"text":{"format":{"type":"text"}}}"#, word("text_format_changed"));
    check(chat, "{}", r#"{"response_format":{"type":"x"}}"#, word("text_format_changed"));
    let thinking = r#"{"thinking":{"type":"enabled"}}"#;
    check(Provider::Anthropic, "{}", thinking, Some(("thinking_changed", true)));
    let choice = r#"{"tool_choice":{"type":"any"}}"#;
    check(Provider::Anthropic, "{}", choice, Some(("tool_choice_changed", true)));
    check(chat, "{}", r#"{"tool_choice":"none"}"#, None);
}

#[test]
fn assertion_detects_changed_settings() {
    let context = session();
    let tree = context.newest().unwrap().view();
    let with = |settings: &str| render(tree, Provider::OpenAiChat, &options(settings)).unwrap();
    let low = with(r#"{"model":"m","reasoning_effort":"low"}"#);
    let high = with(r#"{"model":"m","reasoning_effort":"high"}"#);
    let warm = with(r#"{"model":"m","reasoning_effort":"low","temperature":1}"#);
    assert_stable_prefix(&Rendered::from(&low), &Rendered::from(&warm));
    let broken = check_stable_prefix(&Rendered::from(&low), &Rendered::from(&high)).unwrap_err();
    assert_eq!(broken.setting.as_deref(), Some("reasoning_effort"));
    assert!(broken.to_string().contains("before: \"low\"\n  after: \"high\""), "{broken}");
}

#[test]
fn request_has_its_model() {
    let context = session();
    let tree = context.newest().unwrap().view();
    for provider in Provider::ALL {
        let model = |settings: &str| {
            let request = render(tree, provider, &options(settings)).unwrap();
            Rendered::from(&request).model()
        };
        assert_eq!(model(r#"{"model":"gpt-5.6","top_p":1}"#).as_deref(), Some("gpt-5.6"));
        assert_eq!(model("{}"), None);
    }
}

#[test]
fn changed_tool_is_reported_as_tools() {
    let mut context = session();
    let tool = |name: &str| {
        let definition = Object::from_iter([("name", Value::from(name))]);
        NewNode::json(definition.into()).kind("tool")
    };
    context.add(Place::system(), tool("look").id("tool")).unwrap();
    context.commit().unwrap();
    context.remove("tool").unwrap();
    context.add(Place::system(), tool("find")).unwrap();
    context.commit().unwrap();
    for provider in [Provider::Anthropic, Provider::OpenAiResponses] {
        let broken = newest(&context, provider, ("{}", "{}")).broken.unwrap();
        assert_eq!((broken.node.as_deref(), broken.reason), (Some("tool"), Reason::Tools));
        assert_eq!(broken.path.as_deref(), Some("tools[0]"));
        assert_eq!(broken.cause, Cause::Gone);
    }
}

#[test]
fn merged_system_text_counts_up_to_the_first_difference() {
    let mut context = session();
    let added = NewNode::text("Be brief.").id("brief").role("system");
    context.add(Place::system(), added).unwrap();
    context.commit().unwrap();
    let report = newest(&context, Provider::OpenAiResponses, ("{}", "{}"));
    let broken = report.broken.unwrap();
    assert_eq!((broken.node.as_deref(), &broken.cause), (Some("brief"), &Cause::Inserted));
    assert_eq!((broken.reason, broken.path.as_deref()), (Reason::System, Some("instructions")));
    assert!(report.tokens.prefix > 1500, "{:?}", report.tokens);
    assert!(broken.tokens_lost < 50, "{}", broken.tokens_lost);
}

#[test]
fn breakpoints_are_set_only_on_blocks_that_can_carry_them() {
    let mut context = session();
    let reasoning = NewNode::text("I wonder.").kind("reasoning").role("assistant");
    let signed = reasoning
        .attribute("data_provider", "anthropic")
        .attribute("data_signature", "c2ln")
        .id("thought");
    context.add(Place::head(), signed).unwrap();
    context.add(Place::head(), NewNode::text("now").id("soon").role("assistant").ttl(0)).unwrap();
    let request = render(context.working(), Provider::Anthropic, &options("{}")).unwrap();
    assert!(request.text().contains("\"thinking\""), "{}", request.text());
    let prompt = Prompt::measure(Rendered::from(&request), Tokenizer::default());
    let outlook = Outlook::of(&prompt, context.working(), None);
    let rules = CacheRules::anthropic("claude-sonnet-5");
    let set = breakpoints(&prompt, &outlook, &rules);
    let places: Vec<_> = set
        .iter()
        .map(|point| (point.node.as_str(), point.path.as_deref(), point.purpose))
        .collect();
    assert_eq!(places[0].0, "rules");
    assert_eq!(
        places[1],
        ("u1", places[1].1, Purpose::Staying),
        "not on the reasoning before what is removed"
    );
    assert!(places[1].1.unwrap().starts_with("messages[0]"));
    assert_eq!(places[2].0, "soon");
}

#[test]
fn interleaved_requests_keep_each_others_entries() {
    let context = session();
    let tree = context.newest().unwrap().view();
    let one = render(tree, Provider::OpenAiChat, &options(r#"{"model":"one"}"#)).unwrap();
    let two = render(tree, Provider::OpenAiChat, &options(r#"{"model":"two"}"#)).unwrap();
    for rules in [CacheRules::openai("gpt-5"), CacheRules::openai("gpt-5.6")] {
        let mut follower = Follower::new(Tokenizer::default(), rules);
        let evidence = Evidence::new(tree, tree);
        let mut cached = |request| follower.follow(&Rendered::from(request), &evidence).cached;
        assert_eq!((cached(&one), cached(&two)), (0, 0), "the first request of each");
        assert!(cached(&one) > 1000, "the entries of the first request are still there");
        assert_eq!(cached(&two), cached(&one));
    }
}
