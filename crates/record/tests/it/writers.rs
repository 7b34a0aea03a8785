//! Stores that fail, and others that write to a context while it is recorded.

use std::io::Read as _;
use std::sync::Arc;

use contextree::provider::Provider;
use contextree::store::{Memory, Store, StoreError};
use contextree::{AttemptStatus, NewNode, Place};
use contextree_app::command::pin::{PinRequest, pin};
use contextree_app::record::Relation;
use contextree_app::{Change, Control, Workspace};
use contextree_record::Report;
use contextree_testkit::suite::faulty::{Faulty, When};
use contextree_testkit::upstream::Upstream;

use crate::fixture::{Fixture, json, open, request};

const PATH: &str = "/p/main/v1/messages";

/// So that the end of a response can be read.
const CLOSE: [(&str, &str); 1] = [("connection", "close")];

/// Returns a request with these questions and the answers of the upstream.
fn asking(questions: &[&str], more: &[(&str, contextree::json::Value)]) -> String {
    let said: Vec<String> = questions.iter().map(|text| format!("You said: {text}")).collect();
    let mut messages = Vec::new();
    for (question, answer) in questions.iter().zip(&said) {
        messages.extend([*question, answer.as_str()]);
    }
    messages.pop();
    request("s", &messages, more)
}

/// Reads a response to its end, or until it breaks off.
fn drain(stream: &mut std::net::TcpStream) {
    let mut piece = [0; 4096];
    let mut last = Vec::new();
    while !last.ends_with(b"0\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => last.extend_from_slice(&piece[..length]),
            _ => return,
        }
    }
}

/// Adds a note, as `ctx add` does.
fn add_note(fixture: &Fixture) {
    let mut session = fixture.store.session("main").expect("it was recorded");
    let added: Result<String, contextree::Error> = session
        .update(|context| Ok(context.add(Place::head(), NewNode::text("A note.").role("user"))?));
    added.expect("it can be added");
}

/// Pins what the user said, as `ctx pin` does.
fn pin_questions(fixture: &Fixture) {
    let workspace = Workspace::over(fixture.store.clone(), "memory:").with_context("main");
    let targets = vec![".block[role=user]".to_owned()];
    let request = PinRequest { targets, change: Change::default() };
    let pinned = pin(&workspace, &request, &Control::default()).expect("they can be pinned");
    assert!(!pinned.pinned.is_empty());
}

#[test]
fn context_is_recorded_again_after_the_end_of_a_call_could_not_be_stored() {
    let faulty = Arc::new(Faulty::new(Memory::default()));
    let store = Store::over(faulty.clone(), Default::default());
    // Strict, so that a call is stored when it is sent.
    let mut fixture = Fixture::over(store, Upstream::start(), |config| config.strict = true);
    fixture.post(PATH, &[], &asking(&["one"], &[]));
    let slow = asking(&["one", "slowly, please"], &[("stream", true.into())]);
    let mut running = open(fixture.address(), PATH, &CLOSE, slow.as_bytes());
    running.read_exact(&mut [0; 64]).expect("it streams");
    faulty.fail_writes(When::Before, StoreError::Busy { message: "full".to_owned() });
    drain(&mut running);
    faulty.heal();
    let third = asking(&["one", "slowly, please", "three"], &[]);
    assert_eq!(fixture.post(PATH, &[], &third).status, 200);
    fixture.finish();
    let attempts = fixture.attempts("main");
    let words: Vec<_> = attempts.iter().map(|attempt| attempt.status.word()).collect();
    assert_eq!(words, ["completed", "error", "completed"]);
    let AttemptStatus::Error(why) = &attempts[1].status else { panic!("it is an error") };
    assert!(why.starts_with("not recorded: ") && why.contains("full"), "{why}");
    let cycle = attempts[2].cycle_id.get();
    assert_eq!(fixture.sent("main", cycle, Provider::Anthropic), json(&third));
}

#[test]
fn panic_of_the_writer_ends_one_call_and_not_the_recording() {
    for (write, expected) in
        [(1, ["completed", "completed"].as_slice()), (2, &["completed", "error", "completed"])]
    {
        let faulty = Arc::new(Faulty::new(Memory::default()));
        let store = Store::over(faulty.clone(), Default::default());
        let mut fixture = Fixture::over(store, Upstream::start(), |config| config.strict = true);
        fixture.post(PATH, &[], &asking(&["one"], &[]));
        // The first write begins the call, the second ends it.
        faulty.panic_once(write);
        let mut stream =
            open(fixture.address(), PATH, &CLOSE, asking(&["one", "two"], &[]).as_bytes());
        drain(&mut stream);
        let third = asking(&["one", "three"], &[]);
        assert_eq!(fixture.post(PATH, &[], &third).status, 200);
        let told = fixture.finish();
        let is_told =
            |it: &Report| matches!(it, Report::NotRecorded(why) if why.contains("panicked"));
        assert!(told.iter().any(is_told), "{told:?}");
        let attempts = fixture.attempts("main");
        let words: Vec<_> = attempts.iter().map(|attempt| attempt.status.word()).collect();
        assert_eq!(words, expected);
        let cycle = attempts[words.len() - 1].cycle_id.get();
        assert_eq!(fixture.sent("main", cycle, Provider::Anthropic), json(&third));
    }
}

#[test]
fn snapshots_are_what_was_sent_although_others_add_and_pin_in_between() {
    let mut fixture = Fixture::with(|config| config.strict = true);
    let mut questions = vec!["one"];
    for (cycle, next) in [(1, "two"), (2, "three"), (3, "four"), (4, "")] {
        let body = asking(&questions, &[]);
        assert_eq!(fixture.post(PATH, &[], &body).status, 200);
        match cycle {
            2 => pin_questions(&fixture),
            _ => add_note(&fixture),
        }
        questions.push(next);
    }
    // It panics at a warning, such as that a snapshot is not what was sent.
    let lines = fixture.stop();
    for (line, count) in lines.iter().zip(1..) {
        let body = asking(&["one", "two", "three", "four"][..count], &[]);
        let sent = fixture.sent("main", line.cycle.get(), Provider::Anthropic);
        assert_eq!(sent, json(&body), "{count}");
    }
    assert_eq!(lines.len(), 4);
}

#[test]
fn two_recorders_of_one_context_continue_each_other() {
    let mut one = Fixture::with(|config| config.strict = true);
    let upstream = one.upstream.clone();
    let mut two = Fixture::over(one.store.clone(), upstream, |config| config.strict = true);
    let questions = ["a", "b", "c", "d", "e"];
    for count in 1..=questions.len() {
        let fixture = if count % 2 == 0 { &two } else { &one };
        assert_eq!(fixture.post(PATH, &[], &asking(&questions[..count], &[])).status, 200);
    }
    assert_eq!(one.stop().len() + two.stop().len(), questions.len());
    assert_eq!(one.contexts(), ["main"]);
    for count in 1..=questions.len() {
        let body = asking(&questions[..count], &[]);
        let cycle = u32::try_from(count).expect("it is small");
        assert_eq!(one.sent("main", cycle, Provider::Anthropic), json(&body), "{count}");
    }
}

#[test]
fn context_of_a_session_that_a_path_names_too_has_one_lane() {
    let mut fixture = Fixture::with(|config| config.strict = true);
    let session = [("session_id", "6f1e4c0a-8f3b-4d2e-9a57-0000aaaabbbb"), ("connection", "close")];
    let slow = asking(&["slowly, please"], &[("stream", true.into())]);
    let mut running = open(fixture.address(), "/v1/messages", &session, slow.as_bytes());
    running.read_exact(&mut [0; 64]).expect("it streams");
    let beside = "/p/agent-aaaabbbb/v1/messages";
    fixture.post(beside, &[], &asking(&["another"], &[]));
    drain(&mut running);
    let lines = fixture.stop();
    assert_eq!(fixture.contexts(), ["agent-aaaabbbb", "agent-aaaabbbb.2"]);
    assert!(lines.iter().all(|line| line.relation == Relation::New), "{lines:?}");
    assert_eq!(fixture.sent("agent-aaaabbbb", 1, Provider::Anthropic), json(&slow));
}

#[test]
fn sessions_that_end_alike_have_contexts_of_their_own() {
    let mut fixture = Fixture::new();
    for session in ["team-a/00000001", "team-b/00000001"] {
        fixture.post("/v1/messages", &[("session_id", session)], &asking(&["one"], &[]));
    }
    fixture.stop();
    assert_eq!(fixture.contexts().len(), 2, "{:?}", fixture.contexts());
}
