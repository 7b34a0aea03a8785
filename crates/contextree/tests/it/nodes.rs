//! The nodes of agents in the requests of all providers.

use contextree::provider::{Provider, RenderOptions, lint, render};
use contextree::{Context, Place};
use contextree::{assistant, document, image, json, system, tool, tool_call, tool_result, user};

const PROVIDERS: [Provider; 4] =
    [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Anthropic, Provider::Gemini];

fn conversation() -> Context {
    let mut context = Context::new();
    context.add(Place::system(), system("Be brief.")).unwrap();
    let schema = br#"{"type":"object","properties":{"city":{"type":"string"}}}"#;
    let forecast = tool("forecast", "Forecasts the weather.", json::parse(schema).unwrap());
    context.add(Place::system(), forecast).unwrap();
    for node in [
        user("Will it rain in Oslo?"),
        image("image/png", "iVBORw0KGgo="),
        tool_call("call-1", "forecast", r#"{"city":"Oslo"}"#),
        tool_result("call-1", "rain from 14:00"),
        assistant("Yes, from two o'clock on."),
        document("Oslo: rain, 8 degrees", 3),
    ] {
        context.add(Place::head(), node).unwrap();
    }
    context.commit().unwrap();
    context
}

#[test]
fn every_provider_gets_names_arguments_results_and_media() {
    let context = conversation();
    for provider in PROVIDERS {
        let options = RenderOptions::for_model("m").setting("max_tokens", 100);
        let rendered = render(context.working(), provider, &options).unwrap();
        assert_eq!(rendered.losses, [], "{provider}");
        let text = String::from_utf8(rendered.bytes.clone()).unwrap();
        for part in [
            "Be brief.",
            "Forecasts the weather.",
            "Will it rain in Oslo?",
            "forecast",
            "Oslo",
            "rain from 14:00",
            "two o'clock",
            "Oslo: rain, 8 degrees",
            "iVBORw0KGgo=",
        ] {
            assert!(text.contains(part), "{provider}: `{part}` is missing in {text}");
        }
    }
}

#[test]
fn rendered_conversations_have_no_findings() {
    let context = conversation();
    for provider in PROVIDERS {
        let options = RenderOptions::for_model("m").setting("max_tokens", 100);
        let rendered = render(context.working(), provider, &options).unwrap();
        assert_eq!(lint(&rendered), [], "{provider}");
    }
}

#[test]
fn arguments_may_be_text_or_json() {
    let text = tool_call("c", "t", r#"{"a":1}"#);
    let json = tool_call("c", "t", json::parse(br#"{"a":1}"#).unwrap());
    let requests = [text, json].map(|call| {
        let mut context = Context::new();
        context.add(Place::head(), user("Go")).unwrap();
        context.add(Place::head(), call).unwrap();
        context.add(Place::head(), tool_result("c", "done")).unwrap();
        let rendered =
            render(context.working(), Provider::Anthropic, &RenderOptions::for_model("m"));
        rendered.unwrap().bytes
    });
    assert_eq!(requests[0], requests[1]);
}

#[cfg(feature = "serde_json")]
#[test]
fn arguments_may_be_a_serde_json_value() {
    let ours = tool_call("c", "t", json::parse(br#"{"a":[1,2.5]}"#).unwrap());
    let theirs = tool_call("c", "t", contextree::serde_json::json!({"a": [1, 2.5]}));
    assert_eq!(ours, theirs);
}
