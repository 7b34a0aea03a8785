//! Requests that are pruned to a budget before they are sent.

use std::collections::BTreeSet;

use contextree::budget::Budget;
use contextree::json::{Value, parse};
use contextree::provider::Provider;
use contextree_app::record::Relation;
use contextree_record::{CallLine, Report};
use contextree_testkit::Rng;

use crate::agent::{ALL, Agent, text_of, words};
use crate::fixture::{Fixture, json, open, post, request};

fn limited(tokens: u64) -> Fixture {
    under(Budget::new().max_tokens(tokens))
}

fn under(budget: Budget) -> Fixture {
    Fixture::with(|config| config.budget = Some(budget))
}

/// Continues what another proxy recorded.
fn again(before: &Fixture, budget: Option<Budget>) -> Fixture {
    Fixture::over(before.store.clone(), before.upstream.clone(), |config| config.budget = budget)
}

/// Returns the body of a request that arrived.
fn body(fixture: &Fixture, index: usize) -> String {
    String::from_utf8(fixture.upstream.received()[index].body.clone()).expect("it is text")
}

fn messages(body: &str, provider: Provider) -> Vec<Value> {
    let list = json(body).get(provider.messages_field()).cloned().expect("it is there");
    list.as_array().expect("a list").to_vec()
}

/// Returns the part of a body that the next request repeats: everything up to the end of its last message.
fn beginning(body: &str) -> &str {
    let end = body.rfind(']').expect("it has a list");
    &body[..end]
}

fn written(value: &Value) -> String {
    String::from_utf8(value.to_canonical()).expect("it is ASCII")
}

fn summary(line: &CallLine) -> Option<&str> {
    line.receipt.as_ref()?.summary.as_deref()
}

fn left_out(line: &CallLine) -> usize {
    line.receipt.as_ref().map_or(0, |receipt| receipt.left_out)
}

/// Fails unless every call has its result, and every result its call.
fn assert_calls_have_results(body: &str, provider: Provider) {
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for message in messages(body, provider) {
        match provider {
            Provider::Anthropic => {
                let parts = message.get("content").and_then(Value::as_array).unwrap_or_default();
                for part in parts {
                    match part.get("type").and_then(Value::as_str) {
                        Some("tool_use") => calls.extend(text(part, "id")),
                        Some("tool_result") => results.extend(text(part, "tool_use_id")),
                        _ => {}
                    }
                }
            }
            Provider::OpenAiChat => {
                let made = message.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
                calls.extend(made.iter().filter_map(|call| text(call, "id")));
                results.extend(text(&message, "tool_call_id"));
            }
            Provider::OpenAiResponses => match text(&message, "type").as_deref() {
                Some("function_call") => calls.extend(text(&message, "call_id")),
                Some("function_call_output") => results.extend(text(&message, "call_id")),
                _ => {}
            },
            _ => {
                let parts = message.get("parts").and_then(Value::as_array).unwrap_or_default();
                for part in parts {
                    calls.extend(part.get("functionCall").and_then(|it| text(it, "name")));
                    results.extend(part.get("functionResponse").and_then(|it| text(it, "name")));
                }
            }
        }
    }
    calls.sort();
    results.sort();
    assert_eq!(calls, results, "{provider}: {body}");
}

/// Holds a conversation of rounds: a question, a call of a tool with a long result, an answer.
fn rounds(agent: &mut Agent, fixture: &Fixture, numbers: std::ops::Range<usize>) {
    (numbers.start * 2..numbers.end * 2).for_each(|number| half_a_round(agent, fixture, number));
}

fn half_a_round(agent: &mut Agent, fixture: &Fixture, number: usize) {
    let round = number / 2;
    match number % 2 {
        0 => agent.say(&words(&format!("question {round}"), 20)),
        _ => agent.call(round, &words(&format!("result {round}"), 60)),
    }
    assert!(agent.ask(fixture), "{}", agent.body());
}

/// Holds a conversation until a request was just pruned, so that the next ones have room. Returns the number of requests.
fn until_pruned(agent: &mut Agent, fixture: &Fixture) -> usize {
    for number in 0..100 {
        half_a_round(agent, fixture, number);
        let sent = fixture.upstream.received();
        if let [.., before, last] = &sent[..]
            && last.body.len() < before.body.len()
        {
            return sent.len();
        }
    }
    panic!("nothing was pruned: {}", agent.body());
}

/// Holds a conversation until requests were pruned and the next ones have little room. Returns the number of requests.
fn until_full(agent: &mut Agent, fixture: &Fixture) -> usize {
    let first = until_pruned(agent, fixture);
    let longest = fixture.upstream.received().iter().map(|it| it.body.len()).max();
    let longest = longest.expect("there are requests");
    for number in first..100 {
        half_a_round(agent, fixture, number);
        let sent = fixture.upstream.received();
        if sent.last().is_some_and(|last| last.body.len() * 10 > longest * 8) {
            return sent.len();
        }
    }
    panic!("the request does not grow: {}", agent.body());
}

/// A budget that removes all that it may at once, so that there is room afterwards.
fn in_one_step(tokens: u64) -> Budget {
    Budget::new().max_tokens(tokens).clear_at_least(1_000_000)
}

#[test]
fn requests_over_the_budget_are_pruned_and_what_was_sent_is_recorded() {
    for provider in ALL {
        let mut fixture = limited(2_000);
        let mut agent = Agent::new(provider, None);
        let mut own = Vec::new();
        for number in 0..30 {
            agent.say(&words(&format!("question {number}"), 8));
            own.push(agent.clone());
            assert!(agent.ask(&fixture), "{provider}");
            agent.call(number, &words(&format!("result {number}"), 20));
            own.push(agent.clone());
            assert!(agent.ask(&fixture), "{provider}");
        }
        let lines = fixture.stop();
        assert_eq!(fixture.contexts(), ["agent-1"], "{provider}");
        assert!(lines[1..].iter().all(|it| it.relation == Relation::Continued), "{provider}");
        let mut gone: BTreeSet<String> = BTreeSet::new();
        for (index, agent) in own.iter().enumerate() {
            let (line, sent) = (&lines[index], body(&fixture, index));
            let cycle = u32::try_from(index + 1).expect("it is small");
            assert_eq!(fixture.sent("agent-1", cycle, provider), json(&sent), "{provider} {index}");
            let receipt = line.receipt.as_ref().expect("there is a budget");
            assert!(receipt.is_kept() && receipt.tokens_after <= 2_000, "{provider} {receipt:?}");
            assert_calls_have_results(&sent, provider);
            if left_out(line) == 0 {
                assert_eq!(sent, agent.body(), "{provider} {index}: it passes byte for byte");
            }
            let (mine, those) = (messages(&agent.body(), provider), messages(&sent, provider));
            assert_eq!(mine.last(), those.last(), "{provider} {index}: the newest message stays");
            let texts: Vec<String> = those.iter().map(written).collect();
            let missing = mine.iter().map(written);
            let missing: BTreeSet<String> = missing.filter(|it| !texts.contains(it)).collect();
            assert!(gone.is_subset(&missing), "{provider} {index}: what was removed stays removed");
            if index > 0 && summary(line).is_none() {
                assert_eq!(gone, missing, "{provider} {index}: the receipt says what is removed");
                let before = body(&fixture, index - 1);
                assert!(
                    sent.starts_with(beginning(&before)),
                    "{provider} {index}\n{before}\n{sent}"
                );
            }
            gone = missing;
        }
        let pruned = lines.iter().filter(|line| left_out(line) > 0).count();
        let steps = lines.iter().filter(|line| summary(line).is_some()).count();
        assert!(pruned > 10, "{provider}: {pruned}");
        assert!(steps * 3 < pruned, "{provider}: {steps} of {pruned} calls remove something");
        let first = lines.iter().find_map(summary).expect("something is removed");
        assert!(
            first.starts_with("removed ") && first.contains("tokens: over `max_tokens`"),
            "{first}"
        );
        let attempts = fixture.attempts("agent-1");
        assert!(attempts.iter().all(|it| it.input.is_some()), "{provider}: all are exact");
    }
}

#[test]
fn bytes_before_the_first_removed_message_are_those_of_the_agent() {
    let mut fixture = limited(1_500);
    let mut agent = Agent::new(Provider::Anthropic, None);
    agent.say("the task");
    assert!(agent.ask(&fixture));
    rounds(&mut agent, &fixture, 0..8);
    let lines = fixture.stop();
    let first = lines.iter().position(|line| left_out(line) > 0).expect("something is removed");
    let (before, sent) = (body(&fixture, first - 1), body(&fixture, first));
    let common = before.bytes().zip(sent.bytes()).take_while(|(one, two)| one == two).count();
    assert!(before[..common].contains(r#""the task"}"#), "{}", &before[..common]);
}

#[test]
fn removed_messages_stay_removed_when_another_process_goes_on() {
    for provider in ALL {
        let mut fixture = limited(1_200);
        let mut agent = Agent::new(provider, Some("main"));
        let calls = until_pruned(&mut agent, &fixture);
        let lines = fixture.stop();
        let out = left_out(lines.last().expect("it recorded"));
        assert!(out > 0, "{provider}");
        let before = body(&fixture, calls - 1);
        let mut next = again(&fixture, Some(Budget::new().max_tokens(1_200)));
        agent.say("short");
        assert!(agent.ask(&next));
        agent.say("shorter");
        assert!(agent.ask(&next));
        let lines = next.stop();
        for (index, line) in lines.iter().enumerate() {
            assert_eq!(line.relation, Relation::Continued, "{provider}");
            assert_eq!((summary(line), left_out(line)), (None, out), "{provider}");
            let sent = body(&next, calls + index);
            assert!(sent.starts_with(beginning(&before)), "{provider}\n{before}\n{sent}");
            let cycle = u32::try_from(calls + 1 + index).expect("it is small");
            assert_eq!(next.sent("main", cycle, provider), json(&sent), "{provider}");
        }
    }
}

#[test]
fn streams_are_pruned_too() {
    for provider in ALL {
        let mut fixture = limited(800);
        let mut agent = Agent::new(provider, None).streaming();
        for number in 0..10 {
            agent.say(&words(&format!("question {number}"), 100));
            assert!(agent.ask(&fixture), "{provider}");
        }
        let lines = fixture.stop();
        assert!(left_out(&lines[9]) > 0, "{provider}");
        let sent = body(&fixture, 9);
        assert_eq!(fixture.sent("agent-1", 10, provider), json(&sent), "{provider}");
        let received = &fixture.upstream.received()[9];
        assert_eq!(received.header("content-length"), Some(sent.len().to_string().as_str()));
        assert_eq!(received.header("content-md5"), None, "it is of another body");
    }
}

#[test]
fn pruned_call_that_failed_is_sent_again_as_it_was() {
    for provider in ALL {
        let mut fixture = under(in_one_step(2_000));
        let mut agent = Agent::new(provider, Some("main"));
        let first = until_full(&mut agent, &fixture);
        agent.say(&words("fail once", 400));
        assert!(!agent.ask(&fixture), "{provider}");
        assert!(agent.ask(&fixture), "{provider}");
        agent.say("short");
        assert!(agent.ask(&fixture), "{provider}");
        let lines = fixture.stop();
        assert_eq!(body(&fixture, first), body(&fixture, first + 1), "{provider}");
        assert_eq!(lines[first + 1].relation, Relation::Retried, "{provider}");
        assert!(summary(&lines[first]).is_some(), "{provider}");
        assert_eq!(lines[first].receipt, lines[first + 1].receipt, "{provider}");
        let (before, sent) = (body(&fixture, first + 1), body(&fixture, first + 2));
        assert!(sent.starts_with(beginning(&before)), "{provider}\n{before}\n{sent}");
        let cycle = u32::try_from(fixture.snapshots("main")).expect("it is small");
        assert_eq!(fixture.sent("main", cycle, provider), json(&sent), "{provider}");
    }
}

#[test]
fn process_that_ends_in_a_pruned_call_loses_nothing() {
    for provider in ALL {
        let fixture = under(in_one_step(2_000));
        let mut agent = Agent::new(provider, Some("main")).streaming();
        let calls = until_full(&mut agent, &fixture);
        agent.say(&words("a long question", 400));
        agent.say("answer with many events 30, slowly");
        let mut running = open(fixture.address(), agent.path(), &[], agent.body().as_bytes());
        std::io::Read::read_exact(&mut running, &mut [0; 64]).expect("it streams");
        let before = body(&fixture, calls);
        // The other process sees a call that is still running.
        let mut next = again(&fixture, Some(in_one_step(2_000)));
        assert!(agent.ask(&next), "{provider}");
        assert!(summary(&next.stop()[0]).is_some(), "{provider}");
        drop(running);
        assert_eq!(
            body(&next, calls + 1),
            before,
            "{provider}: the same request is pruned the same"
        );
        let cycle = u32::try_from(next.snapshots("main")).expect("it is small");
        assert_eq!(next.sent("main", cycle, provider), json(&before), "{provider}");
    }
}

#[test]
fn calls_beside_each_other_have_the_same_pruned_past() {
    let mut fixture = limited(1_200);
    let mut agent = Agent::new(Provider::Anthropic, None);
    let calls = until_pruned(&mut agent, &fixture);
    let mut beside = agent.clone();
    let mut slow = agent.clone().streaming();
    slow.say("slowly, please");
    let mut running = open(fixture.address(), slow.path(), &[], slow.body().as_bytes());
    std::io::Read::read_exact(&mut running, &mut [0; 64]).expect("it streams");
    beside.say("another question");
    assert!(beside.ask(&fixture));
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut running, &mut rest).ok();
    let lines = fixture.stop();
    let forked = lines.iter().find(|line| line.context == "agent-2").expect("it is beside");
    assert_eq!(forked.relation, Relation::Forked { from: "agent-1".to_owned() });
    let (before, sent) = (body(&fixture, calls - 1), body(&fixture, calls + 1));
    assert!(left_out(forked) > 0 && sent.starts_with(beginning(&before)), "{before}\n{sent}");
    let cycle = u32::try_from(calls + 1).expect("it is small");
    assert_eq!(fixture.sent("agent-2", cycle, Provider::Anthropic), json(&sent));
}

#[test]
fn results_are_cleared_before_anything_is_removed() {
    for provider in ALL {
        let budget = || Budget::new().max_tokens(4_500).keep_results(2);
        let mut fixture = under(budget());
        let mut agent = Agent::new(provider, Some("main"));
        for number in 0..14 {
            agent.say(&format!("question {number}"));
            assert!(agent.ask(&fixture), "{provider}");
            agent.call(number, &words(&format!("result {number}"), 300));
            // The upstream repeats what was said last, and answers are not cleared.
            agent.say("Go on.");
            assert!(agent.ask(&fixture), "{provider}");
        }
        let lines = fixture.stop();
        let first = lines.iter().find_map(summary).expect("something is cleared");
        assert!(first.starts_with("cleared ") && first.contains(" results, "), "{first}");
        assert_eq!(left_out(&lines[27]), 0, "{provider}: all messages are there");
        let before = body(&fixture, 27);
        assert!(before.contains("[old tool result cleared]"), "{provider} {before}");
        assert_eq!(fixture.sent("main", 28, provider), json(&before), "{provider}");
        for (index, line) in lines.iter().enumerate().take(28).skip(1) {
            let (before, sent) = (body(&fixture, index - 1), body(&fixture, index));
            let is_sticky = sent.starts_with(beginning(&before));
            assert!(is_sticky || summary(line).is_some(), "{provider}\n{before}\n{sent}");
        }
        let mut next = again(&fixture, Some(budget()));
        agent.say("short");
        assert!(agent.ask(&next), "{provider}");
        let lines = next.stop();
        assert_eq!(lines[0].relation, Relation::Continued, "{provider}");
        assert_eq!(summary(&lines[0]), None, "{provider}");
        let sent = body(&next, 28);
        assert!(sent.starts_with(beginning(&before)), "{provider}\n{before}\n{sent}");
    }
}

#[test]
fn request_that_cannot_be_pruned_enough_is_sent_with_a_warning() {
    let mut fixture = limited(300);
    let mut agent = Agent::new(Provider::OpenAiChat, None);
    rounds(&mut agent, &fixture, 0..1);
    agent.say(&words("the newest question", 500));
    assert!(agent.ask(&fixture));
    let reports = fixture.finish();
    assert!(body(&fixture, 2).contains("the newest question"), "the newest user message stays");
    let over = reports.iter().filter_map(|report| match report {
        Report::OverBudget(why) => Some(why.as_str()),
        _ => None,
    });
    let over: Vec<&str> = over.collect();
    assert!(over[0].starts_with("`agent-1`: `max_tokens` is not met: "), "{over:?}");
    let lines = fixture.stop_quietly();
    let receipt = lines[2].receipt.clone().expect("there is a budget");
    assert!(!receipt.is_kept() && receipt.missed[0].0 == "max_tokens", "{receipt:?}");
    assert_eq!(fixture.sent("agent-1", 3, Provider::OpenAiChat), json(&body(&fixture, 2)));
}

#[test]
fn first_message_stays_where_a_request_must_not_begin_with_an_answer() {
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let mut fixture = limited(600);
        let mut agent = Agent::new(provider, None);
        for number in 0..12 {
            agent.say(&words(&format!("question {number}"), 60));
            assert!(agent.ask(&fixture));
        }
        let lines = fixture.stop();
        assert!(left_out(&lines[11]) > 0);
        for index in 0..12 {
            let sent = messages(&body(&fixture, index), provider);
            assert!(text_of(&sent[0]).starts_with("question 0"), "{provider} {index}");
        }
    }
}

#[test]
fn past_that_the_agent_rewrites_is_pruned_anew() {
    for provider in ALL {
        let mut fixture = limited(1_200);
        let mut agent = Agent::new(provider, Some("main"));
        rounds(&mut agent, &fixture, 0..7);
        let kept = agent.messages.len() - 3;
        agent.messages.drain(1..kept);
        agent.say("after the summary");
        assert!(agent.ask(&fixture), "{provider}");
        let calls = fixture.upstream.received().len();
        assert_eq!(body(&fixture, calls - 1), {
            let mut own = agent.clone();
            own.messages.truncate(agent.messages.len() - 1);
            own.body()
        });
        rounds(&mut agent, &fixture, 20..26);
        let lines = fixture.stop();
        assert!(left_out(lines.last().expect("it recorded")) > 0, "{provider}");
        for index in 0..lines.len() {
            let cycle = u32::try_from(index + 1).expect("it is small");
            let sent = fixture.sent("main", cycle, provider);
            assert_eq!(sent, json(&body(&fixture, index)), "{provider} {index}");
        }
    }
}

#[test]
fn without_the_budget_the_next_request_is_whole_again() {
    for provider in ALL {
        let mut fixture = under(Budget::new().max_tokens(1_200).keep_results(1));
        let mut agent = Agent::new(provider, Some("main"));
        rounds(&mut agent, &fixture, 0..12);
        let lines = fixture.stop();
        assert!(lines.iter().any(|line| summary(line).is_some()), "{provider}");
        let mut next = again(&fixture, None);
        agent.say("whole");
        let own = agent.body();
        assert!(agent.ask(&next), "{provider}");
        let lines = next.stop();
        assert_eq!(lines[0].receipt, None);
        let index = next.upstream.received().len() - 1;
        assert_eq!(body(&next, index), own, "{provider}");
        let cycle = u32::try_from(next.snapshots("main")).expect("it is small");
        assert_eq!(next.sent("main", cycle, provider), json(&own), "{provider}");
    }
}

#[test]
fn pruned_request_whose_original_was_compressed_is_sent_plain() {
    let mut fixture = limited(600);
    let mut agent = Agent::new(Provider::Anthropic, None);
    for number in 0..10 {
        agent.say(&words(&format!("question {number}"), 60));
        agent.answer("Yes.");
    }
    agent.say("now");
    let first = packed(&agent, &fixture);
    agent.answer("Yes.");
    agent.say("short");
    packed(&agent, &fixture);
    let lines = fixture.stop_quietly();
    // All of it is new to the proxy, so nothing may be removed yet.
    assert_eq!(left_out(&lines[0]), 0);
    assert!(left_out(&lines[1]) > 0);
    let received = fixture.upstream.received();
    assert_eq!(
        (received[0].body == first, received[0].header("content-encoding")),
        (true, Some("zstd"))
    );
    assert_eq!(received[1].header("content-encoding"), None);
    assert_eq!(fixture.sent("agent-1", 2, Provider::Anthropic), json(&body(&fixture, 1)));
}

/// Sends what an agent has, compressed. Returns the bytes.
fn packed(agent: &Agent, fixture: &Fixture) -> Vec<u8> {
    let own = agent.body();
    let packed = zstd::encode_all(own.as_bytes(), 1).expect("it is in memory");
    // The upstream decompresses nothing.
    let headers = [("content-encoding", "zstd"), ("x-test-plain", own.as_str())];
    assert_eq!(post(fixture.address(), agent.path(), &headers, &packed).status, 200);
    packed
}

#[test]
fn budget_and_strict_go_together() {
    let mut fixture = Fixture::with(|config| {
        config.budget = Some(Budget::new().max_tokens(800));
        config.strict = true;
    });
    let mut agent = Agent::new(Provider::Anthropic, None).streaming();
    for number in 0..10 {
        agent.say(&words(&format!("question {number}"), 100));
        assert!(agent.ask(&fixture));
    }
    let bad = r#"{"model":"m","messages":"bad request"}"#;
    assert_eq!(fixture.post("/v1/messages", &[], bad).status, 503);
    assert_eq!(fixture.upstream.received().len(), 10);
    let lines = fixture.stop_quietly();
    assert!(left_out(&lines[9]) > 0);
    assert_eq!(fixture.sent("agent-1", 10, Provider::Anthropic), json(&body(&fixture, 9)));
}

#[test]
fn request_that_cannot_be_read_passes_under_a_budget() {
    let mut fixture = limited(100);
    let bad = r#"{"model":"m","messages":"bad request"}"#;
    assert_eq!(fixture.post("/v1/messages", &[], bad).status, 400, "the upstream's answer");
    assert_eq!(body(&fixture, 0), bad);
    let reports = fixture.finish();
    assert!(matches!(&reports[0], Report::NotRecorded(why) if why.contains("messages")));
}

#[test]
fn budget_that_is_met_changes_nothing() {
    let mut fixture = limited(100_000);
    let text = request("s", &["one"], &[]);
    assert_eq!(fixture.post("/v1/messages", &[], &text).status, 200);
    let lines = fixture.stop();
    assert_eq!(body(&fixture, 0), text);
    let receipt = lines[0].receipt.clone().expect("there is a budget");
    assert_eq!((receipt.summary.as_deref(), receipt.left_out), (None, 0));
    assert!(receipt.tokens_before == receipt.tokens_after && receipt.tokens_after > 0);
    assert!(!lines[0].to_string().contains("left out"));
}

#[test]
fn line_of_a_call_has_its_receipt() {
    let mut fixture = limited(1_200);
    let mut agent = Agent::new(Provider::Anthropic, None);
    rounds(&mut agent, &fixture, 0..7);
    let lines = fixture.stop();
    let at = lines.iter().position(|line| summary(line).is_some()).expect("something is removed");
    let text = lines[at].to_string();
    assert!(
        text.contains(" tokens: over `max_tokens`") && text.ends_with(" messages left out)"),
        "{text}"
    );
    let value = lines[at].to_value();
    let budget = value.get("budget").expect("it has a receipt");
    assert_eq!(budget.get("summary").and_then(Value::as_str), summary(&lines[at]));
    assert_eq!(budget.get("left_out").and_then(Value::as_u64), Some(left_out(&lines[at]) as u64));
    assert_eq!(budget.get("kept").and_then(Value::as_bool), Some(true));
}

#[test]
fn breakpoints_of_messages_that_stay_are_sent() {
    let mut fixture = limited(700);
    let mark = |text: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}]}}"#
        )
    };
    let plain = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let mut agent = Agent::new(Provider::Anthropic, None);
    for number in 0..12 {
        let text = words(&format!("question {number}"), 60);
        agent.messages.push(mark(&text));
        assert!(agent.ask(&fixture));
        let own = agent.messages.len() - 2;
        agent.messages[own] = plain(&text);
    }
    let lines = fixture.stop();
    assert!(left_out(&lines[11]) > 0);
    for index in 0..12 {
        let sent = body(&fixture, index);
        assert_eq!(sent.matches("cache_control").count(), 1, "{sent}");
        let cycle = u32::try_from(index + 1).expect("it is small");
        assert_eq!(fixture.sent("agent-1", cycle, Provider::Anthropic), json(&sent));
    }
}

/// What agents do, in any order: whatever it is, what is sent is recorded, and what was removed stays removed.
#[test]
fn random_conversations_keep_to_the_budget() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let provider = ALL[rng.index(4)];
        let mut budget = Budget::new().max_tokens(400 + rng.below(1_200));
        if rng.one_in(3) {
            budget = budget.keep_results(rng.below(3));
        }
        if rng.one_in(4) {
            budget = budget.keep_turns(1 + rng.below(3));
        }
        let mut fixture = under(budget.clone());
        let mut agent = Agent::new(provider, Some("main"));
        let mut number = 0;
        for _ in 0..4 {
            for _ in 0..1 + rng.index(8) {
                number += 1;
                match rng.below(10) {
                    0..4 => agent.say(&words(&format!("question {number}"), rng.index(200))),
                    4..8 => {
                        if agent.messages.len() > 1 {
                            agent.call(number, &words(&format!("result {number}"), rng.index(300)));
                        }
                        if rng.one_in(2) {
                            agent.say(&words(&format!("more {number}"), rng.index(20)));
                        }
                    }
                    8 => agent.say(&words(&format!("fail once {number}"), 30)),
                    _ => {
                        let length = agent.messages.len();
                        if length > 6 {
                            agent.truncate(length - 1 - rng.index(4));
                        }
                        agent.say(&format!("instead {number}"));
                    }
                }
                if agent.messages.len() < 2 {
                    agent.say("begin");
                }
                while !agent.ask(&fixture) {}
            }
            let calls = fixture.stop_quietly();
            for (index, line) in calls.iter().enumerate() {
                let first = fixture.upstream.received().len() - calls.len();
                let sent = body(&fixture, first + index);
                let place = format!("seed {seed}, {provider}, call {index}: {sent}");
                let recorded = fixture.sent_by(&line.context, &line.attempt, provider);
                if let Some(recorded) = recorded {
                    assert_eq!(recorded, json(&sent), "{place}");
                }
                assert_calls_have_results(&sent, provider);
                let earlier = (first + index).checked_sub(1).map(|index| body(&fixture, index));
                let goes_on = matches!(line.relation, Relation::Continued | Relation::Retried);
                if let Some(earlier) = earlier
                    && goes_on
                    && summary(line).is_none()
                {
                    assert!(sent.starts_with(beginning(&earlier)), "{place}\nafter {earlier}");
                }
            }
            let reports = fixture.finish();
            let refused = reports.iter().filter(|report| matches!(report, Report::NotPruned(_)));
            assert_eq!(refused.count(), 0, "seed {seed}, {provider}: {reports:?}");
            fixture = again(&fixture, Some(budget.clone()));
        }
    }
}

#[test]
fn bodies_are_json() {
    // Of the helpers above: a transcript that is not JSON would pass for a request that cannot be read.
    for provider in ALL {
        let mut agent = Agent::new(provider, None);
        agent.say("a");
        agent.answer("b");
        agent.call(1, "c");
        assert!(parse(agent.body().as_bytes()).is_ok(), "{}", agent.body());
        assert!(parse(agent.streaming().body().as_bytes()).is_ok());
    }
}
