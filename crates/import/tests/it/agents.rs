//! Tests trajectories of SWE-agent and conversations with plain calls.

use contextree_engine::{AttemptStatus, SnapshotAddress};
use contextree_import::{Format, Imported};
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions, render};

use crate::said::said;
use crate::support::{imported, samples};

/// Returns a sample by name.
fn sample(format: Format, name: &str) -> String {
    let all = samples(format);
    let (_, text) = all.iter().find(|(own, _)| own == name).unwrap();
    String::from_utf8(text.clone()).unwrap()
}

/// Returns the number of messages that each call sent, system messages included.
fn sent(imported: &Imported) -> Vec<usize> {
    let cycles = 1..=imported.context.history().len() as u64;
    let count = |cycle| {
        let snapshot = imported.context.snapshot(SnapshotAddress::Cycle(cycle)).unwrap();
        let options = RenderOptions::default();
        let request = render(snapshot.view(), Provider::OpenAiChat, &options).unwrap().value();
        request.get("messages").and_then(Value::as_array).unwrap().len()
    };
    cycles.map(count).collect()
}

#[test]
fn plain_calls_become_calls_and_each_answer_ends_a_model_call() {
    let imported = imported(sample(Format::PlainChat, "airline.json").as_bytes(), Format::Auto);
    assert_eq!(imported.report.format, Some(Format::PlainChat));
    let expected = [
        "assistant: Hi! How can I help you?",
        "user: Cancel my flight, please.",
        "assistant: [call_1 find_booking {\"user\":\"ada\"}]",
        "tool call_1: {\"booking\": \"K7\"}",
        "assistant: Is it K7?",
        "user: Yes.",
        "assistant: Let me cancel it. [call_3 cancel {\"booking\":\"K7\"}]",
        "tool call_3: Error: too late",
        "assistant: It is too late for that.",
    ];
    assert_eq!(said(&imported), expected);
    // The greeting is not an answer: nothing was sent before it.
    assert_eq!(imported.report.calls, 4);
    assert_eq!(sent(&imported), [2, 4, 6, 8]);
    let billed: Vec<_> =
        imported.context.attempts().iter().map(|it| (it.token_in, it.token_out)).collect();
    assert_eq!(billed[0], (Some(340), Some(12)));
    assert_eq!(billed[3], (Some(430), Some(8)));
}

#[test]
fn calls_of_the_simulated_user_are_kept_and_never_sent() {
    let imported = imported(sample(Format::PlainChat, "airline.json").as_bytes(), Format::Auto);
    assert_eq!(imported.report.findings["foreign_block"], 2);
    let nodes = imported.context.working().nodes().map(|(_, node)| node);
    let kept = nodes.filter(|node| node.kind() == Some("foreign"));
    let texts: Vec<String> = kept.map(|node| format!("{:?}", node.content())).collect();
    assert!(texts[0].contains("look_at_ticket") && texts[1].contains("K7"), "{texts:?}");
}

#[test]
fn results_file_has_a_conversation_for_each_simulation() {
    let list = sample(Format::PlainChat, "airline.json");
    let file = format!(
        r#"{{"timestamp":"t","info":{{}},"tasks":[],"simulations":[{{"id":"a","messages":{list}}},{{"id":"b","messages":[
        {{"role":"user","content":"Hello","turn_idx":0}},{{"role":"assistant","content":"Yes?","tool_calls":null,"turn_idx":1}}]}}]}}"#
    );
    let imported = imported(file.as_bytes(), Format::Auto);
    assert_eq!(imported.report.format, Some(Format::PlainChat));
    assert_eq!((imported.report.conversations, imported.report.calls), (2, 5));
    assert_eq!(said(&imported), ["user: Hello", "assistant: Yes?"]);
}

#[test]
fn trajectory_has_a_call_for_each_step() {
    let imported = imported(sample(Format::SweAgent, "fix.traj").as_bytes(), Format::Auto);
    assert_eq!(imported.report.format, Some(Format::SweAgent));
    let expected = [
        "system: You are a programmer.",
        "user: Here is a demonstration.",
        "assistant: This is how it is done.",
        "user: Fix the syntax error.",
        "assistant: I look for the file. [call_a find_file {\"file_name\":\"colon.py\"}]",
        "tool call_a: Found 1 match: /repo/colon.py",
        "assistant: I add the colon. [call_b edit {\"line\":4}]",
        "tool call_b: File updated.",
        "assistant: I submit.",
    ];
    assert_eq!(said(&imported), expected, "the last answer is only in the steps");
    assert_eq!(imported.report.calls, 3, "the demonstration is not a call");
    assert_eq!(sent(&imported), [4, 6, 8]);
    let mut attempts = imported.context.attempts().iter();
    assert!(attempts.all(|it| it.model == "gpt-4o" && it.status == AttemptStatus::Completed));
}

#[test]
fn recorded_query_is_what_a_step_sent() {
    let text = r#"{"environment":"e","trajectory":[
        {"action":"a","observation":"long output","response":"one","query":[{"role":"system","content":"S"},{"role":"user","content":"Q"}]},
        {"action":"b","observation":"y","response":"two","query":[{"role":"system","content":"S"},{"role":"user","content":"Q"},
            {"role":"assistant","content":"one"},{"role":"user","content":"(elided)"}]}],
        "history":[{"role":"system","content":"S"},{"role":"user","content":"Q"},{"role":"assistant","content":"one"},
            {"role":"user","content":"long output"},{"role":"assistant","content":"two"},{"role":"user","content":"y"}],"info":{}}"#;
    let imported = imported(text.as_bytes(), Format::Auto);
    assert_eq!((imported.report.calls, imported.report.conversations), (2, 1));
    assert_eq!(sent(&imported), [2, 4]);
    let expected =
        ["system: S", "user: Q", "assistant: one", "user: (elided)", "assistant: two", "user: y"];
    assert_eq!(said(&imported), expected);
}

#[test]
fn trajectory_of_the_small_agent_has_messages() {
    let text = r#"{"info":{"config":{"model":{"model_name":"m"}}},"trajectory_format":"mini-swe-agent-1","messages":[
        {"role":"system","content":"S"},{"role":"user","content":"Q"},
        {"role":"assistant","content":"A","extra":{"response":{"id":"r","model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2}}}},
        {"role":"user","content":"out"},{"role":"assistant","content":"B"},{"role":"exit","content":"done"}]}"#;
    let imported = imported(text.as_bytes(), Format::Auto);
    assert_eq!(imported.report.calls, 2);
    let expected = ["system: S", "user: Q", "assistant: A", "user: out", "assistant: B"];
    assert_eq!(said(&imported), expected, "the message that ends it is kept and not sent");
    let first = imported.context.attempts().first().unwrap();
    assert_eq!((first.token_in, first.token_out), (Some(10), Some(2)));
}

#[test]
fn function_calls_without_ids_are_paired_by_name_and_order() {
    let text = r#"[{"role":"user","content":"weather?"},
        {"role":"assistant","content":null,"function_call":{"name":"rain","arguments":"{\"city\":\"Rome\"}"}},
        {"role":"function","name":"rain","content":"no"},
        {"role":"assistant","content":"It is dry."}]"#;
    let imported = imported(text.as_bytes(), Format::Auto);
    assert_eq!(imported.report.format, Some(Format::OpenAiChat));
    assert_eq!(imported.report.calls, 2);
    let request = crate::support::rendered(&imported, Provider::OpenAiChat).value();
    let written = crate::support::parse(text.as_bytes());
    crate::support::assert_same(request.get("messages").unwrap(), &written, "written as it was");
    let request = crate::support::rendered(&imported, Provider::Anthropic);
    let text = request.text();
    assert!(text.contains(r#""type":"tool_use","id":"call_2_0","name":"rain""#), "{text}");
    assert!(text.contains(r#""type":"tool_result","tool_use_id":"call_2_0""#), "{text}");
    assert_eq!(request.losses, []);
}
