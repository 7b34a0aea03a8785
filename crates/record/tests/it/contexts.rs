//! Which context a call belongs to.

use contextree::json::Value;
use contextree::provider::Provider;
use contextree_app::record::Relation;

use crate::fixture::{Fixture, json, open, request};

const STREAM: (&str, Value) = ("stream", Value::Bool(true));

#[test]
fn path_names_the_context() {
    let mut fixture = Fixture::new();
    fixture.post("/p/research/anthropic/v1/messages", &[], &request("s", &["a"], &[]));
    fixture.post("/p/research/v1/messages", &[], &request("s", &["a", "You said: a", "b"], &[]));
    let lines = fixture.stop();
    assert_eq!(fixture.contexts(), ["research"]);
    assert_eq!(lines[1].relation, Relation::Continued);
    assert_eq!(fixture.snapshots("research"), 2);
}

#[test]
fn other_calls_in_a_path_do_not_rewrite_its_context() {
    let mut fixture = Fixture::new();
    let path = "/p/research/v1/messages";
    let title = |messages: &[&str]| {
        fixture.post(path, &[], &request("Write a title.", messages, &[]));
    };
    let agent = |messages: &[&str]| {
        fixture.post(path, &[], &request("You are an agent.", messages, &[]));
    };
    agent(&["Will it rain?"]);
    title(&["Will it rain?"]);
    agent(&["Will it rain?", "You said: Will it rain?", "And tomorrow?"]);
    title(&["And tomorrow?"]);
    let lines = fixture.stop();
    let names: Vec<_> = lines.iter().map(|line| line.context.as_str()).collect();
    assert_eq!(names[..3], ["research", "research.2", "research"]);
    assert_eq!(lines[2].relation, Relation::Continued);
    assert_eq!(fixture.snapshots("research"), 2);
}

#[test]
fn conversations_without_a_name_are_told_apart_by_their_messages() {
    let mut fixture = Fixture::new();
    let send = |messages: &[&str]| {
        let answer = fixture.post("/v1/messages", &[], &request("s", messages, &[]));
        assert_eq!(answer.status, 200);
    };
    send(&["one"]);
    send(&["two"]);
    send(&["one", "You said: one", "more"]);
    send(&["two", "You said: two", "more"]);
    let lines = fixture.stop();
    let names: Vec<_> = lines.iter().map(|line| line.context.as_str()).collect();
    assert_eq!(names, ["agent-1", "agent-2", "agent-1", "agent-2"]);
}

#[test]
fn question_that_is_also_sent_to_name_the_conversation_has_a_context_of_its_own() {
    let mut fixture = Fixture::new();
    let session = [("x-claude-code-session-id", "6f1e4c0a-8f3b-4d2e-9a57-00001f3a9c2e")];
    let send = |system: &str, messages: &[&str]| {
        fixture.post("/v1/messages", &session, &request(system, messages, &[]));
    };
    send("Write a title.", &["Will it rain?"]);
    send("You are an agent.", &["Will it rain?"]);
    send("You are an agent.", &["Will it rain?", "You said: Will it rain?", "And tomorrow?"]);
    let lines = fixture.stop();
    let names: Vec<_> = lines.iter().map(|line| line.context.as_str()).collect();
    assert_eq!(names, ["agent-1f3a9c2e", "agent-1f3a9c2e.2", "agent-1f3a9c2e.2"]);
}

#[test]
fn rewritten_past_is_a_new_state_of_the_same_context() {
    let mut fixture = Fixture::new();
    let send = |messages: &[&str]| {
        fixture.post("/v1/messages", &[], &request("s", messages, &[]));
    };
    send(&["one", "two", "three"]);
    send(&["one", "changed", "three", "You said: three", "four"]);
    let lines = fixture.stop();
    assert_eq!(lines[1].relation, Relation::Rewritten);
    assert_eq!(fixture.contexts(), ["agent-1"]);
    let sent = fixture.sent("agent-1", 2, Provider::Anthropic);
    let second = request("s", &["one", "changed", "three", "You said: three", "four"], &[]);
    assert_eq!(sent, json(&second));
}

#[test]
fn summary_of_a_conversation_continues_it() {
    let mut fixture = Fixture::new();
    let session = [("session_id", "6f1e4c0a-8f3b-4d2e-9a57-0000aaaabbbb")];
    let long = "Summarize: we talked at length about the weather in Oslo, about umbrellas, and about what to pack for a trip.";
    let answer = format!("You said: {long}");
    let first = request("s", &["Hello", "Hi", long], &[]);
    fixture.post("/v1/messages", &session, &first);
    let quoted = format!("This session continues an earlier one. Summary: {answer}");
    fixture.post("/v1/messages", &session, &request("s", &[&quoted], &[]));
    let lines = fixture.stop();
    assert_eq!(lines[1].relation, Relation::Rewritten);
    assert_eq!(fixture.contexts(), ["agent-aaaabbbb"]);
}

#[test]
fn parallel_calls_are_forked_where_they_share_a_past() {
    let mut fixture = Fixture::new();
    fixture.post("/v1/messages", &[], &request("s", &["one"], &[]));
    let past = ["one", "You said: one"];
    let slow = request("s", &[past[0], past[1], "slowly, please"], &[STREAM]);
    let mut running = open(fixture.address(), "/v1/messages", &[], slow.as_bytes());
    // The first bytes of the answer are there, so the call has begun.
    std::io::Read::read_exact(&mut running, &mut [0; 64]).expect("it streams");
    let beside = request("s", &[past[0], past[1], "another question"], &[]);
    fixture.post("/v1/messages", &[], &beside);
    assert_eq!(rest_of(&mut running), "slowly, please");
    let lines = fixture.stop();
    assert_eq!(fixture.contexts(), ["agent-1", "agent-2"]);
    let forked = lines.iter().find(|line| line.context == "agent-2").expect("it was recorded");
    assert_eq!(forked.relation, Relation::Forked { from: "agent-1".to_owned() });
    assert_eq!(fixture.snapshots("agent-2"), 2);
    assert_eq!(fixture.sent("agent-2", 2, Provider::Anthropic), json(&beside));
    assert_eq!(fixture.sent("agent-1", 2, Provider::Anthropic), json(&slow));
}

/// Reads a stream to its end, and returns what it says about the request.
fn rest_of(stream: &mut std::net::TcpStream) -> &'static str {
    let mut rest = Vec::new();
    let mut piece = [0; 4096];
    while !rest.ends_with(b"0\r\n\r\n") {
        let length = std::io::Read::read(stream, &mut piece).expect("it streams");
        assert!(length > 0, "it ends by itself");
        rest.extend_from_slice(&piece[..length]);
    }
    let text = String::from_utf8(rest).expect("it is text");
    if text.contains("please") { "slowly, please" } else { "something else" }
}

#[test]
fn recording_is_continued_by_another_process() {
    let mut fixture = Fixture::new();
    let marked = r#"{"model":"m","max_tokens":9,"system":"s","tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]}]}"#;
    fixture.post("/p/main/v1/messages", &[], marked);
    fixture.stop();
    let second = r#"{"model":"m","max_tokens":9,"system":"s","tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"text","text":"You said: one"}]},{"role":"user","content":[{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]}]}"#;
    let mut again = Fixture::over(fixture.store.clone(), fixture.upstream.clone(), |_| {});
    again.post("/p/main/v1/messages", &[], second);
    let lines = again.stop();
    assert_eq!(lines[0].relation, Relation::Continued);
    assert_eq!(again.sent("main", 2, Provider::Anthropic), json(second));
    let snapshots = [1, 2].map(|cycle| {
        again
            .store
            .snapshot("main", contextree::SnapshotAddress::Cycle(cycle))
            .expect("it is there")
    });
    let ids = snapshots.map(|snapshot| {
        let nodes = snapshot.view().region(contextree::Region::Sys).subtree();
        nodes
            .filter(|(_, node)| node.class() == contextree::Class::Block)
            .map(|(_, node)| node.id().to_owned())
            .collect::<Vec<_>>()
    });
    assert_eq!(ids[0], ids[1], "tools and system text stay");
}

#[test]
fn call_that_a_killed_process_left_is_interrupted() {
    let mut fixture = Fixture::new();
    let body = request("s", &["one"], &[]);
    fixture.post("/p/main/v1/messages", &[], &body);
    fixture.stop();
    // What a process leaves that is killed after it began a call.
    let mut session = fixture.store.session("main").expect("it was recorded");
    let begun: Result<(), contextree::store::StepError> =
        session.begin(&Default::default(), |_| {
            let start = contextree::engine::CallStart {
                provider: "anthropic".to_owned(),
                model: "m".to_owned(),
                params: contextree::Hash::of(b""),
                input: None,
                serves: None,
                options: String::new(),
            };
            Ok((start, ()))
        });
    begun.expect("no call is running");
    drop(session);
    let mut again = Fixture::over(fixture.store.clone(), fixture.upstream.clone(), |_| {});
    again.post("/p/main/v1/messages", &[], &request("s", &["one", "You said: one", "two"], &[]));
    again.stop();
    let attempts = again.attempts("main");
    let words: Vec<_> = attempts.iter().map(|attempt| attempt.status.word()).collect();
    assert_eq!(words, ["completed", "error", "completed"]);
    assert_eq!(again.snapshots("main"), 2);
}

#[test]
fn response_that_is_named_continues_its_context() {
    let mut fixture = Fixture::new();
    let first = r#"{"model":"m","input":"one"}"#;
    let answer = fixture.post("/v1/responses", &[], first);
    let id = json(&String::from_utf8(answer.body).expect("it is text"));
    let id = id.get("id").and_then(Value::as_str).expect("it has an id").to_owned();
    let second = format!(r#"{{"model":"m","input":"two","previous_response_id":"{id}"}}"#);
    fixture.post("/v1/responses", &[], &second);
    fixture.post("/v1/responses", &[], r#"{"model":"m","input":"three"}"#);
    let lines = fixture.stop();
    let names: Vec<_> = lines.iter().map(|line| line.context.as_str()).collect();
    assert_eq!(names, ["agent-1", "agent-1", "agent-2"]);
    assert_eq!(fixture.sent("agent-1", 2, Provider::OpenAiResponses), json(&second));
}

#[test]
fn thread_that_the_provider_keeps_is_one_context() {
    let mut fixture = Fixture::new();
    let create = [("thread", json(r#"{"type":"create"}"#))];
    let answer = fixture.post("/v1/messages", &[], &request("s", &["use the tool"], &create));
    let answer = json(&String::from_utf8(answer.body).expect("it is text"));
    let id = answer.get("id").and_then(Value::as_str).expect("it has an id");
    let second = format!(
        r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"sun"}}]}}],"thread":{{"type":"continue","previous_message_id":"{id}"}}}}"#
    );
    fixture.post("/v1/messages", &[], &second);
    let lines = fixture.stop();
    let names: Vec<_> = lines.iter().map(|line| line.context.as_str()).collect();
    assert_eq!(names, ["agent-1", "agent-1"]);
    assert_eq!(fixture.sent("agent-1", 2, Provider::Anthropic), json(&second));
}
