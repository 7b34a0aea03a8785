//! What `cache` predicts for recorded calls, wherever their requests have breakpoints.

use contextree_app::command::cache::{CacheRequest, CacheResponse, cache};
use contextree_app::{Control, Workspace};

use crate::fixture::Fixture;

const CONTROL: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// A request with tools, system text and a conversation that grows by two messages per call; `mark` writes what follows the last key
/// of a block: `tools`, `system`, `message` (the last one), `result` (inside the first message), `request` (of the whole request).
fn sent(number: usize, mark: impl Fn(&str) -> &'static str) -> String {
    let text = "The model always reads these words before it answers. ".repeat(200);
    let messages = (0..=2 * number).map(|index| {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        let control = if index == 2 * number { mark("message") } else { "" };
        match mark("result") {
            inner if index == 2 && !inner.is_empty() => format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":[{{"type":"text","text":"{text}"{inner}}}]}}]}}"#
            ),
            inner if index == 1 && !inner.is_empty() => {
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"get_weather","input":{"cache_control":{"type":"ephemeral"}}}]}"#.to_owned()
            }
            _ => format!(
                r#"{{"role":"{role}","content":[{{"type":"text","text":"{index}. {text}"{control}}}]}}"#
            ),
        }
    });
    format!(
        r#"{{"model":"claude-sonnet-4-5","max_tokens":100{},"tools":[{{"name":"get_weather","description":"{text}","input_schema":{{"type":"object"}}{}}}],"system":[{{"type":"text","text":"{text}"{}}}],"messages":[{}]}}"#,
        mark("request"),
        mark("tools"),
        mark("system"),
        messages.collect::<Vec<_>>().join(","),
    )
}

/// Records three calls and returns the report.
fn report(mark: impl Fn(&str) -> &'static str + Copy) -> CacheResponse {
    let mut fixture = Fixture::new();
    for number in 0..3 {
        let answer = fixture.post("/p/agent/v1/messages", &[], &sent(number, mark));
        assert_eq!(answer.status, 200);
    }
    assert_eq!(fixture.stop().len(), 3);
    let workspace = Workspace::over(fixture.store.clone(), "memory:").with_context("agent");
    cache(&workspace, &CacheRequest::default(), &Control::default()).expect("there are three calls")
}

/// Returns how many texts each call after the first can read.
fn read(report: &CacheResponse) -> Vec<u64> {
    // The first request has three texts: tools, system and a message.
    let text = report.calls[0].tokens / 3;
    report.calls[1..].iter().map(|call| (call.cached + text / 2) / text).collect()
}

/// Returns whether a call is said to have no breakpoint.
fn misses_breakpoints(report: &CacheResponse) -> bool {
    report.reasons.iter().any(|it| it.reason == "no_breakpoint")
}

/// Returns a function that writes a breakpoint in one place.
fn only(place: &'static str, control: &'static str) -> impl Fn(&str) -> &'static str + Copy {
    move |at| if at == place { control } else { "" }
}

#[test]
fn breakpoints_are_read_wherever_they_are() {
    // Tools; tools and system text; everything that is not new.
    let places = [("tools", [1, 1]), ("system", [2, 2]), ("message", [3, 5]), ("request", [3, 5])];
    for (place, texts) in places {
        let report = report(only(place, CONTROL));
        assert_eq!(read(&report), texts, "a breakpoint in: {place}");
        assert!(!misses_breakpoints(&report), "a breakpoint in: {place}");
    }
}

#[test]
fn breakpoint_inside_a_tool_result_counts_for_the_result() {
    // The first request has no result, and the key in the input of the call is not a breakpoint.
    assert_eq!(read(&report(only("result", CONTROL))), [0, 4]);
}

#[test]
fn request_without_a_breakpoint_reads_nothing() {
    let report = report(only("nowhere", CONTROL));
    assert_eq!(read(&report), [0, 0]);
    assert!(misses_breakpoints(&report));
}
