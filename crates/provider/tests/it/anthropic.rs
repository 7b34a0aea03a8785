//! Requests of Anthropic: what comes back as it was, and what others get of it.

use contextree_engine::{Context, NewNode, Place};
use contextree_provider::{Format, Provider, RenderOptions, Severity, lint, render};

use crate::support::{at, comes_back, crossed, imported, losses, rendered};

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
fn system_messages_among_others_stay_whole() {
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
fn a_system_message_may_have_no_content() {
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

/// Checks that system text at a place where it is refused becomes the user's.
fn falls_back(messages: &str, expected: &[&str]) {
    let rendered = own(messages);
    assert_eq!(losses(&rendered), expected, "{}", rendered.text());
    let mut findings = lint(&rendered);
    findings.retain(|finding| finding.severity == Severity::Error);
    assert!(findings.is_empty(), "{findings:?}\n{}", rendered.text());
}

#[test]
fn system_messages_where_they_are_refused_become_the_users() {
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
fn a_system_message_whose_neighbours_were_removed_becomes_the_users() {
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
fn only_a_document_has_a_title() {
    back(
        r#"{"role":"user","content":[{"type":"text","text":"a","title":"T"},{"type":"image","source":{"type":"url","url":"https://e.com/a.png"},"title":"T"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"T"}]}"#,
    );
    back(
        r#"{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{},"title":"T"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x","title":"T"}]}"#,
    );
}

#[test]
fn empty_lists_come_back_and_give_way() {
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
fn results_in_two_messages_go_back_in_two() {
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
fn a_text_before_a_result_is_moved_and_that_is_said() {
    let rendered = own(
        r#"{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"1","content":"x"}],"later":1}"#,
    );
    assert_eq!(losses(&rendered), ["order"]);
    assert!(at(&rendered, "messages.2.content.0").contains("tool_result"));
    assert_eq!(at(&rendered, "messages.2.later"), "1", "the fields of the message are kept");
}

#[test]
fn an_answer_of_the_model_as_a_line_leaves_its_fields_in_the_log() {
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
fn the_schema_of_a_tool_says_that_it_is_an_object() {
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
fn media_that_is_refused_is_reported() {
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
fn what_is_refused_comes_back_to_where_it_came_from() {
    back(
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"-_"}},{"type":"image","source":{"type":"url","url":"gs://a","media_type":"image/png"}},{"type":"document","source":{"type":"text","media_type":"text/html","data":"d"}}]}"#,
    );
    back(
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"result","x":1}]},{"role":"assistant","content":[{"type":"call","x":1},{"type":"tool_use","name":"f"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}"#,
    );
    assert_eq!(losses(&own(r#"{"role":"foo","content":"a"}"#)), ["role"]);
}
