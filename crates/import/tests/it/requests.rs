//! Tests logs of requests: every line has the whole conversation, and the tree equals the newest
//! line.

use std::collections::BTreeMap;

use contextree_import::Format;
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions, RequestRenderer, lint, render};

use crate::support::{assert_same, imported, parse, rendered};

/// Imports every prefix of a log and checks that it renders as its last line.
fn check(format: Format, lines: &[&str]) {
    for count in 1..=lines.len() {
        let text = lines[..count].join("\n");
        for chosen in [format, Format::Auto] {
            let imported = imported(text.as_bytes(), chosen);
            assert_eq!(imported.report.format, Some(format), "line {count}");
            let rendered = rendered(&imported, format.provider());
            let what = format!("{format}, line {count}");
            assert_same(&rendered.value(), &parse(lines[count - 1].as_bytes()), &what);
            assert_eq!(rendered.losses, [], "{what}");
        }
    }
}

/// Returns the number of messages and of conversations that a log adds.
fn counts(format: Format, lines: &[&str]) -> (u64, u64) {
    let report = imported(lines.join("\n").as_bytes(), format).report;
    (report.messages, report.conversations)
}

const MARK: &str = r#""cache_control":{"type":"ephemeral"}"#;

/// Returns three Anthropic requests with a breakpoint on the latest user message; `unmarked` writes
/// the earlier ones.
fn sliding(unmarked: impl Fn(&str) -> String) -> [String; 3] {
    let marked = |text: &str| {
        format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}",{MARK}}}]}}"#)
    };
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}"#;
    let result = |mark: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"1"{mark}}}]}}"#
        )
    };
    let request = |messages: &[String]| {
        let messages = messages.join(",");
        let tool = format!(r#"{{"name":"f","input_schema":{{"type":"object"}},{MARK}}}"#);
        format!(
            r#"{{"model":"claude-opus-5","max_tokens":9,"tools":[{tool}],"messages":[{messages}]}}"#
        )
    };
    let said = r#"{"role":"assistant","content":"It will."}"#.to_owned();
    [
        request(&[marked("Rain?")]),
        request(&[unmarked("Rain?"), call.to_owned(), result(&format!(",{MARK}"))]),
        request(&[unmarked("Rain?"), call.to_owned(), result(""), said, marked("Thanks.")]),
    ]
}

#[test]
fn moving_breakpoint_adds_no_messages() {
    let list =
        |text: &str| format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let plain = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    for requests in [sliding(list), sliding(plain)] {
        let lines: Vec<&str> = requests.iter().map(String::as_str).collect();
        check(Format::Anthropic, &lines);
        assert_eq!(counts(Format::Anthropic, &lines), (5, 1), "each message is added once");
    }
    let text = |text: &str, mark: &str| {
        format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"{mark}}}]}}"#)
    };
    let mark = r#","prompt_cache_breakpoint":{"mode":"explicit"}"#;
    let first = format!(r#"{{"model":"m","messages":[{}]}}"#, text("a", mark));
    let image =
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a"}}]}"#;
    let second =
        format!(r#"{{"model":"m","messages":[{},{image},{}]}}"#, text("a", ""), text("b", mark));
    check(Format::OpenAiChat, &[&second]);
    assert_eq!(counts(Format::OpenAiChat, &[&first, &second]), (3, 1));
}

#[test]
fn long_log_with_a_moving_breakpoint_adds_only_new_messages() {
    let mut lines = Vec::new();
    let mut said: Vec<String> = Vec::new();
    for turn in 0..40 {
        let marked = format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"question {turn}",{MARK}}}]}}"#
        );
        let messages: Vec<String> = said.iter().cloned().chain([marked]).collect();
        lines.push(format!(
            r#"{{"model":"m","max_tokens":9,"system":"Be brief.","messages":[{}]}}"#,
            messages.join(",")
        ));
        said.push(format!(r#"{{"role":"user","content":"question {turn}"}}"#));
        said.push(format!(r#"{{"role":"assistant","content":"answer {turn}"}}"#));
    }
    let log = lines.join("\n");
    let imported = imported(log.as_bytes(), Format::Anthropic);
    assert_eq!(imported.report.messages, 79);
    assert_same(
        &rendered(&imported, Provider::Anthropic).value(),
        &parse(lines.last().unwrap().as_bytes()),
        "the last",
    );
    let tree = imported.context.newest().unwrap();
    let marks = tree.view().nodes().filter_map(|(_, node)| node.attribute("data_forms").cloned());
    let forms: Vec<Value> = marks.collect();
    let count: usize = forms.iter().map(|it| it.as_object().unwrap().len()).sum();
    assert!(count <= 2, "the client's habit is learned, not recorded per block: {forms:?}");
    for marks in [None, Some(BTreeMap::new())] {
        let options = RenderOptions { marks, ..RenderOptions::default() };
        let mut renderer = RequestRenderer::new(Provider::Anthropic, options.clone());
        for snapshot in imported.context.history().iter() {
            let full = render(snapshot.view(), Provider::Anthropic, &options).unwrap();
            assert!(
                *renderer.render(snapshot.tree()).unwrap() == full,
                "incremental and full rendering agree"
            );
            let marked = full.text().contains("cache_control");
            assert_eq!(marked, options.marks.is_none(), "marks of the caller replace all");
        }
    }
}

#[test]
fn unrelated_request_replaces_the_previous_one() {
    let request = |messages: &[(&str, &str)]| {
        let message =
            |(role, text): &(&str, &str)| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
        let messages: Vec<String> = messages.iter().map(message).collect();
        format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","))
    };
    let lines = [
        request(&[("system", "It is 10:00."), ("user", "a")]),
        request(&[("system", "It is 10:01."), ("user", "a"), ("assistant", "b"), ("user", "c")]),
        // The user replaces a message; then another conversation follows; then the first again.
        request(&[("system", "It is 10:02."), ("user", "a"), ("assistant", "b"), ("user", "d")]),
        request(&[("user", "x")]),
        request(&[("system", "It is 10:03."), ("user", "a"), ("assistant", "b"), ("user", "d")]),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(Format::OpenAiChat, &lines);
    let imported = imported(lines.join("\n").as_bytes(), Format::OpenAiChat);
    let report = &imported.report;
    assert_eq!((report.conversations, report.findings["rewritten"]), (3, 1));
    let seen = imported.context.history().iter().filter_map(|snapshot| {
        let options = RenderOptions::default();
        render(snapshot.view(), Provider::OpenAiChat, &options).ok()
    });
    let seen: Vec<Value> = seen.map(|rendered| rendered.value()).collect();
    assert!(seen.contains(&parse(lines[3].as_bytes())), "the history has what the model saw");
}

#[test]
fn open_calls_of_a_replaced_conversation_are_ignored() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"1"}"#;
    let lines = [
        format!(r#"{{"messages":[{{"role":"user","content":"a"}},{call},{result}]}}"#),
        format!(r#"{{"messages":[{{"role":"user","content":"b"}},{call},{result}]}}"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(Format::OpenAiChat, &lines);
}

#[test]
fn answer_logged_after_its_request_is_imported_once() {
    let lines = [
        r#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"a"}]}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"b"}]}"#,
        r#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}"#,
    ];
    assert_eq!(counts(Format::Anthropic, &lines), (3, 1));
    let imported = imported(lines.join("\n").as_bytes(), Format::Anthropic);
    assert_same(&rendered(&imported, Provider::Anthropic).value(), &parse(lines[2].as_bytes()), "");
}

#[test]
fn requests_may_be_elements_of_a_list() {
    let text = br#"[{"messages":[{"role":"user","content":"a"}]},{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}]"#;
    assert_eq!(imported(text, Format::OpenAiChat).report.messages, 2);
}

#[test]
fn responses_items_on_lines_form_a_request() {
    let items = [
        r#"{"type":"message","role":"developer","content":"Be brief."}"#,
        r#"{"role":"user","content":"List."}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}"#,
        r#"{"type":"custom_tool_call","call_id":"c1","name":"sh","input":"ls -la"}"#,
        r#"{"type":"custom_tool_call_output","call_id":"c1","output":"a.txt"}"#,
    ];
    let imported = imported(items.join("\n").as_bytes(), Format::OpenAiResponses);
    let rendered = rendered(&imported, Provider::OpenAiResponses);
    let input = format!(r#"{{"input":[{}]}}"#, items.join(","));
    assert_same(&rendered.value(), &parse(input.as_bytes()), "the items");
    let unit = |kind: &str| {
        let mut nodes = imported.context.working().nodes();
        let (_, node) = nodes.find(|(_, node)| node.kind() == Some(kind)).unwrap();
        node.attribute("data_call_id").cloned()
    };
    assert_eq!(unit("reasoning"), unit("call"), "they are pruned together");
    assert_eq!(unit("result"), unit("call"));
}

#[test]
fn server_side_tools_form_a_unit_with_their_results() {
    let request = br#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}"#;
    let imported = imported(request, Format::Anthropic);
    let head = imported.context.newest().unwrap();
    let of_the_model = head.view().nodes().filter(|(_, node)| node.role() == Some("assistant"));
    let units: Vec<Option<Value>> =
        of_the_model.map(|(_, node)| node.attribute("data_call_id").cloned()).collect();
    assert_eq!(units.len(), 3);
    assert!(units.iter().all(|unit| unit.is_some() && *unit == units[0]), "{units:?}");
}

#[test]
fn gemini_response_without_an_id_is_matched_by_name() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}},{"functionCall":{"id":"2","name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":2}}},{"functionResponse":{"name":"f","response":{"output":1}}}]}]}"#;
    check(Format::Gemini, &[request]);
}

#[test]
fn marks_can_be_given_with_the_request() {
    let request = br#"{"model":"claude-opus-5","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}"#;
    let imported = imported(request, Format::Anthropic);
    let head = imported.context.newest().unwrap();
    let mut options = RenderOptions::default();
    let mark = parse(format!("{{{MARK}}}").as_bytes()).as_object().unwrap().clone();
    let blocks = head.view().nodes().filter(|(_, node)| node.content().as_text().is_some());
    let blocks: Vec<String> = blocks.map(|(_, node)| node.id().to_owned()).collect();
    let marked = [&blocks[0], &blocks[3]].map(|block| (block.clone(), mark.clone()));
    options.marks = Some(marked.into());
    let rendered = render(head.view(), Provider::Anthropic, &options).unwrap();
    let expected = format!(
        r#"{{"model":"claude-opus-5","max_tokens":9,"system":[{{"type":"text","text":"Be brief.",{MARK}}}],"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":"b"}},{{"role":"user","content":[{{"type":"text","text":"c",{MARK}}}]}}]}}"#
    );
    assert_same(&rendered.value(), &parse(expected.as_bytes()), "marked");
    assert_eq!(lint(&rendered), []);
}

#[test]
fn capture_of_a_proxy_may_contain_requests_that_are_not_calls() {
    let side = |path: &str, body: &str| {
        format!(
            r#"{{"request":{{"method":"POST","url":"https://api.example.com{path}","headers":{{}},"body":{body}}},"response":{{"status":200,"headers":{{}},"body":{{"type":"message","role":"assistant","content":[{{"type":"text","text":"A"}}],"usage":{{"input_tokens":3,"output_tokens":1}}}}}}}}"#
        )
    };
    let request =
        r#"{"model":"m","max_tokens":9,"system":"S","messages":[{"role":"user","content":"Q"}]}"#;
    let get = r#"{"request":{"method":"GET","url":"https://api.example.com/health","headers":{}},"response":{"status":200}}"#;
    let count = side("/v1/messages/count_tokens", request);
    let events = side("/api/events", r#"{"events":[]}"#);
    let call = side("/v1/messages?beta=true", request);
    let lines = [get, &count, &events, &call];
    let entries = format!(r#"{{"log":{{"entries":[{}]}}}}"#, lines.join(","));
    for text in [lines.join("\n"), format!("[{}]", lines.join(",")), entries] {
        let imported = imported(text.as_bytes(), Format::Auto);
        assert_eq!(imported.report.format, Some(Format::Anthropic));
        assert_eq!((imported.report.calls, imported.report.commits), (1, 1), "{text}");
        assert_eq!(imported.report.skipped["other_request"], 3);
        assert_eq!(imported.context.attempts()[0].token_in, Some(3));
    }
}

#[test]
fn repeated_call_ids_are_sent_as_they_were() {
    let call = |text: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"call_0","name":"f","input":{{"q":"{text}"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call_0","content":"{text}"}}]}}"#
        )
    };
    let request = |calls: &[&str]| {
        let calls: Vec<String> = calls.iter().map(|text| call(text)).collect();
        format!(
            r#"{{"model":"local","max_tokens":9,"messages":[{{"role":"user","content":"Go"}},{}]}}"#,
            calls.join(",")
        )
    };
    check(
        Format::Anthropic,
        &[
            &request(&["a"]),
            &request(&["a", "b"]),
            &request(&["a", "b", "c"]),
            // The past is rewritten from the second use on; the first one stays.
            &request(&["a", "x", "c"]),
        ],
    );
}

#[test]
fn response_beside_the_fields_of_a_request_is_its_response() {
    let log = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Rain?"}],"temperature":0,"response":{"id":"r1","object":"chat.completion","created":1780254716,"choices":[{"message":{"role":"assistant","content":"Yes."}}],"usage":{"prompt_tokens":50,"completion_tokens":5}},"startTime":1780254715.0,"endTime":1780254717.5}"#;
    let imported = imported(log.as_bytes(), Format::Auto);
    let attempt = &imported.context.attempts()[0];
    assert_eq!((attempt.token_in, attempt.token_out), (Some(50), Some(5)));
    assert_eq!(attempt.started_at, 1_780_254_715_000_000_000);
    let snapshot = imported.context.history().iter().last().unwrap();
    let options = attempt.request.as_ref().unwrap();
    let (provider, options) = RenderOptions::from_text(&options.options).unwrap();
    let sent = render(snapshot.view(), provider, &options).unwrap();
    assert_eq!(
        sent.text(),
        r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Rain?"}],"temperature":0}"#
    );
}

#[test]
fn call_whose_response_alone_has_a_time_took_no_time() {
    let log = r#"{"request":{"model":"m","messages":[{"role":"user","content":"Rain?"}]},"response":{"object":"chat.completion","created":1780254716,"choices":[{"message":{"role":"assistant","content":"Yes."}}]}}"#;
    let imported = imported(log.as_bytes(), Format::Auto);
    let attempt = &imported.context.attempts()[0];
    assert_eq!(attempt.started_at, 1_780_254_716_000_000_000);
    assert_eq!(attempt.ended_at, Some(attempt.started_at));
}
