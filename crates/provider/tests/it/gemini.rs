//! Tests Gemini requests: round trips in either spelling, conversion to other providers, and lint
//! rules.

use contextree_engine::{Context, Edit, NewNode, Place};
use contextree_import::{Cycles, Format, ImportOptions, import};
use contextree_provider::{Provider, RenderOptions, RequestRenderer, render};

use crate::support::{at, comes_back, crossed, findings, imported, losses, rendered};

const USER: &str = r#"{"role":"user","parts":[{"text":"a"}]}"#;
const CALL: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"f","id":"1","args":{}}}]}"#;

fn back(contents: &str) {
    comes_back(&format!(r#"{{"contents":{contents}}}"#), Format::Gemini);
}

/// A request as the Python SDK dumps it.
const SNAKE: &str = r#"{"contents":[
    {"role":"user","parts":[{"text":"a","function_call":null},{"inline_data":{"mime_type":"image/png","data":"-_8","display_name":null}},{"file_data":{"file_uri":"https://e.com/a.pdf","mime_type":"application/pdf"},"video_metadata":null}]},
    {"role":"model","parts":[{"text":null,"function_call":{"name":"f","args":{"x":1},"id":null,"will_continue":null},"thought_signature":"c2ln","thought":null}]},
    {"role":"user","parts":[{"function_response":{"name":"f","response":{"output":1},"id":null}}]},
    {"role":null,"parts":[{"text":"b"}]}],
  "system_instruction":{"parts":[{"text":"s","thought":null}],"role":null},
  "tools":[{"function_declarations":[{"name":"f","description":null,"parameters":{"type":"OBJECT","any_of":null},"parameters_json_schema":null}],"google_search":null},{"function_declarations":[{"name":"g","parameters_json_schema":{"type":"object"}}]}],
  "generation_config":{"max_output_tokens":3}}"#;

#[test]
fn snake_case_and_nulls_round_trip() {
    comes_back(SNAKE, Format::Gemini);
    back(r#"[{"role":"user","parts":[{"text":"a","functionCall":null}]}]"#);
    back(
        r#"[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","id":"1","args":null}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"1","response":null}}]}]"#,
    );
    back(r#"[{"role":"user","parts":[{"executable_code":{"code":"1"},"text":null},{}]}]"#);
}

#[test]
fn snake_case_is_converted_for_other_providers() {
    let rendered = crossed(SNAKE, Format::Gemini, Provider::Anthropic);
    assert_eq!(losses(&rendered), ["signature"], "{}", rendered.text());
    assert_eq!(at(&rendered, "system.0.text"), "\"s\"");
    assert_eq!(at(&rendered, "messages.1.content.0.input"), r#"{"x":1}"#);
    assert_eq!(at(&rendered, "messages.0.content.1.source.data"), "\"+/8=\"");
    assert_eq!(at(&rendered, "tools.0.input_schema"), r#"{"type":"object"}"#);
    for provider in Provider::ALL {
        let rendered = crossed(SNAKE, Format::Gemini, provider);
        let opaque = losses(&rendered).contains(&"opaque");
        assert!(!opaque && !losses(&rendered).contains(&"field"), "{provider}");
    }
}

#[test]
fn data_is_standard_base64_for_other_providers() {
    let request = r#"{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"-_8"}},{"text":"a"}]}]}"#;
    let chat = crossed(request, Format::Gemini, Provider::OpenAiChat);
    assert!(chat.text().contains("data:image/png;base64,+/8="), "{}", chat.text());
    comes_back(request, Format::Gemini);
}

#[test]
fn schemas_are_json_schema_for_other_providers() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","nullable":true,"properties":{"x":{"type":"STRING","nullable":true,"enum":["a"]},"y":{"type":"ARRAY","minItems":"1","items":{"anyOf":[{"type":"INTEGER"},{"type":"NUMBER"}],"nullable":true}},"type":{"type":"STRING"}}}}]}]}"#;
    comes_back(request, Format::Gemini);
    let expected = r#"{"properties":{"type":{"type":"string"},"x":{"enum":["a",null],"type":["string","null"]},"y":{"items":{"anyOf":[{"type":"integer"},{"type":"number"},{"type":"null"}]},"minItems":1,"type":"array"}},"type":"#;
    let chat = crossed(request, Format::Gemini, Provider::OpenAiChat);
    let expected_chat = format!("{expected}[\"object\",\"null\"]}}");
    assert_eq!(at(&chat, "tools.0.function.parameters"), expected_chat);
    let anthropic = crossed(request, Format::Gemini, Provider::Anthropic);
    assert_eq!(at(&anthropic, "tools.0.input_schema"), format!("{expected}\"object\"}}"));
    assert_eq!(losses(&anthropic), [""; 0]);
}

#[test]
fn edited_schema_replaces_the_imported_dialect() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}]}"#;
    // What was sent is sealed, so the request is imported as a turn in progress.
    let cycles = Cycles::Turn;
    let options = ImportOptions { commit_last: false, cycles, ..ImportOptions::default() };
    let mut context = import(request.as_bytes(), Format::Gemini, options).unwrap().context;
    let tree = context.working();
    let tool = tree.nodes().find(|(_, node)| node.kind() == Some("tool")).unwrap().1;
    let id = tool.id().to_owned();
    let changed = br#"{"name":"f","parameters":{"type":"object","required":["x"]}}"#;
    let content = contextree_json::parse(changed).unwrap().into();
    context.edit(&id, Edit { content: Some(content), ..Edit::default() }).unwrap();
    let rendered = render(context.working(), Provider::Gemini, &RenderOptions::default()).unwrap();
    let function = at(&rendered, "tools.0.functionDeclarations.0");
    assert!(function.contains(r#""parametersJsonSchema":{"required":["x"]"#), "{function}");
}

#[test]
fn functions_next_to_other_tools_are_functions() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}],"googleSearch":{},"codeExecution":{}},{"urlContext":{}},{"functionDeclarations":[]},{"functionDeclarations":[{"name":"h"}]}]}"#;
    comes_back(request, Format::Gemini);
    let rendered = crossed(request, Format::Gemini, Provider::Anthropic);
    assert_eq!(at(&rendered, "tools.1.name"), "\"g\"");
    assert_eq!(at(&rendered, "tools.2.name"), "\"h\"");
    assert_eq!(losses(&rendered), ["opaque"; 3]);
}

#[test]
fn contents_round_trip_in_every_form_that_the_sdk_accepts() {
    back("\"a\"");
    back(r#"["a","b"]"#);
    back(r#"[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"YQ=="}}]"#);
    back(USER);
    back(r#"{"parts":{"text":"a"}}"#);
    back(&format!(r#"[{USER},{{"role":"model"}},{USER}]"#));
    back(&format!(r#"[{USER},{{"role":"model","parts":null}},{USER}]"#));
    back(&format!(r#"[{USER},{{"role":"model","parts":[]}},{USER}]"#));
    for system in [
        r#"{"role":"user"}"#,
        r#"{"parts":[]}"#,
        r#"{"parts":{"text":"s"}}"#,
        r#"{"text":"s"}"#,
        "\"s\"",
        "null",
    ] {
        let request = format!(r#"{{"contents":[{USER}],"systemInstruction":{system}}}"#);
        comes_back(&request, Format::Gemini);
    }
    comes_back(&format!(r#"{{"contents":[{USER}],"tools":[]}}"#), Format::Gemini);
    let rendered = crossed(r#"{"contents":["a","b"]}"#, Format::Gemini, Provider::Anthropic);
    assert_eq!(at(&rendered, "messages.1.content.0.text"), "\"b\"");
}

#[test]
fn single_content_becomes_a_list_when_another_is_added() {
    let mut context = imported(br#"{"contents":"a"}"#, Format::Gemini).context;
    let mut renderer = RequestRenderer::new(Provider::Gemini, RenderOptions::default());
    let first = renderer.render(context.newest_tree().unwrap()).unwrap().value();
    assert_eq!(first.get("contents").unwrap().as_str(), Some("a"));
    for text in ["b", "c"] {
        let node = NewNode::text(text).role("assistant");
        context.add(Place::head(), node).unwrap();
        context.commit().unwrap();
        let tree = context.newest_tree().unwrap();
        let kept = renderer.render(tree).unwrap().clone();
        let full = render(tree.view(), Provider::Gemini, &RenderOptions::default()).unwrap();
        assert_eq!(kept, full);
        assert!(kept.value().get("contents").unwrap().as_array().is_some(), "{}", kept.text());
    }
}

#[test]
fn parts_keep_their_order_and_adjacent_contents_stay_separate() {
    let response =
        |id: &str| format!(r#"{{"functionResponse":{{"name":"f","id":"{id}","response":{{}}}}}}"#);
    let (one, two) = (response("1"), response("2"));
    back(&format!(r#"[{USER},{CALL},{{"parts":[{{"text":"see"}},{one}]}}]"#));
    let calls = r#"{"role":"model","parts":[{"functionCall":{"name":"f","id":"1","args":{}}},{"functionCall":{"name":"f","id":"2","args":{}}}]}"#;
    let user = |part: &str| format!(r#"{{"role":"user","parts":[{part}]}}"#);
    back(&format!("[{USER},{calls},{},{}]", user(&one), user(&two)));
    back(&format!(
        "[{USER},{calls},{},{}]",
        user(&two),
        user(&format!("{{\"text\":\"b\"}},{one}"))
    ));
    let said = r#"{"role":"model","parts":[{"text":"b"}]}"#;
    back(&format!("[{USER},{said},{said},{USER}]"));
}

#[test]
fn continued_response_is_not_an_orphan() {
    let response = |output: u8, more: &str| {
        format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"f","id":"1","response":{{"o":{output}}}{more}}}}}]}}"#
        )
    };
    let more = r#","willContinue":true"#;
    back(&format!("[{USER},{CALL},{},{}]", response(1, more), response(2, "")));
    back(&format!(
        "[{USER},{CALL},{},{},{}]",
        response(1, more),
        response(2, more),
        response(3, "")
    ));
}

#[test]
fn fields_survive_any_name_and_the_removal_of_other_parts() {
    back(r#"[{"role":"user","parts":[{"text":"a","inner":{"q":1}}]}]"#);
    back(&format!(
        r#"[{USER},{CALL},{{"role":"function","parts":[{{"text":"see"}},{{"functionResponse":{{"name":"f","id":"1","response":{{}},"scheduling":"SILENT"}},"inner":2}}],"more":1}}]"#
    ));
}

#[test]
fn empty_responses_and_errors_round_trip() {
    back(&format!(
        r#"[{USER},{CALL},{{"role":"user","parts":[{{"functionResponse":{{"name":"f","id":"1"}}}}]}}]"#
    ));
    let result = |content: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"1","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"1","is_error":true{content}}}]}}]}}"#
        )
    };
    for (content, expected) in [
        ("", r#"{"error":""}"#),
        (r#","content":"no""#, r#"{"error":"no"}"#),
        (r#","content":[{"type":"text","text":"no"}]"#, r#"{"error":"no"}"#),
    ] {
        let rendered = crossed(&result(content), Format::Anthropic, Provider::Gemini);
        let response = at(&rendered, "contents.2.parts.0.functionResponse.response");
        assert_eq!(response, expected, "{content}");
        assert_eq!(losses(&rendered), [""; 0]);
    }
    let object = contextree_json::parse(br#"{"code":7}"#).unwrap();
    let mut context = Context::new();
    let call = NewNode::text("{}").kind("call").attribute("data_call_id", "1");
    let failed = NewNode::json(object).kind("result");
    let failed = failed.attribute("data_call_id", "1").attribute("data_is_error", true);
    for node in [NewNode::text("a").role("user"), call, failed] {
        context.add(Place::head(), node).unwrap();
    }
    let rendered = render(context.working(), Provider::Gemini, &RenderOptions::default()).unwrap();
    let response = at(&rendered, "contents.2.parts.0.functionResponse.response");
    assert_eq!(response, r#"{"error":{"code":7}}"#);
}

#[test]
fn consecutive_messages_of_other_providers_become_one_content() {
    let request = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}]}"#;
    let rendered = crossed(request, Format::Anthropic, Provider::Gemini);
    let contents = rendered.value();
    let contents = contents.get("contents").unwrap().as_array().unwrap();
    assert_eq!(contents.len(), 3, "{}", rendered.text());
}

#[test]
fn call_after_a_dropped_message_gets_a_user_message() {
    let request = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"container_upload","file_id":"f"}]},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}]}"#;
    let rendered = crossed(request, Format::Anthropic, Provider::Gemini);
    assert_eq!(losses(&rendered), ["opaque", "first_user"]);
    assert_eq!(findings(rendered.text(), Provider::Gemini), [""; 0], "{}", rendered.text());
}

#[test]
fn model_response_as_a_line_is_read_as_its_content() {
    let lines = r#"{"role":"user","parts":[{"text":"a"}]}
{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":2}}
{"role":"user","parts":[{"text":"c"}]}
{"candidates":[{"finishReason":"SAFETY"}]}
{"role":"user","parts":[{"text":"d"}]}"#;
    let imported = imported(lines.as_bytes(), Format::Gemini);
    let rendered = rendered(&imported, Provider::Gemini);
    assert_eq!(at(&rendered, "contents.1"), r#"{"parts":[{"text":"b"}],"role":"model"}"#);
    assert_eq!(losses(&rendered), ["empty"]);
    let tree = imported.context.working();
    let node = tree.nodes().find(|(_, node)| node.content().as_text() == Some("b")).unwrap().1;
    assert!(node.attribute("log:entry").unwrap().get("usageMetadata").is_some());
}

/// Checks the findings for a request with these contents and further fields.
fn found(contents: &str, fields: &str, expected: &[&str]) {
    let comma = if fields.is_empty() { "" } else { "," };
    let request = format!(r#"{{"contents":[{contents}]{comma}{fields}}}"#);
    assert_eq!(findings(&request, Provider::Gemini), expected, "{request}");
}

#[test]
fn snake_case_requests_pass_the_linter() {
    assert_eq!(findings(SNAKE, Provider::Gemini), [""; 0]);
    for contents in ["\"a\"", USER, r#"["a"]"#, r#"[{"text":"a"}]"#, r#"{"parts":{"text":"a"}}"#] {
        let request = format!(r#"{{"contents":{contents}}}"#);
        assert_eq!(findings(&request, Provider::Gemini), [""; 0], "{contents}");
    }
    let orphan = r#"{"parts":[{"function_response":{"name":"f","response":{}}}]}"#;
    found(orphan, "", &["error orphan_result contents[0].parts[0]"]);
}

#[test]
fn invalid_parts_are_found() {
    let place = "contents[0].parts[0]";
    for (part, code) in [
        ("{}", "error empty_content"),
        (r#"{"thoughtSignature":"x"}"#, "error empty_content"),
        (r#"{"thought":true}"#, "error empty_content"),
        (r#"{"text":null}"#, "error empty_content"),
        (r#"{"other":{}}"#, "warning block_type"),
        (
            r#"{"text":"a","inlineData":{"mimeType":"image/png","data":"YQ=="}}"#,
            "error content_type",
        ),
        (r#"{"inlineData":{"data":"YQ=="}}"#, "error media"),
    ] {
        let expected = format!("{code} {place}");
        found(&format!(r#"{{"role":"user","parts":[{part}]}}"#), "", &[&expected]);
    }
}

#[test]
fn invalid_settings_are_found() {
    let declared =
        |declaration: &str| format!(r#""tools":[{{"functionDeclarations":[{declaration}]}}]"#);
    let place = "tools[0].functionDeclarations[0]";
    for declaration in [r#"{"name":"1a"}"#, r#"{"name":"-a"}"#, r#"{"description":"x"}"#] {
        found(USER, &declared(declaration), &[&format!("error tool_name {place}")]);
    }
    let both = r#"{"name":"a","parameters":{"type":"OBJECT"},"parametersJsonSchema":{}}"#;
    found(USER, &declared(both), &[&format!("error tool_schema {place}")]);
    found(USER, &declared(r#"{"name":"_a","parameters":{},"parametersJsonSchema":null}"#), &[]);
    let cached = r#""cachedContent":"cachedContents/x","systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"googleSearch":{}}]"#;
    found(USER, cached, &["error cached_content", "error cached_content"]);
    found(USER, r#""cachedContent":"cachedContents/x","tools":[]"#, &[]);
    found(USER, r#""systemInstruction":{"parts":[]}"#, &["error empty_content"]);
    found(
        USER,
        r#""system_instruction":{"parts":[{"text":""}]}"#,
        &["error empty_content systemInstruction.parts[0]"],
    );
    let choice = |mode: &str| {
        let tools = declared(r#"{"name":"a"}"#);
        format!(
            r#"{tools},"toolConfig":{{"functionCallingConfig":{{"mode":"{mode}","allowedFunctionNames":["a"]}}}}"#
        )
    };
    found(USER, &choice("AUTO"), &["error tool_choice"]);
    found(USER, &choice("ANY"), &[]);
}

#[test]
fn invalid_responses_are_found() {
    let response = |name: &str, more: &str| {
        format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"{name}","id":"1","response":{{}}{more}}}}}]}}"#
        )
    };
    let conversation = |response: &str| format!("{USER},{CALL},{response}");
    found(&conversation(&response("f", "")), "", &[]);
    found(&conversation(&response("g", "")), "", &["warning response_name contents[2].parts[0]"]);
    let more = r#","willContinue":true"#;
    let both = format!("{},{}", response("f", more), response("f", ""));
    found(&conversation(&both), "", &[]);
    let twice = format!("{},{}", response("f", ""), response("f", ""));
    found(&conversation(&twice), "", &["error orphan_result contents[3].parts[0]"]);
    let again = format!("{},{CALL},{}", conversation(&response("f", "")), response("f", ""));
    found(&again, "", &["warning duplicate_call_id contents[3].parts[0]"]);
    let late = format!("{USER},{CALL},{USER},{}", response("f", ""));
    let expected =
        ["error missing_result contents[1].parts[0]", "error orphan_result contents[3].parts[0]"];
    found(&late, "", &expected);
    let unsigned = "warning thought_signature contents[1].parts[0]";
    let model = r#""model":"models/gemini-3-pro""#;
    found(&conversation(&response("f", "")), model, &[unsigned]);
    let over = format!(
        r#"{},{{"role":"model","parts":[{{"text":"b"}}]}},{USER}"#,
        conversation(&response("f", ""))
    );
    found(&over, model, &[]);
    let said = CALL.replace("model", "user");
    let expected =
        ["error content_type contents[1].parts[0]", "error missing_result contents[1].parts[0]"];
    found(&format!("{USER},{said}"), "", &expected);
}
