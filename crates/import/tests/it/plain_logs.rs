//! Tests flat messages, and ShareGPT conversations in every spelling.

use contextree_import::{Format, ImportOptions, Imported, import};
use contextree_json::Value;

use crate::said::said;
use crate::support::imported;

fn keep_going(text: &str, format: Format) -> Imported {
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    import(text.as_bytes(), format, options).unwrap()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(said(&imported(text.as_bytes(), Format::ShareGpt)), expected, "{text}");
}

#[test]
fn bad_flat_line_adds_nothing() {
    let good = r#"{"role":"user","content":"Q","id":"a"}
{"role":"assistant","content":"A"}"#;
    let bad = [
        r#"[{"role":"user","content":"x","id":"b"},{"role":"user","content":"y","id":"b"}]"#,
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y","id":"a"}]}"#,
        r#"{"role":"user","content":"x","id":"a"}"#,
        r#"{"role":"user","content":"x","":1}"#,
    ];
    let whole = keep_going(good, Format::Flat);
    for bad in bad {
        let imported = keep_going(&format!("{good}\n{bad}"), Format::Flat);
        assert_eq!(imported.report.errors.len(), 1, "{bad}");
        assert_eq!(imported.report.messages, 2, "{bad}");
        let digests = [&imported, &whole].map(|it| it.context.history_digest());
        assert_eq!(digests[0], digests[1], "{bad}");
    }
}

#[test]
fn non_string_id_is_not_an_id() {
    let log = r#"{"role":"user","content":"Q","id":null,"kind":null}
{"role":"assistant","content":"A","id":7}"#;
    let imported = imported(log.as_bytes(), Format::Flat);
    assert_eq!(said(&imported), ["user: Q", "assistant: A"]);
    let mut nodes = imported.context.working().nodes().map(|(_, node)| node);
    let answer = nodes.find(|node| node.content().as_text() == Some("A")).unwrap();
    assert_eq!(answer.attribute("data_id").and_then(Value::as_u64), Some(7));
}

#[test]
fn null_content_of_a_flat_message_is_absent() {
    let log = r#"{"role":"user","content":"Q"}
{"role":"assistant","content":null,"kind":"call","call_id":"c","name":"f"}
{"role":"tool","content":"one","kind":"result","call_id":"c"}"#;
    let imported = imported(log.as_bytes(), Format::Flat);
    assert_eq!(said(&imported), ["user: Q", "assistant: [c f {}]", "tool c: one"]);
}

#[test]
fn conversations_are_read_in_every_spelling() {
    let expected = ["user: Q", "assistant: A"];
    for text in [
        r#"{"conversations":[{"from":"human","value":"Q"},{"from":"gpt","value":"A"}]}"#,
        r#"{"conversation":[{"from":"human","value":"Q"},{"from":"gpt","value":"A"}]}"#,
        r#"{"messages":[{"from":"human","value":"Q"},{"from":"gpt","value":"A"}]}"#,
        r#"{"conversations":[{"role":"user","content":"Q"},{"role":"assistant","content":"A"}]}"#,
        r#"{"conversations":[{"role":"human","value":"Q"},{"role":"gpt","content":"A"}]}"#,
        r#"[{"from":"human","value":"Q"},{"from":"gpt","value":"A"}]"#,
    ] {
        check(text, &expected);
    }
}

#[test]
fn sharegpt_calls_are_read_from_every_speaker_name() {
    for (call, result) in
        [("function_call", "observation"), ("tool_call", "tool_response"), ("tool_call", "tool")]
    {
        let text = format!(
            r#"{{"conversations":[{{"from":"system","value":"S"}},{{"from":"human","value":"Q"}},
            {{"from":"{call}","value":"{{\"name\":\"f\",\"arguments\":{{}}}}"}},
            {{"from":"{result}","value":"one"}},{{"from":"gpt","value":"A"}}]}}"#
        );
        let expected = [
            "system: S",
            "user: Q",
            "assistant: [call_2_0 f {}]",
            "tool call_2_0: one",
            "assistant: A",
        ];
        check(&text, &expected);
    }
    let chat = r#"{"conversations":[{"role":"user","content":"Q","loss":true},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":"one"}]}"#;
    check(chat, &["user: Q", "assistant: [c f {}]", "tool c: one"]);
}

#[test]
fn null_value_is_absent_and_a_conversation_may_be_empty() {
    let text = r#"[{"conversations":[]},
        {"conversations":[{"from":"human","value":"Q"},{"from":"gpt","value":null}]}]"#;
    let imported = imported(text.as_bytes(), Format::ShareGpt);
    assert_eq!(imported.report.skipped["empty"], 1);
    assert_eq!(imported.report.conversations, 1);
    assert_eq!(said(&imported)[0], "user: Q");
    for empty in [r#"{"role":"assistant"}"#, r#"{"role":"assistant","content":[]}"#] {
        check(
            &format!(r#"{{"conversations":[{{"from":"human","value":"Q"}},{empty}]}}"#),
            &["user: Q", "assistant: "],
        );
    }
}

#[test]
fn bad_list_of_conversations_imports_nothing() {
    let good = r#"{"conversations":[{"from":"human","value":"Q"}]}"#;
    let bad =
        r#"[{"conversations":[{"from":"human","value":"X"}]},{"conversations":[{"from":"?"}]}]"#;
    let imported = keep_going(&format!("{good}\n{bad}"), Format::ShareGpt);
    assert_eq!(imported.report.errors.len(), 1);
    assert_eq!(said(&imported), ["user: Q"]);
    let odd = r#"{"conversations":[{"role":"user","content":{"a":1}}]}"#;
    let error = import(odd.as_bytes(), Format::ShareGpt, ImportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "expected a string or a list at `conversations[0].content`");
}
