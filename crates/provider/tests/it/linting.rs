//! What providers refuse, and where.

use contextree_provider::{Provider, Severity, lint_value};

use crate::support::parse;

/// Checks the codes and places of what would be refused.
fn check(provider: Provider, request: &str, expected: &[(&str, &str)]) {
    let findings = lint_value(&parse(request.as_bytes()), provider);
    let found: Vec<(&str, &str)> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| (finding.code, &*finding.path))
        .collect();
    assert_eq!(found, expected, "{provider}: {request}");
}

fn chat(messages: &str, expected: &[(&str, &str)]) {
    check(Provider::OpenAiChat, &format!(r#"{{"messages":[{messages}]}}"#), expected);
}

fn anthropic(messages: &str, expected: &[(&str, &str)]) {
    check(Provider::Anthropic, &format!(r#"{{"messages":[{messages}]}}"#), expected);
}

fn gemini(contents: &str, expected: &[(&str, &str)]) {
    check(Provider::Gemini, &format!(r#"{{"contents":[{contents}]}}"#), expected);
}

fn responses(items: &str, expected: &[(&str, &str)]) {
    check(Provider::OpenAiResponses, &format!(r#"{{"input":[{items}]}}"#), expected);
}

#[test]
fn chat_completions() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
    let user = r#"{"role":"user","content":"x"}"#;
    chat(&format!("{user},{call},{result}"), &[]);
    chat(&format!("{user},{result}"), &[("orphan_result", "messages[1]")]);
    chat(&format!("{user},{call},{user}"), &[("missing_result", "messages[1].tool_calls[0]")]);
    chat(
        &format!("{user},{call},{user},{result}"),
        &[("missing_result", "messages[1].tool_calls[0]"), ("orphan_result", "messages[3]")],
    );
    chat(
        &format!("{call},{result},{call},{result}"),
        &[("duplicate_call_id", "messages[2].tool_calls[0]")],
    );
    chat(r#"{"role":"assistant","content":null}"#, &[("empty_content", "messages[0]")]);
    chat(r#"{"role":"user","content":[]}"#, &[("empty_content", "messages[0]")]);
    chat(r#"{"role":"human","content":"x"}"#, &[("unknown_role", "messages[0]")]);
    chat(
        r#"{"role":"system","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#,
        &[("content_type", "messages[0].content[0]")],
    );
    chat("", &[("no_messages", "")]);
}

#[test]
fn anthropic_messages() {
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let result =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
    let user = r#"{"role":"user","content":"x"}"#;
    anthropic(&format!("{user},{call},{result}"), &[]);
    anthropic(&format!("{call},{result}"), &[("first_role", "messages[0]")]);
    anthropic(&format!("{user},{call},{user}"), &[("missing_result", "messages[1].content[0]")]);
    anthropic(&format!("{user},{result}"), &[("orphan_result", "messages[1].content[0]")]);
    anthropic(
        &format!(
            r#"{user},{call},{{"role":"user","content":[{{"type":"text","text":"x"}},{{"type":"tool_result","tool_use_id":"a"}}]}}"#
        ),
        &[("result_order", "messages[2].content[1]")],
    );
    anthropic(r#"{"role":"user","content":" "}"#, &[("empty_content", "messages[0]")]);
    anthropic(
        r#"{"role":"user","content":[{"type":"text","text":""}]}"#,
        &[("empty_content", "messages[0].content[0]")],
    );
    anthropic(
        &format!(
            r#"{user},{{"role":"assistant","content":[{{"type":"thinking","thinking":"x"}},{{"type":"text","text":"y"}}]}}"#
        ),
        &[("thinking_signature", "messages[1].content[0]")],
    );
    anthropic(
        &format!(
            r#"{user},{{"role":"assistant","content":[{{"type":"thinking","thinking":"x","signature":"s"}}]}}"#
        ),
        &[("thinking_last", "messages[1].content[0]")],
    );
    anthropic(
        &format!(r#"{{"role":"system","content":"x"}},{user}"#),
        &[("system_place", "messages[0]")],
    );
    let bad_id = call.replace("\"a\"", "\"functions.f:0\"");
    let its_result = result.replace("\"a\"", "\"functions.f:0\"");
    anthropic(&format!("{user},{bad_id},{its_result}"), &[("call_id", "messages[1].content[0]")]);
}

#[test]
fn breakpoints_of_anthropic() {
    let block = r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}"#;
    let request = |blocks: usize, top: &str| {
        let blocks = vec![block; blocks].join(",");
        format!(
            r#"{{"system":[{block}],"messages":[{{"role":"user","content":[{blocks}]}}]{top}}}"#
        )
    };
    check(Provider::Anthropic, &request(3, ""), &[]);
    let expected = [("cache_breakpoints", "messages[0].content[3]")];
    check(Provider::Anthropic, &request(4, ""), &expected);
    let top = r#","cache_control":{"type":"ephemeral"}"#;
    let expected = [("cache_breakpoints", "messages[0].content[2]")];
    check(Provider::Anthropic, &request(3, top), &expected);
    let long = block.replace("\"ephemeral\"", "\"ephemeral\",\"ttl\":\"1h\"");
    let request = format!(r#"{{"messages":[{{"role":"user","content":[{block},{long}]}}]}}"#);
    check(Provider::Anthropic, &request, &[("cache_ttl_order", "messages[0].content[1]")]);
}

#[test]
fn gemini_contents() {
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]}"#;
    let result = r#"{"functionResponse":{"name":"f","response":{}}}"#;
    let user = r#"{"role":"user","parts":[{"text":"x"}]}"#;
    gemini(&format!(r#"{user},{call},{{"role":"user","parts":[{result},{result}]}}"#), &[]);
    gemini(
        &format!(r#"{user},{call},{{"role":"user","parts":[{result}]}}"#),
        &[("missing_result", "contents[1].parts[1]")],
    );
    gemini(
        &format!(r#"{user},{{"role":"user","parts":[{result}]}}"#),
        &[("orphan_result", "contents[1].parts[0]")],
    );
    gemini(r#"{"role":"model","parts":[{"text":"x"}]}"#, &[("first_role", "contents[0]")]);
    gemini(r#"{"role":"user","parts":[]}"#, &[("empty_content", "contents[0]")]);
    gemini(
        r#"{"role":"user","parts":[{"text":""}]}"#,
        &[("empty_content", "contents[0].parts[0]")],
    );
    gemini(r#"{"role":"system","parts":[{"text":"x"}]}"#, &[("unknown_role", "contents[0]")]);
    let said = r#"{"role":"model","parts":[{"text":"x"}]}"#;
    gemini(
        &format!(r#"{user},{said},{call},{{"role":"user","parts":[{result},{result}]}}"#),
        &[("alternation", "contents[2]")],
    );
}

#[test]
fn items_of_responses() {
    let call = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
    let result = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
    let user = r#"{"role":"user","content":"x"}"#;
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[]}"#;
    responses(&format!("{user},{reasoning},{call},{result}"), &[]);
    responses(&format!("{user},{call}"), &[("missing_result", "input[1]")]);
    responses(&format!("{user},{result}"), &[("orphan_result", "input[1]")]);
    responses(&format!("{reasoning},{user}"), &[("reasoning_alone", "input[0]")]);
    responses(r#"{"role":"user","content":[]}"#, &[("empty_content", "input[0]")]);
}
