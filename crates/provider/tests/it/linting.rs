//! Tests lint findings and their paths.

use contextree_provider::{Provider, Severity, lint_value};

use crate::support::parse;

/// Checks the codes and paths of the findings.
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
    chat(&format!("{call},{result},{call},{result}"), &[]);
    let twice = call.replace(
        "[{",
        "[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}},{",
    );
    chat(
        &format!("{twice},{result},{result}"),
        &[("duplicate_call_id", "messages[0].tool_calls[1]")],
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
fn calls_of_chat_completions() {
    let said = |call: &str, expected: &str| {
        let result = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
        let messages = format!(r#"{{"role":"assistant","tool_calls":[{call}]}},{result}"#);
        chat(&messages, &[(expected, "messages[0].tool_calls[0]")]);
    };
    said(r#"{"id":"a","type":"function","function":{"name":"f"}}"#, "arguments");
    said(r#"{"id":"a","type":"function","function":{"name":"f","arguments":{}}}"#, "arguments");
    said(r#"{"id":"a","type":"function","function":{"arguments":"{}"}}"#, "tool_name");
    said(r#"{"id":"a","type":"function","function":{"name":"a b","arguments":"{}"}}"#, "tool_name");
    said(r#"{"id":"a","function":{"name":"f","arguments":"{}"}}"#, "call_type");
    said(r#"{"id":"a","type":"function","custom":{"name":"f","input":""}}"#, "call_type");
    let long = "i".repeat(41);
    let call = format!(r#"{{"id":"{long}","type":"custom","custom":{{"name":"f","input":""}}}}"#);
    let result = format!(r#"{{"role":"tool","tool_call_id":"{long}","content":"x"}}"#);
    chat(
        &format!(r#"{{"role":"assistant","tool_calls":[{call}]}},{result}"#),
        &[("call_id", "messages[0].tool_calls[0]")],
    );
    chat(r#"{"role":"assistant","content":"x","tool_calls":[]}"#, &[("empty_list", "messages[0]")]);
}

#[test]
fn parts_have_their_data() {
    let part = |part: &str| {
        let expected = [("part_data", "messages[0].content[0]")];
        chat(&format!(r#"{{"role":"user","content":[{part}]}}"#), &expected);
    };
    part(r#"{"type":"text"}"#);
    part(r#"{"type":"image_url"}"#);
    part(r#"{"type":"image_url","image_url":{"url":"u","detail":"huge"}}"#);
    part(r#"{"type":"input_audio","input_audio":{"data":"A","format":"ogg"}}"#);
    part(r#"{"type":"file","file":{}}"#);
    let item = |part: &str| {
        let expected = [("part_data", "input[0].content[0]")];
        responses(&format!(r#"{{"role":"user","content":[{part}]}}"#), &expected);
    };
    item(r#"{"type":"input_text"}"#);
    item(r#"{"type":"input_image","detail":"low"}"#);
    item(r#"{"type":"input_file"}"#);
    for (code, content) in [("content_type", "5"), ("content_type", "{}")] {
        chat(&format!(r#"{{"role":"user","content":{content}}}"#), &[(code, "messages[0]")]);
        chat(&format!(r#"{{"role":"assistant","content":{content}}}"#), &[(code, "messages[0]")]);
    }
    chat(r#"{"role":"user","content":"x","name":"a b"}"#, &[("message_name", "messages[0]")]);
    chat(r#"{"role":"user","content":"x","name":"J\u00f6rg"}"#, &[]);
}

#[test]
fn tools_of_openai() {
    let user = r#"{"role":"user","content":"x"}"#;
    let function = |name: &str| format!(r#"{{"type":"function","function":{{"name":"{name}"}}}}"#);
    let chat = |tools: &str, more: &str, expected: &[(&str, &str)]| {
        let request = format!(r#"{{"messages":[{user}],"tools":[{tools}]{more}}}"#);
        check(Provider::OpenAiChat, &request, expected);
    };
    let responses = |tools: &str, more: &str, expected: &[(&str, &str)]| {
        let request = format!(r#"{{"input":[{user}],"tools":[{tools}]{more}}}"#);
        check(Provider::OpenAiResponses, &request, expected);
    };
    let many: Vec<String> = (0..129).map(|index| function(&format!("f{index}"))).collect();
    chat(&many.join(","), "", &[("tool_count", "tools[128]")]);
    chat("", "", &[("empty_list", "")]);
    responses("", "", &[]);
    let custom = r#"{"type":"custom","custom":{"name":"f"}}"#;
    chat(&format!("{},{custom}", function("f")), "", &[("duplicate_tool", "tools[1]")]);
    chat(&custom.replace("\"f\"", "\"a b\""), "", &[("tool_name", "tools[0]")]);
    chat(&function(&"x".repeat(65)), "", &[("tool_name", "tools[0]")]);
    chat(r#"{"type":"function"}"#, "", &[("tool_definition", "tools[0]")]);
    responses(&function("f"), "", &[("tool_definition", "tools[0]")]);
    let long = format!(r#"{{"type":"function","name":"{}"}}"#, "x".repeat(128));
    responses(&long, "", &[]);
    let choice = r#","tool_choice":{"type":"function","function":{"name":"g"}}"#;
    chat(&function("f"), choice, &[("tool_choice", "")]);
    chat(&function("g"), choice, &[]);
    let choice = r#","tool_choice":{"type":"function","name":"g"}"#;
    responses(r#"{"type":"function","name":"f"}"#, choice, &[("tool_choice", "")]);
    responses(r#"{"type":"function","name":"g"}"#, choice, &[]);
}

#[test]
fn too_many_breakpoints_are_a_warning() {
    let part = r#"{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}"#;
    let parts = [part; 5].join(",");
    let request = format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{parts}]}}]}}"#);
    let findings = lint_value(&parse(request.as_bytes()), Provider::OpenAiChat);
    let found: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(found, ["cache_breakpoints"]);
    assert_eq!(findings[0].severity, Severity::Warning);
    assert_eq!(findings[0].path, "messages[0].content[4]");
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
    responses(&format!("{user},{call},{result},{call},{result}"), &[]);
    let custom = r#"{"type":"custom_tool_call","call_id":"a","name":"f","input":""}"#;
    responses(&format!("{custom},{result}"), &[("output_type", "input[1]")]);
    let long = "c".repeat(65);
    let long = format!("{call},{result}").replace("\"a\"", &format!("\"{long}\""));
    responses(&long, &[("call_id", "input[0]")]);
    responses(
        &format!("{},{result}", call.replace("\"f\"", "\"b c\"")),
        &[("tool_name", "input[0]")],
    );
    responses(
        &format!("{reasoning},{call},{result},{reasoning},{call},{result}"),
        &[("duplicate_item_id", "input[3]")],
    );
    responses(&format!(r#"{{"type":"compaction_trigger"}},{user}"#), &[("item_place", "input[0]")]);
    responses(
        r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#,
        &[("content_type", "input[0].content[0]")],
    );
    responses(
        r#"{"role":"user","content":[{"type":"output_text","text":"x"}]}"#,
        &[("content_type", "input[0].content[0]")],
    );
}

#[test]
fn provider_specific_calls_need_results_too() {
    for kind in ["computer_call", "shell_call", "apply_patch_call"] {
        let call = format!(r#"{{"type":"{kind}","call_id":"s"}}"#);
        let output = format!(r#"{{"type":"{kind}_output","call_id":"s","output":"x"}}"#);
        responses(&format!("{call},{output}"), &[]);
        responses(&call, &[("missing_result", "input[0]")]);
        responses(&output, &[("orphan_result", "input[0]")]);
    }
    let asked = r#"{"type":"mcp_approval_request","id":"m"}"#;
    let approved = r#"{"type":"mcp_approval_response","approval_request_id":"m","approve":true}"#;
    responses(&format!("{asked},{approved}"), &[]);
    responses(approved, &[("orphan_result", "input[0]")]);
}

#[test]
fn server_side_state_is_not_reported_as_missing() {
    let thread = r#"{"type":"continue","previous_message_id":"msg_1"}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}"#;
    let request =
        format!(r#"{{"model":"m","max_tokens":9,"messages":[{result}],"thread":{thread}}}"#);
    check(Provider::Anthropic, &request, &[]);
    let result = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
    let call = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}","async":true}"#;
    let check = |request: &str, expected: &[(&str, &str)]| {
        check(Provider::OpenAiResponses, request, expected);
    };
    check(&format!(r#"{{"input":[{result}],"previous_response_id":"r"}}"#), &[]);
    check(&format!(r#"{{"input":[{result}],"conversation":"c"}}"#), &[]);
    check(&format!(r#"{{"input":[{{"id":"fc_1"}},{result}]}}"#), &[]);
    check(&format!(r#"{{"input":[{call}]}}"#), &[]);
    check(r#"{"input":"hi"}"#, &[]);
    check(r#"{"prompt":{"id":"p"}}"#, &[]);
    check(r#"{"previous_response_id":"r"}"#, &[]);
    check(r#"{"model":"m"}"#, &[("no_messages", "")]);
    let both = r#"{"input":"x","previous_response_id":"r","conversation":"c"}"#;
    check(both, &[("settings_conflict", "")]);
}
