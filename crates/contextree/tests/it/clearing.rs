//! Tests budgets that clear old tool results and summarize what they prune, through the loop of calls.

use contextree::budget::Budget;
use contextree::calls::{Call, Request, sent};
use contextree::provider::Provider;
use contextree::store::Session;
use contextree::{
    Code, ContextSettings, Error, Place, SnapshotAddress, set_budget, system, tool_call,
    tool_result, user,
};

const PLACEHOLDER: &str = "[old tool result cleared]";

fn request(provider: Provider) -> Request {
    match provider {
        Provider::Anthropic => Request::new(provider, "claude-opus-5").setting("max_tokens", 1_000),
        Provider::Gemini => Request::new(provider, "gemini-3-pro"),
        _ => Request::new(provider, "gpt-5"),
    }
}

fn answer(provider: Provider, number: usize) -> String {
    match provider {
        Provider::OpenAiChat => format!(
            r#"{{"id":"r{number}","choices":[{{"message":{{"role":"assistant","content":"Step {number}."}}}}]}}"#
        ),
        Provider::Anthropic => format!(
            r#"{{"id":"r{number}","type":"message","role":"assistant","content":[{{"type":"text","text":"Step {number}."}}]}}"#
        ),
        Provider::Gemini => format!(
            r#"{{"responseId":"r{number}","candidates":[{{"content":{{"role":"model","parts":[{{"text":"Step {number}."}}]}}}}]}}"#
        ),
        _ => format!(
            r#"{{"id":"r{number}","object":"response","output":[{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"Step {number}."}}]}}]}}"#
        ),
    }
}

/// Adds a call and its result, which is long.
fn add_tools(session: &mut Session, number: usize) {
    let id = format!("call_{number}");
    let result = format!("RESULT {number} ").repeat(60);
    session
        .update(|context| {
            let call = tool_call(&id, "look", contextree::json::parse(b"{}").unwrap());
            context.add(Place::head(), call)?;
            context.add(Place::head(), tool_result(&id, result.as_str()))?;
            Ok::<_, Error>(())
        })
        .unwrap();
}

/// Returns a session with this many completed calls of a model, each after a call of a tool, and the last tool call not sent yet.
fn session(provider: Provider, budget: Option<&Budget>, calls: usize) -> Session {
    let store = contextree::open("memory:").unwrap();
    let mut session = store.create("main", &ContextSettings::default()).unwrap();
    set_budget(&mut session, budget).unwrap();
    session
        .update(|context| {
            context.add(Place::system(), system("You look things up."))?;
            Ok::<_, Error>(context.add(Place::head(), user("THE TASK: find it."))?)
        })
        .unwrap();
    for number in 0..calls {
        add_tools(&mut session, number);
        let call = request(provider).begin(&mut session).unwrap();
        assert!(!call.is_invalid(), "{provider:?}: {:?}", call.findings);
        call.complete(&mut session, answer(provider, number).as_bytes()).unwrap();
    }
    add_tools(&mut session, calls);
    session
}

fn text(call: &Call) -> String {
    String::from_utf8(call.bytes.clone()).unwrap()
}

#[test]
fn old_results_are_cleared_and_their_calls_stay_for_every_provider() {
    for provider in Provider::ALL {
        // Claude counts a call and its result as many tokens besides their texts.
        let max = if provider == Provider::Anthropic { 4_500 } else { 2_500 };
        let budget = Budget::new().max_tokens(max).keep_results(2).clear_at_least(500);
        let mut session = session(provider, Some(&budget), 20);
        let call = request(provider).begin(&mut session).unwrap();
        assert!(!call.is_invalid(), "{provider:?}: {:?}", call.findings);
        assert!(call.report.unmet.is_empty(), "{provider:?}");
        let text = text(&call);
        let count = |part: &str| text.matches(part).count();
        assert!(count(PLACEHOLDER) >= 5, "{provider:?}: {} placeholders", count(PLACEHOLDER));
        assert!(text.contains("RESULT 20 RESULT 20") && text.contains("RESULT 19 RESULT 19"));
        assert!(text.contains("THE TASK"));
        for number in 0..20 {
            assert!(text.contains(&format!("Step {number}.")), "{provider:?}: only results go");
        }
        // The snapshot of every call renders to what was sent, before and after it was cleared.
        for back in 0..20 {
            sent(&session, SnapshotAddress::Back(back)).unwrap();
        }
    }
}

#[test]
fn cleared_results_stay_in_the_history_and_come_back_when_a_call_is_cancelled() {
    let budget = Budget::new().max_tokens(1_500).keep_results(1);
    let provider = Provider::OpenAiChat;
    let mut session = session(provider, None, 8);
    let before = session.working().unwrap().export();
    let call = request(provider).begin_under(&mut session, &budget).unwrap();
    let first = call.report.cleared.first().cloned().unwrap();
    assert_eq!((first.limit, call.report.pruned.len()), (0, 0));
    assert_eq!(first.placeholder, format!("{}~2", first.id));
    let tree = call.snapshot.view();
    assert!(tree.get(&first.id).is_none());
    let placeholder = tree.get(&first.placeholder).unwrap();
    assert_eq!(placeholder.attribute("data_cleared").unwrap().as_str(), Some(first.id.as_str()));
    // It is exactly where the result was.
    let head = session.snapshot(SnapshotAddress::Back(0)).unwrap();
    let result = head.view().get(&first.id).unwrap();
    assert_eq!(result.parent().unwrap().id(), placeholder.parent().unwrap().id());
    assert_eq!(result.created_at_ns(), placeholder.created_at_ns());
    assert_eq!(result.content().as_text().unwrap().matches("RESULT").count(), 60);
    call.cancel(&mut session).unwrap();
    assert_eq!(session.working().unwrap().export(), before);
}

#[test]
fn a_summary_takes_the_place_of_what_is_pruned() {
    let budget = Budget::new().max_tokens(1_500).summary_tokens(100);
    for provider in Provider::ALL {
        let mut session = session(provider, None, 12);
        let mut asked = Vec::new();
        let call = request(provider).begin_summarized(&mut session, &budget, |removal| {
            asked.push(removal.clone());
            Ok::<_, Error>("SUMMARY: nothing found yet.".to_owned())
        });
        let call = call.unwrap();
        let [removal] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
        assert!(removal.transcript.contains("calls look, call_0]\n{}\n"), "{}", removal.transcript);
        assert!(removal.transcript.contains("[result of call_0]\nRESULT 0 RESULT 0"));
        assert_eq!(removal.summary_tokens, Some(100));
        let pruned: Vec<_> = call.report.pruned.iter().map(|pruned| pruned.id.clone()).collect();
        assert_eq!(pruned, removal.nodes);
        assert!(!call.is_invalid() && call.report.unmet.is_empty(), "{provider:?}");
        let text = text(&call);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{provider:?}: no {part}"));
        assert!(at("THE TASK") < at("SUMMARY") && at("SUMMARY") < at("RESULT 12"));
        assert!(!text.contains("RESULT 0 "));
        call.complete(&mut session, answer(provider, 99).as_bytes()).unwrap();
        sent(&session, SnapshotAddress::Back(0)).unwrap();
    }
}

#[test]
fn a_summary_that_fails_or_does_not_fit_changes_nothing() {
    let budget = Budget::new().max_tokens(1_500).summary_tokens(100);
    let provider = Provider::OpenAiChat;
    let mut session = session(provider, None, 12);
    let before = session.working().unwrap().export();
    let mut check = |text: Result<String, &str>, code: Code| {
        let begun = request(provider).begin_summarized(&mut session, &budget, |_| text);
        assert_eq!(begun.unwrap_err().code(), code);
        assert_eq!(session.working().unwrap().export(), before);
    };
    check(Err("the model is overloaded"), Code::SummaryFailed);
    check(Ok(" \n".to_owned()), Code::SummaryFailed);
    check(Ok("long ".repeat(2_000)), Code::SummaryTooLong);
    // A summary of something else.
    let summary = contextree::Summary { text: "S".to_owned(), of: vec!["block:1.2".to_owned()] };
    let keeper = request(provider).keeper(budget.clone());
    let options = contextree::CommitOptions { summary: Some(&summary), ..keeper.options() };
    let begun = request(provider).begin_with(&mut session, &options);
    assert_eq!(begun.unwrap_err().code(), Code::SummaryStale);
    assert_eq!(session.working().unwrap().export(), before);
}

#[test]
fn budgets_that_clear_can_be_stored_and_written() {
    let budget = Budget::new().max_tokens(1_500).keep_results(2).placeholder("[gone]");
    let budget = budget.summary_tokens(100).clear_at_least(200);
    assert_eq!(Budget::of_policy(&budget.policy()), Some(budget.clone()));
    assert_eq!(Budget::from_toml(&budget.to_toml()).unwrap(), budget);
    let policy = contextree::Policy::from_value(&budget.policy().to_value()).unwrap();
    assert_eq!(policy, budget.policy());
}
