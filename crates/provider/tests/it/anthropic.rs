//! Tests Anthropic requests: round trips, conversion to other providers, and lint rules.

use contextree_engine::{Context, NewNode, Place};
use contextree_import::Format;
use contextree_provider::{Provider, RenderOptions, Severity, lint, render};

use crate::support::{at, comes_back, crossed, findings, imported, losses, rendered};

const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"tool_use","id":"2","name":"f","input":{}}]}"#;

fn request(messages: &str) -> String {
    format!(r#"{{"model":"m","max_tokens":9,"messages":[{messages}]}}"#)
}

fn back(messages: &str) {
    comes_back(&request(messages), Format::Anthropic);
}

fn own(messages: &str) -> contextree_provider::Rendered {
    crossed(&request(messages), Format::Anthropic, Provider::Anthropic)
}

#[test]
fn mid_conversation_system_messages_round_trip() {
    back(
        r#"{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},{"role":"assistant","content":"d"},{"role":"user","content":"e"}"#,
    );
    back(
        r#"{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"b"},{"type":"tool_addition","tool":{"name":"f"}}],"clear_at":"never"}"#,
    );
    back(
        r#"{"role":"user","content":"a"},{"role":"system","content":"b"},{"role":"assistant","content":"c"}"#,
    );
}

#[test]
fn system_message_may_have_no_content() {
    back(r#"{"role":"user","content":"a"},{"role":"system","output_config":{"effort":"high"}}"#);
    back(
        r#"{"role":"user","content":"a"},{"role":"system","content":null,"clear_at":"never"},{"role":"assistant","content":"b"}"#,
    );
    let request = request(
        r#"{"role":"user","content":"a"},{"role":"system","output_config":{"effort":"high"}}"#,
    );
    let chat = crossed(&request, Format::Anthropic, Provider::OpenAiChat);
    assert_eq!(losses(&chat), ["opaque"], "{}", chat.text());
}

/// Checks that system text in a refused position becomes user text.
fn falls_back(messages: &str, expected: &[&str]) {
    let rendered = own(messages);
    assert_eq!(losses(&rendered), expected, "{}", rendered.text());
    let mut findings = lint(&rendered);
    findings.retain(|finding| finding.severity == Severity::Error);
    assert!(findings.is_empty(), "{findings:?}\n{}", rendered.text());
}

#[test]
fn misplaced_system_messages_become_user_text() {
    let user = r#"{"role":"user","content":"a"}"#;
    let system = r#"{"role":"system","content":"b"}"#;
    let said = r#"{"role":"assistant","content":"c"}"#;
    falls_back(&format!("{system},{user}"), &["system_inline"]);
    falls_back(&format!("{user},{said},{system},{user}"), &["system_inline"]);
    falls_back(&format!("{user},{system},{user}"), &["system_inline"]);
    falls_back(&format!("{user},{said},{system}"), &["system_inline"]);
    falls_back(&format!("{user},{system},{system},{said}"), &[]);
    let fields = r#"{"role":"system","content":"b","clear_at":"never"}"#;
    falls_back(&format!("{fields},{user}"), &["system_inline", "field"]);
    let change = r#"{"role":"system","output_config":{"effort":"low"}}"#;
    falls_back(&format!("{user},{change},{user}"), &["opaque"]);
    falls_back(&format!("{user},{CALL},{system},{said}"), &["missing_result", "missing_result"]);
}

#[test]
fn system_message_whose_neighbours_were_removed_becomes_user_text() {
    for removed in ["a", "c"] {
        let mut context = Context::new();
        for (role, text) in [("user", "a"), ("system", "b"), ("assistant", "c"), ("user", "d")] {
            let mut node = NewNode::text(text).role(role);
            if role == "system" {
                let own = node.attribute("data_role", "system");
                node = own.attribute("data_provider", "anthropic");
            }
            if text != removed {
                context.add(Place::head(), node).unwrap();
            }
        }
        let options = RenderOptions::default();
        let rendered = render(context.working(), Provider::Anthropic, &options).unwrap();
        assert_eq!(losses(&rendered), ["system_inline"], "{}", rendered.text());
        let errors = lint(&rendered).into_iter().filter(|it| it.severity == Severity::Error);
        assert_eq!(errors.count(), 0, "{}", rendered.text());
    }
}

#[test]
fn only_documents_have_a_title() {
    back(
        r#"{"role":"user","content":[{"type":"text","text":"a","title":"T"},{"type":"image","source":{"type":"url","url":"https://e.com/a.png"},"title":"T"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"T"}]}"#,
    );
    back(
        r#"{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{},"title":"T"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x","title":"T"}]}"#,
    );
}

#[test]
fn empty_lists_round_trip_and_yield_to_the_tree() {
    for field in [r#""tools":[]"#, r#""system":[]"#, r#""system":"""#, r#""tools":null"#] {
        let text =
            format!(r#"{{"model":"m",{field},"messages":[{{"role":"user","content":"a"}}]}}"#);
        comes_back(&text, Format::Anthropic);
    }
    let text = r#"{"model":"m","tools":[],"system":[],"messages":[{"role":"user","content":"a"}]}"#;
    let mut context = imported(text.as_bytes(), Format::Anthropic).context;
    let tool = contextree_json::parse(br#"{"name":"f"}"#).unwrap();
    for node in [NewNode::json(tool).kind("tool"), NewNode::text("s").role("system")] {
        context.add(Place::system(), node).unwrap();
    }
    let rendered = render(context.working(), Provider::Anthropic, &RenderOptions::default());
    let rendered = rendered.unwrap();
    assert_eq!(at(&rendered, "system"), "\"s\"");
    assert_eq!(rendered.text().matches("\"tools\"").count(), 1, "{}", rendered.text());
    assert_eq!(rendered.text().matches("\"system\"").count(), 1, "{}", rendered.text());
}

#[test]
fn results_in_two_messages_stay_in_two() {
    let result = |id: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}"#
        )
    };
    let user = r#"{"role":"user","content":"a"}"#;
    let messages = format!("{user},{CALL},{},{}", result("1"), result("2"));
    back(&messages);
    let gemini = crossed(&request(&messages), Format::Anthropic, Provider::Gemini);
    assert_eq!(at(&gemini, "contents.2.parts").matches("functionResponse").count(), 2);
}

#[test]
fn text_before_a_result_is_moved_and_reported() {
    let rendered = own(
        r#"{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"1","content":"x"}],"later":1}"#,
    );
    assert_eq!(losses(&rendered), ["order"]);
    assert!(at(&rendered, "messages.2.content.0").contains("tool_result"));
    assert_eq!(at(&rendered, "messages.2.later"), "1", "the fields of the message are kept");
}

#[test]
fn model_response_as_a_line_keeps_its_metadata_as_a_log_entry() {
    let lines = r#"{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}
{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1},"container":null}"#;
    let imported = imported(lines.as_bytes(), Format::Anthropic);
    let rendered = rendered(&imported, Provider::Anthropic);
    let said = at(&rendered, "messages.1");
    assert_eq!(said, r#"{"content":[{"text":"hi","type":"text"}],"role":"assistant"}"#);
    let tree = imported.context.working();
    let node = tree.nodes().find(|(_, node)| node.content().as_text() == Some("hi")).unwrap().1;
    let entry = node.attribute("log:entry").unwrap();
    assert!(entry.get("usage").is_some() && entry.get("stop_sequence").is_some());
}

fn tool_of(request: &str, format: Format) -> String {
    at(&crossed(request, format, Provider::Anthropic), "tools.0.input_schema")
}

#[test]
fn tool_schema_gets_the_type_object() {
    for parameters in ["", r#","parameters":null"#, r#","parameters":{}"#] {
        let chat = format!(
            r#"{{"messages":[{{"role":"user","content":"a"}}],"tools":[{{"type":"function","function":{{"name":"f"{parameters}}}}}]}}"#
        );
        assert_eq!(tool_of(&chat, Format::OpenAiChat), r#"{"type":"object"}"#);
    }
    let described = r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","description":null}}]}"#;
    let rendered = crossed(described, Format::OpenAiChat, Provider::Anthropic);
    assert!(!rendered.text().contains("null"), "{}", rendered.text());
    comes_back(
        r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","description":null,"input_schema":{"type":"object"}}]}"#,
        Format::Anthropic,
    );
}

#[test]
fn refused_media_is_reported() {
    let text = |encoding: &str, mime: &str, content: &str| {
        let node = NewNode::text(content).kind("document").role("user");
        let node = if mime.is_empty() { node } else { node.mime(mime) };
        if encoding.is_empty() { node } else { node.encoding(encoding) }
    };
    for (node, expected) in [
        (text("uri", "", "gs://bucket/a.pdf"), &["media"][..]),
        (text("uri", "video/mp4", "https://e.com/a.mp4"), &["media"]),
        (text("uri", "", "https://youtu.be/a"), &["media"]),
        (text("uri", "", "https://generativelanguage.googleapis.com/v1beta/files/x"), &["media"]),
        (text("uri", "application/pdf", "https://e.com/a.pdf"), &[]),
        (text("uri", "", "https://e.com/a.pdf"), &[]),
        (text("", "text/markdown", "# A"), &["field"]),
        (text("", "text/plain", "A"), &[]),
        (text("base64", "image/png", "YQ==").kind("image").role("assistant"), &["media"]),
    ] {
        let mut context = Context::new();
        let user = NewNode::text("a").role("user");
        let said = NewNode::text("b").role("assistant");
        for node in [user, node, said] {
            context.add(Place::head(), node).unwrap();
        }
        let options = RenderOptions::default();
        let rendered = render(context.working(), Provider::Anthropic, &options).unwrap();
        assert_eq!(losses(&rendered), expected, "{}", rendered.text());
    }
}

#[test]
fn server_side_calls_form_a_unit_with_their_results() {
    let messages = r#"{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}"#;
    back(messages);
    let imported = imported(request(messages).as_bytes(), Format::Anthropic);
    let tree = imported.context.working();
    let units = tree.nodes().filter_map(|(_, node)| node.attribute("data_call_id")?.as_str());
    assert_eq!(
        units.collect::<Vec<_>>(),
        ["s"; 5],
        "the call, its result, and what was said and called beside"
    );
}

#[test]
fn refused_blocks_round_trip_to_their_own_provider() {
    back(
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"-_"}},{"type":"image","source":{"type":"url","url":"gs://a","media_type":"image/png"}},{"type":"document","source":{"type":"text","media_type":"text/html","data":"d"}}]}"#,
    );
    back(
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"result","x":1}]},{"role":"assistant","content":[{"type":"call","x":1},{"type":"tool_use","name":"f"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}"#,
    );
    assert_eq!(losses(&own(r#"{"role":"foo","content":"a"}"#)), ["role"]);
}

const F: &str = r#"{"name":"f","input_schema":{"type":"object"}}"#;

/// Checks the findings for a request with these messages and further fields.
fn found(messages: &str, fields: &str, expected: &[&str]) {
    let comma = if fields.is_empty() { "" } else { "," };
    let request = match fields.contains("\"max_tokens\"") {
        true => format!(r#"{{"model":"m","messages":[{messages}]{comma}{fields}}}"#),
        false => {
            format!(r#"{{"model":"m","max_tokens":4096,"messages":[{messages}]{comma}{fields}}}"#)
        }
    };
    assert_eq!(findings(&request, Provider::Anthropic), expected, "{request}");
}

fn user(blocks: &str) -> String {
    format!(r#"{{"role":"user","content":[{blocks}]}}"#)
}

fn said(blocks: &str) -> String {
    format!(r#"{{"role":"assistant","content":[{blocks}]}}"#)
}

const ASK: &str = r#"{"role":"user","content":"a"}"#;

#[test]
fn invalid_breakpoints_are_found() {
    let cached = r#""cache_control":{"type":"ephemeral"}"#;
    let hour = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
    let text = |control: &str| format!(r#"{{"type":"text","text":"x",{control}}}"#);
    let end = r#"{"type":"text","text":"b"}"#;
    for block in [
        format!(r#"{{"type":"thinking","thinking":"t","signature":"s",{cached}}}"#),
        format!(r#"{{"type":"redacted_thinking","data":"s",{cached}}}"#),
    ] {
        let messages = format!("{ASK},{},{ASK}", said(&format!("{block},{end}")));
        found(&messages, "", &["error cache_control messages[1].content[0]"]);
    }
    let empty = user(&format!(r#"{{"type":"text","text":"",{cached}}}"#));
    let place = "messages[0].content[0]";
    let expected = [format!("error empty_content {place}"), format!("error cache_control {place}")];
    found(&empty, "", &expected.each_ref().map(String::as_str));
    for control in [r#"{"type":"ephemeral","ttl":"2h"}"#, r#"{"type":"forever"}"#] {
        let block = text(&format!(r#""cache_control":{control}"#));
        found(&user(&block), "", &["error cache_control messages[0].content[0]"]);
        let top = format!(r#""cache_control":{control}"#);
        found(ASK, &top, &["error cache_control"]);
    }
    found(&user(&text(cached)), hour, &["error cache_ttl_order"]);
    found(&user(&text(hour)), cached, &[]);
    let nested = vec![text(cached); 5].join(",");
    let document =
        format!(r#"{{"type":"document","source":{{"type":"content","content":[{nested}]}}}}"#);
    found(&user(&document), "", &["error cache_breakpoints messages[0].content[0]"]);
    let (call, tools) = (
        said(r#"{"type":"tool_use","id":"1","name":"f","input":{}}"#),
        format!(r#""tools":[{F}]"#),
    );
    let result = |inner: &str, outer: &str| {
        user(&format!(
            r#"{{"type":"tool_result","tool_use_id":"1","content":[{}],{outer}}}"#,
            text(inner)
        ))
    };
    found(&format!("{ASK},{call},{}", result(hour, cached)), &tools, &[]);
    let expected = ["error cache_ttl_order messages[2].content[0]"];
    found(&format!("{ASK},{call},{}", result(cached, hour)), &tools, &expected);
}

#[test]
fn invalid_settings_are_found() {
    let thinking = |budget: &str| format!(r#""thinking":{{"type":"enabled"{budget}}}"#);
    found(ASK, &thinking(r#","budget_tokens":1024"#), &[]);
    found(ASK, &thinking(""), &["error thinking_budget"]);
    found(ASK, &thinking(r#","budget_tokens":100"#), &["error thinking_budget"]);
    found(ASK, &thinking(r#","budget_tokens":4096"#), &["error thinking_budget"]);
    let tools = format!(r#""tools":[{F}]"#);
    let long = format!("{},{tools}", thinking(r#","budget_tokens":5000"#));
    found(ASK, &long, &["warning thinking_budget"]);
    for setting in [r#""temperature":0.5"#, r#""top_k":5"#] {
        let enabled = format!("{},{setting}", thinking(r#","budget_tokens":1024"#));
        found(ASK, &enabled, &["error thinking_settings"]);
        let adaptive = format!(r#""thinking":{{"type":"adaptive"}},{setting}"#);
        found(ASK, &adaptive, &["warning thinking_settings"]);
        found(ASK, setting, &[]);
    }
    let forced = format!(
        r#"{},{tools},"tool_choice":{{"type":"any"}}"#,
        thinking(r#","budget_tokens":1024"#)
    );
    found(ASK, &forced, &["error thinking_settings"]);
    found(ASK, r#""tool_choice":{"type":"auto"}"#, &["error tool_choice"]);
    let named = |name: &str| format!(r#"{tools},"tool_choice":{{"type":"tool","name":"{name}"}}"#);
    found(ASK, &named("f"), &[]);
    found(ASK, &named("g"), &["error tool_choice"]);
    found(ASK, r#""max_tokens":0"#, &[]);
    found(ASK, r#""max_tokens":-1"#, &["error setting"]);
    found(ASK, r#""max_tokens":"10""#, &["error setting"]);
    found(ASK, r#""temperature":2"#, &["error setting"]);
    found(ASK, r#""temperature":1"#, &[]);
    found(ASK, r#""stop_sequences":[" "]"#, &["error setting"]);
}

#[test]
fn invalid_tools_are_found() {
    let tools = |tools: &str| format!(r#""tools":[{tools}]"#);
    for schema in [
        "",
        r#","input_schema":null"#,
        r#","input_schema":{}"#,
        r#","input_schema":{"type":"OBJECT"}"#,
        r#","input_schema":{"type":"object","oneOf":[]}"#,
    ] {
        let tool = format!(r#"{{"name":"f"{schema}}}"#);
        found(ASK, &tools(&tool), &["error tool_schema tools[0]"]);
    }
    found(ASK, &tools(r#"{"type":"bash_20250124","name":"bash"}"#), &[]);
    let later = r#"{"name":"g","input_schema":{"type":"object"},"defer_loading":true}"#;
    found(ASK, &tools(&format!("{F},{later}")), &[]);
    found(ASK, &tools(later), &["error defer_loading"]);
    let cached = later.replace('}', r#","cache_control":{"type":"ephemeral"}}"#);
    let cached = cached.replacen(r#","cache_control":{"type":"ephemeral"}}"#, "}", 1);
    found(ASK, &tools(&format!("{F},{cached}")), &["error defer_loading tools[1]"]);
    let result = user(r#"{"type":"tool_result","tool_use_id":"1"}"#);
    let call = |id: &str, name: &str| {
        said(&format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#))
    };
    let called = |call: String| format!("{ASK},{call},{result}");
    found(&called(call("1", "f")), "", &["warning tools_missing"]);
    found(&called(call("1", "a b")), &tools(F), &["error tool_name messages[1].content[0]"]);
    let id = "t".repeat(65);
    let long =
        called(call(&id, "f")).replace(r#""tool_use_id":"1""#, &format!(r#""tool_use_id":"{id}""#));
    found(&long, &tools(F), &["warning call_id messages[1].content[0]"]);
}

#[test]
fn invalid_blocks_are_found() {
    let here = |code: &str| [format!("{code} messages[0].content[0]")];
    let image = |source: &str| format!(r#"{{"type":"image","source":{{{source}}}}}"#);
    for (block, code) in [
        (r#"{"text":"x"}"#.to_owned(), "error block_type"),
        (r#"{"type":"input_text","text":"x"}"#.to_owned(), "warning block_type"),
        (
            r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#.to_owned(),
            "error content_type",
        ),
        (image(r#""type":"base64","media_type":"image/bmp","data":"YQ==""#), "error media"),
        (image(r#""type":"base64","media_type":"image/png","data":"""#), "error media"),
        (image(r#""type":"url","url":"gs://a""#), "error media"),
    ] {
        found(&user(&block), "", &here(code).each_ref().map(String::as_str));
    }
    let end = r#"{"type":"text","text":"b"}"#;
    for block in [
        image(r#""type":"base64","media_type":"image/png","data":"YQ==""#),
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}"#.into(),
        r#"{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}]}"#
            .into(),
    ] {
        let messages = format!("{ASK},{},{ASK}", said(&format!("{block},{end}")));
        found(&messages, "", &["error content_type messages[1].content[0]"]);
    }
    let tools = format!(r#""tools":[{F}]"#);
    let call = said(r#"{"type":"tool_use","id":"1","name":"f","input":{}}"#);
    for (content, expected) in [
        (r#"[{"type":"text","text":""}]"#, &["error empty_content messages[2].content[0]"][..]),
        (
            r#"[{"type":"tool_use","id":"2","name":"f","input":{}}]"#,
            &["error content_type messages[2].content[0]"],
        ),
        ("\"\"", &[]),
    ] {
        let result =
            user(&format!(r#"{{"type":"tool_result","tool_use_id":"1","content":{content}}}"#));
        found(&format!("{ASK},{call},{result}"), &tools, expected);
    }
    for (system, expected) in [
        (r#"[{"type":"text","text":""}]"#, &["error empty_content system[0]"][..]),
        (r#"[{"type":"text","text":" "}]"#, &["warning empty_content system[0]"]),
        (r#"[{"type":"image","source":{}}]"#, &["error content_type system[0]"]),
        ("\"\"", &[]),
    ] {
        found(ASK, &format!(r#""system":{system}"#), expected);
    }
}

#[test]
fn invalid_prefilled_answers_are_found() {
    let trailing = "warning trailing_assistant messages[1]";
    let begun = |text: &str| format!(r#"{ASK},{{"role":"assistant","content":{text}}}"#);
    found(&begun("\"b\""), "", &[trailing]);
    let space = "error trailing_whitespace messages[1]";
    found(&begun("\"b \""), "", &[trailing, space]);
    found(&begun(r#"[{"type":"text","text":"b\n"}]"#), "", &[trailing, space]);
    let thinking = r#""thinking":{"type":"enabled","budget_tokens":1024}"#;
    found(&begun("\"b\""), thinking, &[trailing, "error thinking_prefill messages[1]"]);
}

#[test]
fn server_side_calls_without_results_are_found() {
    let call = r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}}"#;
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#;
    let end = r#"{"type":"text","text":"b"}"#;
    let messages = |blocks: &str| format!("{ASK},{},{ASK}", said(blocks));
    found(&messages(&format!("{call},{result},{end}")), "", &[]);
    found(
        &messages(&format!("{call},{end}")),
        "",
        &["error missing_result messages[1].content[0]"],
    );
    let other = call.replace("web_search", "code_execution");
    let expected = ["warning missing_result messages[1].content[0]"];
    found(&messages(&format!("{other},{end}")), "", &expected);
    found(
        &messages(&format!("{result},{end}")),
        "",
        &["error orphan_result messages[1].content[0]"],
    );
    let interrupted = format!("{ASK},{}", said(call));
    found(&interrupted, "", &["warning trailing_assistant messages[1]"]);
    let split = format!("{ASK},{},{}", said(call), said(&format!("{result},{end}")));
    found(&format!("{split},{ASK}"), "", &[]);
    let beside = r#"{"type":"tool_use","id":"1","name":"f","input":{}}"#;
    let answered = user(r#"{"type":"tool_result","tool_use_id":"1"}"#);
    let tools = format!(r#""tools":[{F}]"#);
    found(&format!("{ASK},{},{answered}", said(&format!("{call},{beside}"))), &tools, &[]);
}

#[test]
fn consecutive_user_messages_count_as_one() {
    let tools = format!(r#""tools":[{F}]"#);
    let result = |id: &str| user(&format!(r#"{{"type":"tool_result","tool_use_id":"{id}"}}"#));
    found(&format!("{ASK},{CALL},{},{}", result("1"), result("2")), &tools, &[]);
    found(
        &format!("{ASK},{CALL},{},{ASK},{}", result("1"), result("2")),
        &tools,
        &["error result_order messages[4].content[0]"],
    );
    let change = r#"{"role":"system","output_config":{"effort":"low"}}"#;
    found(&format!("{ASK},{change}"), "", &["warning system_inline messages[1]"]);
    let expected = ["error empty_content messages[1]", "warning system_inline messages[1]"];
    found(&format!(r#"{ASK},{{"role":"system"}}"#), "", &expected);
}
