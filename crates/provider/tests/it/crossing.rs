//! Tests conversion between providers that accept different ids, names, media and tool definitions.

use contextree_engine::{Context, NewNode, Place};
use contextree_import::Format;
use contextree_json::Value;
use contextree_provider::{
    Provider, RenderOptions, Rendered, RequestRenderer, Severity, lint, render,
};

use crate::support::{imported, parse, rendered};

fn codes(rendered: &Rendered) -> Vec<&'static str> {
    let mut codes: Vec<&str> = rendered.losses.iter().map(|loss| loss.kind.code()).collect();
    codes.dedup();
    codes
}

fn cross(request: &str, from: Format, to: Provider) -> Rendered {
    rendered(&imported(request.as_bytes(), from), to)
}

fn request(nodes: Vec<NewNode>, provider: Provider) -> Rendered {
    let mut context = Context::new();
    for node in nodes {
        context.add(Place::head(), node).unwrap();
    }
    let rendered = render(context.working(), provider, &RenderOptions::default()).unwrap();
    let mut findings = lint(&rendered);
    findings.retain(|finding| finding.severity == Severity::Error);
    assert!(findings.is_empty(), "{provider}: {findings:?}\n{}", rendered.text());
    rendered
}

fn user(text: &str) -> NewNode {
    NewNode::text(text).role("user").kind("text")
}

fn call(id: &str, name: &str) -> NewNode {
    let node = NewNode::text("{}").role("assistant").kind("call");
    node.attribute("data_call_id", id).attribute("data_name", name)
}

fn result(id: &str) -> NewNode {
    NewNode::text("done").role("tool").kind("result").attribute("data_call_id", id)
}

/// Collects the values of a field at any depth.
fn all<'a>(value: &'a Value, field: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == field {
                    found.extend(value.as_str());
                }
                all(value, field, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| all(value, field, found)),
        _ => {}
    }
}

#[test]
fn long_ids_are_shortened_consistently_and_stay_unique() {
    let long = |end: &str| format!("{}{end}", "x".repeat(80));
    for provider in Provider::ALL {
        let nodes = vec![
            user("go"),
            call(&long("1"), "f"),
            call(&long("2"), "f"),
            result(&long("2")),
            result(&long("1")),
        ];
        let rendered = request(nodes, provider);
        let changed = if provider == Provider::Gemini { 0 } else { 2 };
        let lost = rendered.losses.iter().filter(|loss| loss.kind.code() == "call_id").count();
        assert_eq!(lost, changed, "{provider}");
    }
}

#[test]
fn ids_that_differ_only_in_invalid_characters_stay_unique() {
    let nodes = vec![user("go"), call("a.b", "f"), call("a:b", "f"), result("a.b"), result("a:b")];
    let value = request(nodes, Provider::Anthropic).value();
    let (mut ids, mut answered) = (Vec::new(), Vec::new());
    all(&value, "id", &mut ids);
    all(&value, "tool_use_id", &mut answered);
    assert_eq!(ids, answered);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn reused_id_gets_a_suffix_where_ids_must_be_unique() {
    let turn = || [user("go"), call("a", "f"), result("a"), NewNode::text("x").role("assistant")];
    let nodes = || [turn(), turn(), turn()].into_iter().flatten().collect::<Vec<NewNode>>();
    let rendered = request(nodes(), Provider::Anthropic);
    assert_eq!(codes(&rendered), ["call_id"]);
    let value = rendered.value();
    let (mut ids, mut answered) = (Vec::new(), Vec::new());
    all(&value, "id", &mut ids);
    all(&value, "tool_use_id", &mut answered);
    assert_eq!(ids, ["a", "a_2", "a_3"]);
    assert_eq!(answered, ids);
    assert_eq!(codes(&request(nodes(), Provider::OpenAiChat)), [""; 0]);
    assert_eq!(codes(&request(nodes(), Provider::OpenAiResponses)), [""; 0]);
}

#[test]
fn names_change_consistently_in_definitions_and_calls() {
    let text = r#"{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ns.tool:x","args":{}}},{"functionCall":{"name":"ns_tool_x","args":{}}},{"functionCall":{"name":"other.tool","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ns.tool:x","response":{}}},{"functionResponse":{"name":"ns_tool_x","response":{}}},{"functionResponse":{"name":"other.tool","response":{}}}]}],"tools":[{"functionDeclarations":[{"name":"ns.tool:x"},{"name":"ns_tool_x"}]}]}"#;
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses] {
        let rendered = cross(text, Format::Gemini, provider);
        let value = rendered.value();
        let mut names = Vec::new();
        all(value.get("tools").unwrap(), "name", &mut names);
        all(value.get(provider.messages_field()).unwrap(), "name", &mut names);
        let expected = ["ns_tool_x_2", "ns_tool_x", "ns_tool_x_2", "ns_tool_x", "other_tool"];
        assert_eq!(names, expected, "{provider}");
        let lost: Vec<&str> = rendered
            .losses
            .iter()
            .filter(|loss| loss.kind.code() == "name")
            .map(|loss| &*loss.detail)
            .collect();
        assert_eq!(lost, ["ns.tool:x", "ns.tool:x", "other.tool"]);
    }
}

#[test]
fn media_is_rendered_only_in_user_messages() {
    let image = r#"{"type":"input_image","image_url":"https://x","detail":"low"}"#;
    for role in ["developer", "assistant"] {
        let text = format!(
            r#"{{"input":[{{"role":"user","content":"q"}},{{"role":"{role}","content":[{image}]}},{{"role":"user","content":"q"}}]}}"#
        );
        let rendered = cross(&text, Format::OpenAiResponses, Provider::OpenAiChat);
        assert!(codes(&rendered).contains(&"media"), "{role}");
        assert!(!rendered.text().contains("image_url"), "{role}");
    }
}

#[test]
fn image_detail_is_converted_between_providers() {
    let chat = r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","detail":"low"}}]}]}"#;
    let responses = r#"{"input":[{"role":"user","content":[{"type":"input_image","image_url":"u","detail":"low"}]}]}"#;
    let there = cross(chat, Format::OpenAiChat, Provider::OpenAiResponses);
    assert_eq!(there.value(), parse(responses.as_bytes()));
    assert_eq!(there.losses, []);
    let back = cross(responses, Format::OpenAiResponses, Provider::OpenAiChat);
    assert_eq!(back.value(), parse(chat.as_bytes()));
    assert_eq!(back.losses, []);
}

#[test]
fn tool_definitions_are_converted_between_providers() {
    let function = r#""name":"f","description":"d","parameters":{"type":"object"},"strict":true"#;
    let grammar = r#""definition":"start: /a/","syntax":"lark""#;
    let chat = format!(
        r#"{{"messages":[{{"role":"user","content":"q"}}],"tools":[{{"type":"function","function":{{{function}}}}},{{"type":"custom","custom":{{"name":"c","format":{{"type":"grammar","grammar":{{{grammar}}}}}}}}},{{"type":"custom","custom":{{"name":"t","description":"x","format":{{"type":"text"}}}}}}]}}"#
    );
    let responses = format!(
        r#"{{"input":[{{"role":"user","content":"q"}}],"tools":[{{"type":"function",{function}}},{{"type":"custom","name":"c","format":{{"type":"grammar",{grammar}}}}},{{"type":"custom","name":"t","description":"x","format":{{"type":"text"}}}}]}}"#
    );
    let there = cross(&chat, Format::OpenAiChat, Provider::OpenAiResponses);
    assert_eq!(there.value(), parse(responses.as_bytes()));
    assert_eq!(there.losses, []);
    let back = cross(&responses, Format::OpenAiResponses, Provider::OpenAiChat);
    assert_eq!(back.value(), parse(chat.as_bytes()));
    assert_eq!(back.losses, []);
    let null = r#"{"input":[{"role":"user","content":"q"}],"tools":[{"type":"function","name":"f","description":null,"parameters":null,"strict":null}]}"#;
    for provider in [Provider::OpenAiChat, Provider::Anthropic, Provider::Gemini] {
        let rendered = cross(null, Format::OpenAiResponses, provider);
        assert!(!rendered.text().contains("null"), "{}", rendered.text());
    }
}

#[test]
fn dropped_fields_of_a_merged_message_are_reported() {
    let text = r#"{"messages":[{"role":"user","content":"q"},{"role":"user","content":[{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}],"name":"Bob"}]}"#;
    for provider in [Provider::OpenAiResponses, Provider::Anthropic, Provider::Gemini] {
        let rendered = cross(text, Format::OpenAiChat, provider);
        let lost: Vec<&str> = rendered.losses.iter().map(|loss| &*loss.detail).collect();
        assert!(lost.contains(&"name"), "{provider}: {lost:?}");
    }
}

#[test]
fn request_may_consist_of_server_side_state() {
    let setting = |name: &str, value: Value| {
        let mut options = RenderOptions::default();
        options.settings.insert(name, value);
        options
    };
    let context = Context::new();
    for name in ["prompt", "previous_response_id", "conversation"] {
        let options = setting(name, Value::from("p"));
        let rendered = render(context.working(), Provider::OpenAiResponses, &options).unwrap();
        assert_eq!(rendered.text(), format!("{{\"{name}\":\"p\"}}"));
        assert_eq!(lint(&rendered).iter().filter(|it| it.severity == Severity::Error).count(), 0);
    }
    let options = setting("prompt", Value::Null);
    assert!(render(context.working(), Provider::OpenAiResponses, &options).is_err());
    let options = setting("prompt", Value::from("p"));
    assert!(render(context.working(), Provider::OpenAiChat, &options).is_err());
}

/// Renders and lints incrementally and from scratch, and checks that both agree.
fn both(renderer: &mut RequestRenderer, context: &Context) -> Rendered {
    let tree = context.newest_tree().unwrap().clone();
    let kept = renderer.render(&tree).unwrap().clone();
    let full = render(tree.view(), kept.provider, &RenderOptions::default()).unwrap();
    assert_eq!(kept.text(), full.text());
    assert_eq!(kept, full);
    assert_eq!(renderer.lint(), lint(&full));
    kept
}

#[test]
fn late_or_removed_result_rewrites_its_old_call() {
    for provider in Provider::ALL {
        let mut renderer = RequestRenderer::new(provider, RenderOptions::default());
        let mut context = Context::new();
        let mut turn = |nodes: Vec<NewNode>| {
            for node in nodes {
                context.add(Place::head(), node).unwrap();
            }
            context.commit().unwrap();
            let rendered = both(&mut renderer, &context);
            rendered.text().matches("[no result]").count()
        };
        let said = || NewNode::text("x").role("assistant").kind("text");
        turn(vec![user("go"), said()]);
        assert_eq!(turn(vec![user("go"), call("a", "f"), call("b", "f")]), 2, "{provider}");
        assert_eq!(turn(vec![result("b"), user("and?"), said()]), 1, "{provider}");
        assert_eq!(turn(vec![user("well?"), call("c", "f"), said(), result("c")]), 1);
        let anywhere = provider == Provider::OpenAiResponses;
        let late = turn(vec![result("a").ttl(1), user("so"), said()]);
        assert_eq!(late, usize::from(!anywhere), "{provider}: the late result was added");
        turn(vec![user("?"), said()]);
        let gone = turn(vec![user("?"), said()]);
        assert_eq!(gone, 1, "{provider}: the result was removed");
        let again = turn(vec![result("a"), user("!")]);
        assert_eq!(again, usize::from(!anywhere), "{provider}: the result was added again");
    }
}

#[test]
fn incremental_rendering_of_reused_ids_equals_full_rendering() {
    let mut renderer = RequestRenderer::new(Provider::Anthropic, RenderOptions::default());
    let mut context = Context::new();
    for number in 0..12 {
        context.add(Place::head(), user("go")).unwrap();
        for id in ["a", "b", "a_2"] {
            let ttl = (number % 4 == 1 && id == "a").then_some(3);
            let lasting = |node: NewNode| match ttl {
                Some(ttl) => node.ttl(ttl),
                None => node,
            };
            context.add(Place::head(), lasting(call(id, "f"))).unwrap();
            context.add(Place::head(), lasting(result(id))).unwrap();
        }
        context.commit().unwrap();
        let rendered = both(&mut renderer, &context);
        let errors: Vec<_> =
            lint(&rendered).into_iter().filter(|it| it.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}: {}", rendered.text());
    }
}

#[test]
fn old_unanswered_call_is_still_paired_with_its_result() {
    let mut renderer = RequestRenderer::new(Provider::OpenAiResponses, RenderOptions::default());
    let mut context = Context::new();
    for number in 0..400 {
        let id = format!("call_{number}");
        for node in [user("go"), call(&id, "f"), user("never mind")] {
            context.add(Place::head(), node).unwrap();
        }
        context.commit().unwrap();
        let tree = context.newest_tree().unwrap().clone();
        let missing = renderer.render(&tree).unwrap().losses.len();
        assert_eq!(missing, number + 1);
    }
    // The result is paired with its call, however old that is.
    context.add(Place::head(), result("call_7")).unwrap();
    context.commit().unwrap();
    assert_eq!(both(&mut renderer, &context).losses.len(), 399);
}
