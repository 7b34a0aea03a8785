//! Tests spans and events: each message is imported once, in any order and form.

use contextree_import::{Format, ImportOptions, Imported, import};
use contextree_provider::Provider;

use crate::said::said;
use crate::support::{imported, rendered};

fn message(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","parts":[{{"type":"text","content":"{text}"}}]}}"#)
}

/// Returns a span in OTLP. The texts alternate between user and model; the last one is the answer.
fn span(conversation: &str, start: u64, operation: &str, texts: &[&str]) -> String {
    let role = |index: usize| if index.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<String> =
        texts.iter().enumerate().map(|(index, text)| message(role(index), text)).collect();
    let (answer, input) = messages.split_last().unwrap();
    let attribute = |name: &str, value: &str| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"");
        format!(r#"{{"key":"{name}","value":{{"stringValue":"{value}"}}}}"#)
    };
    let attributes = [
        attribute("gen_ai.operation.name", operation),
        attribute("gen_ai.conversation.id", conversation),
        attribute("gen_ai.request.model", "m-1"),
        attribute("gen_ai.input.messages", &format!("[{}]", input.join(","))),
        attribute("gen_ai.output.messages", &format!("[{answer}]")),
    ];
    format!(
        r#"{{"traceId":"t","name":"{operation}","startTimeUnixNano":"{start}","attributes":[{}]}}"#,
        attributes.join(",")
    )
}

fn export(spans: &[String]) -> String {
    let spans = spans.join(",");
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{spans}]}}]}}]}}"#)
}

fn check(text: &str, expected: &[&str]) -> Imported {
    let imported = imported(text.as_bytes(), Format::OTel);
    assert_eq!(said(&imported), expected, "{text}");
    imported
}

const SAID: [&str; 4] = ["user: Q1", "assistant: A1", "user: Q2", "assistant: A2"];

#[test]
fn spans_are_sorted_by_time() {
    let first = span("a", 9, "chat", &["Q1", "A1"]);
    let second = span("a", 30, "chat", &["Q1", "A1", "Q2", "A2"]);
    let imported = check(&export(&[second.clone(), first.clone()]), &SAID);
    assert_eq!(imported.report.conversations, 1);
    check(&format!("[{second},{first}]"), &SAID);
    let request = rendered(&imported, Provider::OpenAiChat).value();
    assert_eq!(request.get("model").unwrap().as_str(), Some("m-1"));
}

#[test]
fn concurrent_conversations_are_imported_one_by_one() {
    let spans = [
        span("a", 10, "chat", &["Q1", "A1"]),
        span("b", 20, "chat", &["B1", "C1"]),
        span("a", 30, "chat", &["Q1", "A1", "Q2", "A2"]),
        span("b", 40, "chat", &["B1", "C1", "B2", "C2"]),
    ];
    let imported = imported(export(&spans).as_bytes(), Format::OTel);
    assert_eq!((imported.report.conversations, imported.report.messages), (2, 8));
    let said = said(&imported);
    let last = ["user: B1", "assistant: C1", "user: B2", "assistant: C2"];
    assert!(said.ends_with(&last.map(str::to_owned)), "{said:?}");
}

#[test]
fn call_without_new_messages_adds_nothing() {
    let first = span("a", 10, "chat", &["Q1", "A1"]);
    let second = span("a", 30, "chat", &["Q1", "A1", "Q2", "A2"]);
    let agent = span("a", 5, "invoke_agent", &["Q1", "A2"]);
    let log = [first.clone(), first.clone(), second, first, agent.clone()];
    let imported = check(&export(&log), &SAID);
    assert_eq!(imported.report.skipped["repeated_call"], 2);
    assert_eq!(imported.report.skipped["agent_span"], 1);
    check(&log.join("\n"), &SAID);
    check(&export(&[agent]), &["user: Q1", "assistant: A2"]);
}

#[test]
fn bad_export_imports_nothing() {
    let bad = span("a", 30, "chat", &["Q1", "A1"]).replace(r#"[{\"role"#, r#"[{\"rolle"#);
    let log =
        [export(&[span("a", 10, "chat", &["X", "Y"]), bad]), span("a", 1, "chat", &["Q", "A"])];
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let imported = import(log.join("\n").as_bytes(), Format::OTel, options).unwrap();
    assert_eq!(imported.report.errors.len(), 1);
    assert_eq!(said(&imported), ["user: Q", "assistant: A"]);
}

#[test]
fn log_records_and_span_events_give_the_same_messages() {
    let expected = ["user: Q1", "assistant: A1"];
    let details = span("a", 1, "chat", &["Q1", "A1"]);
    let export = format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{details}]}}]}}]}}"#);
    check(&export, &expected);
    check(
        &export
            .replace("resourceLogs", "resource_logs")
            .replace("scopeLogs", "scope_logs")
            .replace("logRecords", "log_records"),
        &expected,
    );
    let event = format!(
        r#"{{"name":"gen_ai.client.inference.operation.details","attributes":
        {{"gen_ai.input.messages":[{}],"gen_ai.output.messages":[{}]}}}}"#,
        message("user", "Q1"),
        message("assistant", "A1")
    );
    let span = format!(
        r#"{{"name":"chat m","context":{{"trace_id":"0x1","span_id":"0x2"}},
        "start_time":"2026-11-01T10:00:00Z","attributes":{{"gen_ai.request.model":"m-1"}},
        "events":[{{"name":"else","attributes":{{}}}},{event}]}}"#
    );
    let imported = check(&span, &expected);
    let request = rendered(&imported, Provider::OpenAiChat).value();
    assert_eq!(
        request.get("model").unwrap().as_str(),
        Some("m-1"),
        "the attributes of the span win"
    );
    let doc =
        format!(r#"{{"messages":[{},{}]}}"#, message("user", "Q1"), message("assistant", "A1"));
    check(&doc, &expected);
}

/// Returns an event of the first conventions, as the console exporter writes it.
fn event(name: &str, span: &str, body: &str) -> String {
    format!(
        r#"{{"body":{body},"attributes":{{"event.name":"gen_ai.{name}"}},"trace_id":"t","span_id":"{span}"}}"#
    )
}

#[test]
fn events_with_one_message_each_form_calls() {
    let call = r#"[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]"#;
    let asked = |span: &str| {
        vec![
            event("system.message", span, r#"{"content":"Be brief."}"#),
            event("user.message", span, r#"{"content":"Q1"}"#),
        ]
    };
    let choice = format!(
        r#"{{"index":0,"finish_reason":"tool_calls","message":{{"role":"assistant","tool_calls":{call}}}}}"#
    );
    let mut log = asked("1");
    log.push(event("choice", "1", &choice));
    log.extend(asked("2"));
    log.push(event("assistant.message", "2", &format!(r#"{{"tool_calls":{call}}}"#)));
    log.push(event("tool.message", "2", r#"{"content":"one","id":"c1"}"#));
    let last = r#"{"index":0,"message":{"content":"A1"}}"#;
    log.push(event("choice", "2", last));
    log.push(event("choice", "2", r#"{"index":1,"message":{"content":"Another."}}"#));
    let expected =
        ["system: Be brief.", "user: Q1", "assistant: [c1 f {}]", "tool c1: one", "assistant: A1"];
    let imported = check(&log.join("\n"), &expected);
    assert_eq!((imported.report.conversations, imported.report.messages), (1, 4));
    check(&format!("[{}]", log.join(",")), &expected);
    // Without span ids, an answer ends a call.
    let bare: Vec<String> = log.iter().map(|line| line.replace("span_id", "x")).collect();
    check(&bare.join("\n"), &expected);
    // As OTLP writes them.
    let body = r#"{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"Q1"}}]}}"#;
    let record = format!(
        r#"{{"timeUnixNano":"1","body":{body},"attributes":[{{"key":"event.name",
        "value":{{"stringValue":"gen_ai.user.message"}}}}]}}"#
    );
    let export = format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{record}]}}]}}]}}"#);
    check(&export, &["user: Q1"]);
}

#[test]
fn messages_whose_fields_are_attributes_are_read() {
    let span = |attributes: &str| {
        format!(r#"{{"traceId":"t","startTimeUnixNano":"1","attributes":{{{attributes}}}}}"#)
    };
    let openllmetry = span(
        r#""gen_ai.system":"OpenAI","gen_ai.request.model":"gpt-4o","gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"Rain?","gen_ai.prompt.1.role":"assistant","gen_ai.prompt.1.tool_calls.0.id":"c1","gen_ai.prompt.1.tool_calls.0.name":"w","gen_ai.prompt.1.tool_calls.0.arguments":"{}","gen_ai.prompt.2.role":"tool","gen_ai.prompt.2.tool_call_id":"c1","gen_ai.prompt.2.content":"rain","gen_ai.completion.0.role":"assistant","gen_ai.completion.0.content":"Yes","gen_ai.usage.prompt_tokens":10"#,
    );
    let openinference = span(
        r#""openinference.span.kind":"LLM","llm.model_name":"gpt-4o","llm.input_messages.0.message.role":"user","llm.input_messages.0.message.contents.0.message_content.type":"text","llm.input_messages.0.message.contents.0.message_content.text":"Rain?","llm.input_messages.1.message.role":"assistant","llm.input_messages.1.message.tool_calls.0.tool_call.id":"c1","llm.input_messages.1.message.tool_calls.0.tool_call.function.name":"w","llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments":"{}","llm.input_messages.2.message.role":"tool","llm.input_messages.2.message.tool_call_id":"c1","llm.input_messages.2.message.content":"rain","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"Yes","llm.token_count.prompt":10"#,
    );
    let expected = ["user: Rain?", "assistant: [c1 w {}]", "tool c1: rain", "assistant: Yes"];
    for span in [openllmetry, openinference] {
        let imported = import(span.as_bytes(), Format::Auto, ImportOptions::default()).unwrap();
        assert_eq!(imported.report.format, Some(Format::OTel));
        assert_eq!(said(&imported), expected);
        let attempt = &imported.context.attempts()[0];
        assert_eq!((&*attempt.model, attempt.token_in), ("gpt-4o", Some(10)));
    }
}
