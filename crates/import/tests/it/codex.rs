//! Tests Codex rollouts: the import equals the model's next input.

use contextree_import::{Format, ImportOptions, Imported, import};
use contextree_json::Value;
use contextree_provider::{Provider, render};

use crate::said::said;
use crate::support::{imported, rendered};

fn entry(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-11-01","type":"{kind}","payload":{payload}}}"#)
}

fn item(payload: &str) -> String {
    entry("response_item", payload)
}

fn message(role: &str, text: &str) -> String {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    let content = format!(r#"[{{"type":"{kind}","text":"{text}"}}]"#);
    format!(r#"{{"type":"message","role":"{role}","content":{content}}}"#)
}

fn user(text: &str) -> String {
    item(&message("user", text))
}

fn model(text: &str) -> String {
    item(&message("assistant", text))
}

fn rolled_back(turns: u64) -> String {
    entry("event_msg", &format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#))
}

fn check(log: &[String], expected: &[&str]) -> Imported {
    let imported = imported(log.join("\n").as_bytes(), Format::Codex);
    assert_eq!(said(&imported), expected);
    imported
}

/// Returns the text of the snapshots in the history.
fn history(imported: &Imported) -> String {
    let threads =
        imported.context.history().iter().map(|it| String::from_utf8(it.thread()).unwrap());
    threads.collect()
}

#[test]
fn rolled_back_turns_are_only_in_the_history() {
    let context = user("<environment_context>here</environment_context>");
    let log = |turns: u64| {
        vec![
            context.clone(),
            user("Q1"),
            model("A1"),
            user("Q2"),
            item(r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#),
            item(r#"{"type":"function_call_output","call_id":"c","output":"one"}"#),
            model("A2"),
            context.clone(),
            user("Bad Q"),
            model("Bad A"),
            rolled_back(turns),
            user("Q3"),
            model("A3"),
        ]
    };
    let env = "user: <environment_context>here</environment_context>";
    let first = [env, "user: Q1", "assistant: A1"];
    let second = ["user: Q2", "assistant: [c f {}]", "tool c: one", "assistant: A2"];
    let last = ["user: Q3", "assistant: A3"];
    let imported = check(&log(1), &[&first[..], &second, &last].concat());
    assert!(history(&imported).contains("Bad Q"), "the history keeps it");
    check(&log(2), &[&first[..], &last].concat());
    check(&log(3), &[&[env][..], &last].concat());
    check(&log(9), &[&[env][..], &last].concat());
    let nothing = [&first[..], &second, &[env, "user: Bad Q", "assistant: Bad A"], &last].concat();
    check(&log(0), &nothing);
}

#[test]
fn rollback_at_the_end_is_applied() {
    let log = [user("Q1"), model("A1"), user("Q2"), model("A2"), rolled_back(1)];
    check(&log, &["user: Q1", "assistant: A1"]);
}

#[test]
fn bad_compaction_changes_nothing() {
    let bad = r#"{"message":"","replacement_history":[{"type":"function_call","name":"x"}]}"#;
    let log = [user("Q1"), model("A1"), entry("compacted", bad), user("Q2")].join("\n");
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let imported = import(log.as_bytes(), Format::Codex, options).unwrap();
    assert_eq!(said(&imported), ["user: Q1", "assistant: A1", "user: Q2"]);
    let errors: Vec<String> = imported.report.errors.iter().map(ToString::to_string).collect();
    let place = "payload.replacement_history[0].call_id";
    assert_eq!(errors, [format!("line 3: expected a string at `{place}`")]);
}

#[test]
fn message_without_a_role_is_bad_and_an_empty_one_is_skipped() {
    let log = [user("Q1"), item(r#"{"type":"message","content":"x"}"#)].join("\n");
    let error = import(log.as_bytes(), Format::Codex, ImportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 2: expected a string at `payload[0].role`");
    let empty = item(r#"{"type":"message","role":"user","content":[]}"#);
    check(&[user("Q1"), empty, model("A1")], &["user: Q1", "assistant: A1"]);
}

#[test]
fn bad_list_imports_nothing() {
    let bad = format!("[{},{}]", user("Bad"), item(r#"{"type":"message","role":"user"}"#));
    let log = [user("Q1"), bad, user("Q2")].join("\n");
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let imported = import(log.as_bytes(), Format::Codex, options).unwrap();
    assert_eq!(said(&imported), ["user: Q1", "user: Q2"]);
}

#[test]
fn compaction_with_only_a_summary_keeps_user_messages() {
    let compacted = |text: &str| entry("compacted", &format!(r#"{{"message":"{text}"}}"#));
    let log = [
        user("Q1"),
        model("A1"),
        compacted("First."),
        user("Q2"),
        model("A2"),
        compacted("Second."),
        user("Q3"),
    ];
    let imported = check(&log, &["user: Q1", "user: Q2", "user: Second.", "user: Q3"]);
    assert!(history(&imported).contains("A1"), "the history keeps it");
}

#[test]
fn bare_items_of_the_first_versions_are_read() {
    let log = [
        r#"{"id":"s","timestamp":"2025-06-01","instructions":"Be brief.","git":null}"#.to_owned(),
        r#"{"record_type":"state"}"#.to_owned(),
        message("user", "Q"),
        r#"{"type":"reasoning","id":"r","summary":[],"encrypted_content":null}"#.to_owned(),
        r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#.to_owned(),
        r#"{"type":"function_call_output","call_id":"c","output":"one"}"#.to_owned(),
        message("assistant", "A"),
    ];
    let expected =
        ["system: Be brief.", "user: Q", "assistant: [c f {}]", "tool c: one", "assistant: A"];
    let imported = check(&log, &expected);
    assert_eq!(imported.report.skipped.get("state"), Some(&1));
}

#[test]
fn null_instructions_are_ignored() {
    let meta = r#"{"id":"s","instructions":null,"base_instructions":{"text":"Be brief."}}"#;
    check(&[entry("session_meta", meta), user("Q")], &["system: Be brief.", "user: Q"]);
}

#[test]
fn messages_of_other_agents_are_user_messages() {
    let said = r#"{"author":"/root","recipient":"/root/a","content":"Look.","trigger_turn":true}"#;
    let log = [user("Q"), model("A"), entry("inter_agent_communication", said), model("B")];
    let imported = imported(log.join("\n").as_bytes(), Format::Codex);
    let request = rendered(&imported, Provider::OpenAiResponses).value();
    let items = request.get("input").and_then(Value::as_array).unwrap();
    let expected = r#"{"type":"agent_message","author":"/root","recipient":"/root/a",
        "content":[{"type":"input_text","text":"Look."}]}"#;
    assert_eq!(items[2], crate::support::parse(expected.as_bytes()));
    assert_eq!(imported.report.commits, 2, "it starts a turn");
}

#[test]
fn settings_name_the_model_of_the_last_turn() {
    let turn = |model: &str| entry("turn_context", &format!(r#"{{"model":"{model}"}}"#));
    let log = [turn("m-1"), user("Q1"), model("A1"), turn("m-2"), user("Q2")].join("\n");
    let imported = imported(log.as_bytes(), Format::Codex);
    let model = |view| {
        let options = contextree_provider::RenderOptions::default();
        let request = render(view, Provider::OpenAiResponses, &options).unwrap().value();
        request.get("model").unwrap().as_str().unwrap().to_owned()
    };
    let models: Vec<String> =
        imported.context.history().iter().map(|it| model(it.view())).collect();
    assert_eq!(models, ["m-1"], "each call has its own model");
    assert_eq!(model(imported.context.working()), "m-2", "the next call has another one");
}
