//! Tests LangChain messages: every form of a message gives the same blocks, and provider-specific
//! fields stay with their provider.

use contextree_import::{Format, Imported};
use contextree_json::Value;
use contextree_provider::Provider;

use crate::said::{assert_sound, said};
use crate::support::{assert_same, imported, parse, rendered};

fn message(kind: &str, content: &str, more: &str) -> String {
    format!(r#"{{"type":"{kind}","data":{{"type":"{kind}","content":{content}{more}}}}}"#)
}

/// Imports a question followed by these messages, and checks that every provider accepts them.
fn log(messages: &[String]) -> Imported {
    let human = message("human", r#""Q""#, "");
    let list: Vec<&str> = std::iter::once(&*human).chain(messages.iter().map(|it| &**it)).collect();
    let imported = imported(format!("[{}]", list.join(",")).as_bytes(), Format::LangChain);
    assert_sound(&imported, &list.join("\n"));
    imported
}

/// Returns the entries of a rendered request after the question.
fn sent(imported: &Imported, provider: Provider) -> Vec<Value> {
    let request = rendered(imported, provider).value();
    let list = request.get(provider.messages_field()).and_then(Value::as_array).unwrap();
    list[1..].to_vec()
}

fn check(imported: &Imported, provider: Provider, expected: &str) {
    let sent = Value::Array(sent(imported, provider));
    assert_same(&sent, &parse(expected.as_bytes()), provider.name());
}

/// Returns the note on the first block with this text.
fn noted(imported: &Imported, text: &str) -> String {
    let mut nodes = imported.context.working().nodes().map(|(_, node)| node);
    let node = nodes.find(|node| node.content().as_text() == Some(text)).unwrap();
    let entry = node.attribute("log:entry").unwrap();
    String::from_utf8(entry.to_canonical()).unwrap()
}

const RESULT: &str = r#","tool_call_id":"c1""#;
const CALL: &str = r#","tool_calls":[{"name":"f","args":{"a":1},"id":"c1","type":"tool_call"}]"#;

#[test]
fn responses_items_are_imported_once_and_round_trip() {
    let content = r#"[
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"R","index":0}],
         "encrypted_content":"ENC","index":0},
        {"type":"text","text":"Look","annotations":[],"id":"msg_1","index":1},
        {"type":"text","text":"here.","annotations":[],"id":"msg_1","index":2},
        {"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\": 1}",
         "status":"completed","index":2}]"#;
    let answer = message("ai", content, CALL);
    let imported = log(&[answer, message("tool", r#""one""#, RESULT)]);
    assert_eq!(said(&imported)[1], r#"assistant: Look here. [c1 f {"a": 1}]"#);
    let expected = r#"[
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"R"}],
         "encrypted_content":"ENC"},
        {"type":"message","role":"assistant","id":"msg_1","status":"completed",
         "content":[{"type":"output_text","text":"Look","annotations":[]},
                    {"type":"output_text","text":"here.","annotations":[]}]},
        {"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\": 1}",
         "status":"completed"},
        {"type":"function_call_output","call_id":"c1","output":"one"}]"#;
    check(&imported, Provider::OpenAiResponses, expected);
}

#[test]
fn custom_call_is_imported_once() {
    let content = r#"[{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"}]"#;
    let calls = r#","tool_calls":[{"name":"f","args":{"__arg1":"x"},"id":"c1"}]"#;
    let imported = log(&[message("ai", content, calls), message("tool", r#""one""#, RESULT)]);
    let sent = sent(&imported, Provider::OpenAiResponses);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert_eq!(sent[0].get("type").unwrap().as_str(), Some("custom_tool_call"));
}

#[test]
fn standard_reasoning_keeps_its_signature_for_its_provider() {
    let content = r#"[{"type":"reasoning","reasoning":"Hm.","extras":{"signature":"SIG"},"index":0},
        {"type":"text","text":"Look."},{"type":"tool_call","id":"c1","name":"f","args":{"a":1}},
        {"type":"server_tool_call","id":"s1","name":"web_search","args":{}}]"#;
    let metadata = format!(r#"{CALL},"response_metadata":{{"model_provider":"anthropic"}}"#);
    let answer = message("ai", content, &metadata);
    let imported = log(&[answer, message("tool", r#""one""#, RESULT)]);
    let expected = r#"[{"role":"assistant","content":[
        {"type":"thinking","thinking":"Hm.","signature":"SIG"},{"type":"text","text":"Look."},
        {"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"}]}]"#;
    check(&imported, Provider::Anthropic, expected);
    let content = r#"[{"type":"reasoning","id":"rs_1","reasoning":"One.","index":0},
        {"type":"reasoning","id":"rs_1","reasoning":"Two.","extras":{"encrypted_content":"E"}},
        {"type":"text","text":"Look."}]"#;
    let openai = r#","response_metadata":{"model_provider":"openai"}"#;
    let expected = r#"[{"type":"reasoning","id":"rs_1","encrypted_content":"E","summary":[
        {"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}]},
        {"role":"assistant","content":"Look."}]"#;
    check(&log(&[message("ai", content, openai)]), Provider::OpenAiResponses, expected);
}

#[test]
fn other_fields_of_media_are_kept() {
    let content = r#"[{"type":"file","base64":"JVBERi0=","mime_type":"application/pdf",
        "extras":{"filename":"a.pdf","k":1}},
        {"type":"file","source_type":"base64","data":"JVBERi0=","mime_type":"application/pdf",
         "filename":"b.pdf"},
        {"type":"image","url":"https://x/a.png","id":"lc_1"},
        {"type":"image_url","image_url":"https://x/b.png"},
        {"type":"text-plain","text":"Plain.","mime_type":"text/plain","title":"T"},"Bare."]"#;
    let imported = log(&[message("human", content, "")]);
    let sent = sent(&imported, Provider::OpenAiResponses);
    let parts = sent[0].get("content").unwrap().as_array().unwrap();
    let text = |index: usize, name: &str| parts[index].get(name).unwrap().as_str().unwrap();
    assert_eq!((text(0, "filename"), text(1, "filename")), ("a.pdf", "b.pdf"));
    assert_eq!(
        (text(2, "image_url"), text(3, "image_url")),
        ("https://x/a.png", "https://x/b.png")
    );
    assert_eq!(parts.len(), 6);
    assert_eq!(noted(&imported, "JVBERi0="), r#"{"extras":{"k":1}}"#);
    assert_eq!(noted(&imported, "https://x/a.png"), r#"{"id":"lc_1"}"#);
}

#[test]
fn fields_of_texts_stay_with_their_provider() {
    let content = r#"[{"type":"thinking","thinking":"T","signature":"S","index":0},
        {"type":"text","text":"Look.","index":1,"citations":[{"type":"char_location"}]},
        {"type":"tool_use","id":"c1","name":"f","input":{},"index":2,"cache_control":{"type":"ephemeral"}}]"#;
    let imported = log(&[message("ai", content, CALL), message("tool", r#""one""#, RESULT)]);
    let expected = r#"[{"role":"assistant","content":[
        {"type":"thinking","thinking":"T","signature":"S"},
        {"type":"text","text":"Look.","citations":[{"type":"char_location"}]},
        {"type":"tool_use","id":"c1","name":"f","input":{"a":1},
         "cache_control":{"type":"ephemeral"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"}]}]"#;
    check(&imported, Provider::Anthropic, expected);
    assert_eq!(noted(&imported, "Look."), r#"{"index":1}"#);
}

#[test]
fn images_in_results_reach_providers_that_accept_them() {
    let lists = [
        r#"[{"type":"text","text":"Shot:"},{"type":"image","base64":"iVBORw0KGgo=","mime_type":"image/png"}]"#,
        r#"[{"type":"text","text":"Shot:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]"#,
        r#"[{"type":"text","text":"Shot:"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]"#,
    ];
    for list in lists {
        let imported = log(&[message("ai", r#""""#, CALL), message("tool", list, RESULT)]);
        let anthropic = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"Shot:"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}]"#;
        check(&imported, Provider::Anthropic, anthropic);
        let responses = sent(&imported, Provider::OpenAiResponses);
        let output = responses[1].get("output").and_then(Value::as_array).unwrap();
        let image = output[1].get("image_url").and_then(Value::as_str);
        assert_eq!(image, Some("data:image/png;base64,iVBORw0KGgo="), "{list}");
    }
}

#[test]
fn result_with_an_empty_list_is_empty() {
    let imported = log(&[message("ai", r#""""#, CALL), message("tool", "[]", RESULT)]);
    assert_eq!(said(&imported)[2], "tool c1: ");
}

#[test]
fn calls_recorded_only_once_are_not_lost() {
    let raw = |arguments: &str| {
        format!(
            r#","additional_kwargs":{{"tool_calls":[{{"id":"c1","type":"function",
            "function":{{"name":"f","arguments":"{arguments}"}}}}]}}"#
        )
    };
    let old = message("ai", r#""""#, &raw(r#"{\"a\":  1}"#));
    let imported = log(&[old, message("tool", r#""one""#, RESULT)]);
    assert_eq!(said(&imported)[1..], [r#"assistant: [c1 f {"a":  1}]"#, "tool c1: one"]);
    let invalid = format!(
        r#"{},"tool_calls":[],"invalid_tool_calls":[{{"type":"invalid_tool_call","id":"c1",
        "name":"f","args":"{{\"a","error":"bad"}}]"#,
        raw(r#"{\"a"#)
    );
    let imported = log(&[message("ai", r#""""#, &invalid), message("tool", r#""Error""#, RESULT)]);
    assert_eq!(said(&imported)[1..], [r#"assistant: [c1 f {"a]"#, "tool c1: Error"]);
    let oldest = r#","additional_kwargs":{"function_call":{"name":"f","arguments":"{}"}}"#;
    let result = message("function", r#""one""#, r#","name":"f""#);
    let imported = log(&[message("ai", r#""""#, oldest), result]);
    assert_eq!(said(&imported)[1..], ["assistant: [call_2_0 f {}]", "tool call_2_0: one"]);
}

#[test]
fn every_form_of_a_message_is_read() {
    let plain =
        r#"[{"type":"human","content":"Q","id":null},{"type":"ai","content":"A","tool_calls":[]}]"#;
    let lc = |class: &str, kwargs: &str| {
        format!(r#"{{"lc":1,"type":"constructor","id":["langchain","{class}"],"kwargs":{kwargs}}}"#)
    };
    let (human, ai) =
        (lc("HumanMessage", r#"{"content":"Q"}"#), lc("AIMessage", r#"{"content":"A"}"#));
    let prompt = lc("ChatPromptValue", &format!(r#"{{"messages":[{human},{ai}]}}"#));
    let state = format!(r#"{{"messages":[{human},{ai}],"step":1}}"#);
    let lines = format!("{human}\n{ai}\n{}", lc("RemoveMessage", r#"{"content":"","id":"1"}"#));
    for text in [plain, &prompt, &state, &lines] {
        let imported = imported(text.as_bytes(), Format::LangChain);
        assert_eq!(said(&imported), ["user: Q", "assistant: A"], "{text}");
    }
    assert_eq!(imported(lines.as_bytes(), Format::LangChain).report.skipped["remove"], 1);
    let list = log(&[message("ai", r#""A""#, ""), message("remove", r#""""#, r#","id":"1""#)]);
    assert_eq!(list.report.skipped["remove"], 1);
    assert_eq!(list.report.messages, 2);
}
