//! Tests agent sessions under budgets, call by call: the estimate of every request is within the limit, or the limit is reported as unmet.

use contextree::budget::{Budget, Rule};
use contextree::cache::{Prompt, Rendered as Measured};
use contextree::calls::{Request, complete_in};
use contextree::engine::Limit;
use contextree::provider::{Provider, render};
use contextree::{
    CommitOptions, Context, ContextSettings, Error, Place, budget_of, set_budget, system, tool,
    tool_result, user,
};

/// Returns random numbers that are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn text(&mut self) -> String {
        let words = ["rain ", "forecast ", "the ", "Zürich ", "日本 ", "\"quoted\" "];
        (0..1 + self.below(40)).map(|_| words[self.below(6) as usize]).collect()
    }
}

fn request(provider: Provider) -> Request {
    let model = match provider {
        Provider::Anthropic => "claude-opus-5",
        Provider::Gemini => "gemini-3-pro",
        _ => "gpt-5",
    };
    let request = Request::new(provider, model);
    match provider {
        Provider::Anthropic => request.setting("max_tokens", 1_000),
        _ => request,
    }
}

/// Returns an answer with tool calls, whose ids are the same in every answer, or with text.
fn answer(provider: Provider, number: usize, calls: usize) -> String {
    let each = |part: &dyn Fn(usize) -> String| -> String {
        (0..calls).map(part).collect::<Vec<_>>().join(",")
    };
    match (provider, calls) {
        (Provider::OpenAiChat, 0) => {
            format!(
                r#"{{"id":"r{number}","choices":[{{"message":{{"role":"assistant","content":"Done."}}}}]}}"#
            )
        }
        (Provider::OpenAiChat, _) => format!(
            r#"{{"id":"r{number}","choices":[{{"message":{{"role":"assistant","content":null,"tool_calls":[{}]}}}}]}}"#,
            each(&|call| format!(
                r#"{{"id":"call_{call}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}"#
            ))
        ),
        (Provider::Anthropic, 0) => format!(
            r#"{{"id":"r{number}","type":"message","role":"assistant","content":[{{"type":"text","text":"Done."}}]}}"#
        ),
        (Provider::Anthropic, _) => format!(
            r#"{{"id":"r{number}","type":"message","role":"assistant","content":[{{"type":"thinking","thinking":"Look.","signature":"c2ln"}},{}]}}"#,
            each(&|call| format!(
                r#"{{"type":"tool_use","id":"toolu_{number}_{call}","name":"look","input":{{}}}}"#
            ))
        ),
        (Provider::Gemini, 0) => format!(
            r#"{{"responseId":"r{number}","candidates":[{{"content":{{"role":"model","parts":[{{"text":"Done."}}]}}}}]}}"#
        ),
        (Provider::Gemini, _) => format!(
            r#"{{"responseId":"r{number}","candidates":[{{"content":{{"role":"model","parts":[{}]}}}}]}}"#,
            each(&|call| format!(
                r#"{{"functionCall":{{"id":"call_{call}","name":"look","args":{{}}}}}}"#
            ))
        ),
        (_, 0) => format!(
            r#"{{"id":"r{number}","object":"response","output":[{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"Done."}}]}}]}}"#
        ),
        (_, _) => format!(
            r#"{{"id":"r{number}","object":"response","output":[{}]}}"#,
            each(&|call| format!(
                r#"{{"type":"function_call","call_id":"call_{number}_{call}","name":"look","arguments":"{{}}"}}"#
            ))
        ),
    }
}

fn begin(context: &mut Context, request: &Request, budget: &Budget) -> contextree::calls::Call {
    let keeper = request.keeper(budget.clone());
    request.begin_in(context, &keeper.options()).unwrap()
}

/// Returns the tokens of a request, counted from its bytes.
fn tokens_of(context: &Context, request: &Request) -> u64 {
    let snapshot = context.running_call().unwrap().snapshot.clone();
    let rendered = render(snapshot.view(), request.provider, &request.options).unwrap();
    Prompt::measure(Measured::from(&rendered), request.tokenizer()).tokens()
}

#[test]
fn tool_loop_of_two_hundred_calls_stays_within_its_budget() {
    for provider in Provider::ALL {
        let (request, mut random) = (request(provider), Random(7));
        let budget = Budget::new().max_tokens(4_000).clear_at_least(1_000);
        let mut context = Context::new();
        context.add(Place::system(), system("You look things up.")).unwrap();
        let schema = contextree::json::parse(br#"{"type":"object"}"#).unwrap();
        context.add(Place::system(), tool("look", "Looks.", schema)).unwrap();
        context.add(Place::head(), user("THE TASK: find it.")).unwrap();
        let mut pruned = 0;
        for number in 0..200 {
            let call = begin(&mut context, &request, &budget);
            assert!(!call.is_invalid(), "{provider} {number}: {:?}", call.findings);
            assert_eq!(call.report.unmet, [], "{provider} {number}");
            let text = String::from_utf8(call.bytes.clone()).unwrap();
            assert!(text.contains("THE TASK"), "{provider} {number}: the task was pruned");
            if number % 20 == 19 {
                let tokens = tokens_of(&context, &request);
                assert!(tokens <= 4_000 + 4_000 / 100, "{provider} {number}: {tokens}");
            }
            pruned += call.report.pruned.len();
            let response = answer(provider, number, 1 + number % 2);
            let done = complete_in(&mut context, &call.attempt, response.as_bytes()).unwrap();
            for tool in done.tool_calls {
                context.add(Place::head(), tool_result(tool.id, random.text())).unwrap();
            }
        }
        assert!(pruned > 100, "{provider}: {pruned}");
    }
}

#[test]
fn random_sessions_under_tight_budgets_are_accepted_and_within_their_limits() {
    for seed in 0..40 {
        let provider = Provider::ALL[seed as usize % 4];
        let (request, mut random) = (request(provider), Random(seed));
        let max = 150 + random.below(2_000);
        let mut budget = Budget::new().max_tokens(max).keep_turns(random.below(3));
        if random.below(2) == 0 {
            budget = budget.clear_at_least(random.below(max / 2));
        }
        let mut context = Context::new();
        context.add(Place::system(), system(random.text())).unwrap();
        context.add(Place::head(), user(random.text())).unwrap();
        for number in 0..60 {
            let preview =
                request.preview(&context, &request.keeper(budget.clone()).options()).unwrap();
            let call = begin(&mut context, &request, &budget);
            assert_eq!(call.bytes, preview.bytes, "the preview is what is sent");
            assert!(
                !call.is_invalid(),
                "{provider} {seed}.{number}: {:?}\n{}",
                call.findings,
                String::from_utf8_lossy(&call.bytes)
            );
            let snapshot = context.running_call().unwrap().snapshot.clone();
            let counter = contextree::tokens::TokenCounter::of_requests(request.tokenizer());
            let total = contextree::tokens::breakdown(snapshot.view(), &counter).total.tokens;
            let keeper = request.keeper(budget.clone());
            let missed = call
                .report
                .unmet
                .iter()
                .any(|unmet| keeper.rule(unmet.limit) == Some(Rule::MaxTokens));
            assert_eq!(missed, total > max, "{provider} {seed}.{number}: {total} of {max}");
            let calls = random.below(3) as usize;
            let response = answer(provider, number, calls);
            let done = complete_in(&mut context, &call.attempt, response.as_bytes()).unwrap();
            assert_eq!(context.newest().unwrap().digest(), snapshot.digest());
            for tool in done.tool_calls {
                context.add(Place::head(), tool_result(tool.id, random.text())).unwrap();
            }
            if calls == 0 || random.below(8) == 0 {
                context.add(Place::head(), user(random.text())).unwrap();
            }
        }
    }
}

#[test]
fn settings_that_a_model_reads_are_part_of_the_budget() {
    let schema = r#"{"type":"json_schema","json_schema":{"name":"place","schema":{"type":"object","properties":{"city":{"type":"string"}}}}}"#;
    let schema = contextree::json::parse(schema.as_bytes()).unwrap();
    let plain = request(Provider::OpenAiChat);
    let with = plain.clone().setting("response_format", schema).setting("temperature", 1);
    let base = with.settings_tokens(with.tokenizer());
    assert_eq!(plain.settings_tokens(plain.tokenizer()), 0);
    assert!(base > 15, "{base}");
    let mut context = Context::new();
    context.add(Place::head(), user("Hello")).unwrap();
    let keeper = with.keeper(Budget::new().max_tokens(base));
    let call = with.begin_in(&mut context, &keeper.options()).unwrap();
    assert_eq!(call.report.unmet[0].left, base + 8, "one word, and what a message takes besides");
}

#[test]
fn stored_budget_applies_to_calls_and_commits_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db").display().to_string();
    let say = |session: &mut contextree::Session| {
        for number in 0..10 {
            session
                .update(|context| {
                    let text = format!("message {number} {}", "word ".repeat(50));
                    context.add(Place::head(), user(text))?;
                    Ok::<_, Error>(context.commit()?)
                })
                .unwrap();
        }
    };
    let budget = Budget::new().max_tokens(300);
    let mut session =
        contextree::open(&path).unwrap().create("main", &ContextSettings::default()).unwrap();
    set_budget(&mut session, Some(&budget)).unwrap();
    say(&mut session);
    drop(session);
    let mut session = contextree::open(&path).unwrap().session("main").unwrap();
    assert_eq!(budget_of(session.settings()), Some(budget));
    let blocks = |session: &contextree::Session| {
        session.select("@t0 .block").unwrap().nodes().map_or(0, |found| found.nodes.len())
    };
    assert_eq!(blocks(&session), 4, "a commit keeps to it");
    // Claude's tokenizer counts more.
    session.update(|context| Ok::<_, Error>(context.add(Place::head(), user("Go on."))?)).unwrap();
    let call = request(Provider::Anthropic).begin(&mut session).unwrap();
    assert!(call.report.unmet.is_empty());
    assert_eq!(call.snapshot.view().nodes().filter(|(_, node)| node.role().is_some()).count(), 4);
    call.cancel(&mut session).unwrap();
    set_budget(&mut session, None).unwrap();
    say(&mut session);
    assert_eq!(blocks(&session), 4 + 1 + 10, "nothing is pruned any more");
}

#[test]
fn budget_is_a_policy_that_counts_tokens() {
    let policy = Budget::new().max_tokens(9).policy();
    assert!(
        matches!(&policy.limits[..], [Limit::Total { measure, max: 9 }] if measure.name() == "tokens")
    );
    // Without anything that counts tokens, the commit fails and changes nothing.
    let mut context = Context::new();
    context.add(Place::head(), user("Hello")).unwrap();
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    assert_eq!(context.commit_with(&options).unwrap_err().code(), "E_UNKNOWN_MEASURE");
}
