//! Tests that losses are reported and that the request stays acceptable.

use contextree_engine::{Context, NewNode, Place};
use contextree_import::Format;
use contextree_provider::{
    LossKind, Provider, RenderError, RenderOptions, Rendered, Severity, lint, render,
};

use crate::support::{imported, parse, rendered, samples};

fn request(context: &Context, provider: Provider) -> Rendered {
    let rendered = render(context.working(), provider, &RenderOptions::default()).unwrap();
    assert_sound(&rendered);
    rendered
}

fn assert_sound(rendered: &Rendered) {
    let mut findings = lint(rendered);
    findings.retain(|finding| finding.severity == Severity::Error);
    assert!(findings.is_empty(), "{}: {findings:?}\n{}", rendered.provider, rendered.text());
}

fn codes(rendered: &Rendered) -> Vec<&'static str> {
    let mut codes: Vec<&str> = rendered.losses.iter().map(|loss| loss.kind.code()).collect();
    codes.dedup();
    codes
}

fn call(id: &str) -> NewNode {
    NewNode::text("{}")
        .role("assistant")
        .kind("call")
        .attribute("data_call_id", id)
        .attribute("data_name", "f")
}

fn result(id: &str) -> NewNode {
    NewNode::text("done").role("tool").kind("result").attribute("data_call_id", id)
}

fn context(nodes: Vec<NewNode>) -> Context {
    let mut context = Context::new();
    for node in nodes {
        context.add(Place::head(), node).unwrap();
    }
    context
}

#[test]
fn every_sample_renders_without_errors_for_every_provider() {
    let formats = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Gemini];
    for format in formats {
        for (name, text) in samples(format) {
            let imported = imported(&text, format);
            for provider in Provider::ALL {
                let rendered = rendered(&imported, provider);
                assert_sound(&rendered);
                let foreign = provider != format.provider();
                let lost = rendered.losses.iter().any(|loss| loss.kind == LossKind::Settings);
                assert_eq!(
                    lost, foreign,
                    "{name} as {provider}: settings are sent to their own provider only"
                );
            }
        }
    }
}

#[test]
fn results_are_moved_to_their_calls_where_required_and_reported() {
    let user = |text: &str| NewNode::text(text).role("user");
    let context =
        context(vec![user("go"), call("a"), call("b"), user("wait"), result("b"), result("a")]);
    for provider in Provider::ALL {
        let rendered = request(&context, provider);
        let text = rendered.text();
        let moved = text.find("done").unwrap() < text.find("wait").unwrap();
        let stays = provider == Provider::OpenAiResponses;
        assert_eq!(moved, !stays, "{provider}: {text}");
        let expected: &[&str] = if stays { &[] } else { &["order"] };
        assert_eq!(codes(&rendered), expected, "{provider}");
    }
}

#[test]
fn call_without_a_result_gets_a_placeholder_and_is_reported() {
    let user = |text: &str| NewNode::text(text).role("user");
    let context = context(vec![user("go"), call("a"), call("b"), result("b"), user("and?")]);
    for provider in Provider::ALL {
        let rendered = request(&context, provider);
        assert_eq!(codes(&rendered), ["missing_result"], "{provider}");
        assert_eq!(rendered.losses[0].node, context.working().nodes().nth(6).unwrap().1.id());
        assert!(rendered.text().contains("[no result]"));
    }
}

#[test]
fn result_without_a_call_becomes_text_and_is_reported() {
    let context = context(vec![NewNode::text("go").role("user"), result("x")]);
    for provider in Provider::ALL {
        let rendered = request(&context, provider);
        assert_eq!(codes(&rendered), ["orphan_result"], "{provider}");
        assert!(rendered.text().contains("done"), "its content is kept");
    }
}

#[test]
fn conversation_that_begins_with_the_model_gets_a_user_message() {
    let context = context(vec![NewNode::text("Hello.").role("assistant")]);
    for (provider, expected) in [
        (Provider::OpenAiChat, &[][..]),
        (Provider::OpenAiResponses, &[]),
        (Provider::Anthropic, &["first_user"]),
        (Provider::Gemini, &["first_user"]),
    ] {
        assert_eq!(codes(&request(&context, provider)), expected, "{provider}");
    }
}

#[test]
fn reasoning_without_signature_or_successor_is_dropped() {
    let reasoning = || NewNode::text("Hm.").role("assistant").kind("reasoning");
    let signed =
        reasoning().attribute("data_provider", "anthropic").attribute("data_signature", "c2ln");
    let user = NewNode::text("go").role("user");
    let context = context(vec![user, reasoning(), NewNode::text("So.").role("assistant"), signed]);
    let rendered = request(&context, Provider::Anthropic);
    assert_eq!(codes(&rendered), ["reasoning"]);
    assert_eq!(rendered.losses.len(), 2);
    assert!(!rendered.text().contains("Hm."));
}

#[test]
fn mid_conversation_system_text_is_rendered_where_accepted() {
    let nodes = vec![
        NewNode::text("go").role("user"),
        NewNode::text("Be brief.").role("system"),
        NewNode::text("Well?").role("user"),
    ];
    let context = context(nodes);
    assert_eq!(codes(&request(&context, Provider::OpenAiChat)), [""; 0]);
    assert_eq!(codes(&request(&context, Provider::OpenAiResponses)), [""; 0]);
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let rendered = request(&context, provider);
        assert_eq!(codes(&rendered), ["system_inline"], "{provider}");
        assert!(rendered.text().contains("<system>\\nBe brief.\\n</system>"));
    }
}

#[test]
fn tool_text_without_a_call_becomes_user_text() {
    let context = context(vec![NewNode::text("Forecast: rain").role("tool")]);
    for provider in Provider::ALL {
        assert_eq!(codes(&request(&context, provider)), ["stray_tool"], "{provider}");
    }
}

#[test]
fn non_object_arguments_are_wrapped_where_required() {
    let user = NewNode::text("go").role("user");
    let mut bad = call("a");
    bad.content = "{\"oops".into();
    let context = context(vec![user, bad, result("a")]);
    assert_eq!(
        codes(&request(&context, Provider::OpenAiChat)),
        [""; 0],
        "the text is sent as it is"
    );
    for provider in [Provider::Anthropic, Provider::Gemini] {
        assert_eq!(codes(&request(&context, provider)), ["arguments"], "{provider}");
    }
}

#[test]
fn empty_request_is_an_error() {
    let mut context = Context::new();
    context.add(Place::system(), NewNode::text("S")).unwrap();
    for provider in [Provider::OpenAiResponses, Provider::Anthropic, Provider::Gemini] {
        let error = render(context.working(), provider, &RenderOptions::default()).unwrap_err();
        assert_eq!(error, RenderError::Empty, "{provider}");
    }
}

#[test]
fn caller_settings_override_the_tree_and_cannot_be_content() {
    let imported = imported(
        br#"{"model":"old","messages":[{"role":"user","content":"x"}],"n":1}"#,
        Format::OpenAiChat,
    );
    let head = imported.context.newest().unwrap();
    let settings = |text: &[u8]| RenderOptions {
        settings: parse(text).as_object().unwrap().clone(),
        ..RenderOptions::default()
    };
    let rendered =
        render(head.view(), Provider::OpenAiChat, &settings(br#"{"model":"new"}"#)).unwrap();
    assert_eq!(
        rendered.text(),
        r#"{"model":"new","messages":[{"role":"user","content":"x"}],"n":1}"#
    );
    let error =
        render(head.view(), Provider::OpenAiChat, &settings(br#"{"messages":[]}"#)).unwrap_err();
    assert_eq!(error.code(), "E_SETTING_RESERVED");
}

#[test]
fn spans_map_bytes_to_nodes() {
    for format in [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Gemini] {
        for (name, text) in samples(format) {
            let imported = imported(&text, format);
            let rendered = rendered(&imported, format.provider());
            let mut end = 0;
            for span in &rendered.spans {
                assert!(span.start >= end, "{name}: spans do not overlap");
                end = span.end;
                let value = parse(&rendered.bytes[span.start..span.end]);
                assert!(!value.is_null(), "{name}: {} is JSON", rendered.path(span));
                assert!(imported.context.working().get(&span.node).is_some());
            }
        }
    }
}

#[test]
fn file_ids_are_sent_only_to_their_provider() {
    let text = br#"{"messages":[{"role":"user","content":[{"type":"text","text":"Read."},{"type":"file","file":{"file_id":"file-1"}}]}]}"#;
    let imported = imported(text, Format::OpenAiChat);
    for (provider, expected) in [
        (Provider::OpenAiChat, true),
        (Provider::OpenAiResponses, true),
        (Provider::Anthropic, false),
        (Provider::Gemini, false),
    ] {
        let rendered = rendered(&imported, provider);
        assert_eq!(rendered.text().contains("file-1"), expected, "{provider}");
        assert_eq!(codes(&rendered).contains(&"media"), !expected, "{provider}");
    }
}

#[test]
fn dropped_document_title_is_reported() {
    let document = NewNode::text("Rain.").role("user").kind("document");
    let context = context(vec![document.attribute("data_name", "Forecast")]);
    for provider in Provider::ALL {
        let rendered = request(&context, provider);
        let said = rendered.text().contains("Forecast");
        assert!(said || codes(&rendered) == ["field"], "{provider}");
    }
}

#[test]
fn calls_without_ids_get_separate_results() {
    let call = || NewNode::text("{}").role("assistant").kind("call").attribute("data_name", "f");
    let context = context(vec![NewNode::text("go").role("user"), call(), call()]);
    for provider in Provider::ALL {
        let rendered = request(&context, provider);
        let lost = rendered.losses.iter().map(|loss| loss.kind.code());
        assert_eq!(lost.collect::<Vec<_>>(), ["missing_result"; 2], "{provider}");
        assert_sound(&rendered);
    }
}

#[test]
fn id_of_an_open_call_is_not_reused() {
    let context = context(vec![
        NewNode::text("go").role("user"),
        call("a"),
        call("a"),
        result("a"),
        result("a"),
    ]);
    for provider in [Provider::OpenAiChat, Provider::Anthropic, Provider::Gemini] {
        let rendered = request(&context, provider);
        assert_eq!(codes(&rendered), ["call_id"], "{provider}");
        assert_sound(&rendered);
    }
}

#[test]
fn tool_result_with_only_unsupported_parts_renders_as_empty() {
    let messages = br#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"g"}]}]}]}"#;
    let imported = imported(messages, Format::Anthropic);
    for provider in Provider::ALL {
        assert_sound(&rendered(&imported, provider));
    }
}
