//! Commands as a server calls them: requests in JSON, responses in JSON, one open store.

use std::sync::atomic::{AtomicU64, Ordering};

use contextree::Code;
use contextree_app::{
    Advice, Cancel, Control, Document, Error, Hint, Progress, Source, Workspace, command, wire,
};
use contextree_json::{Value, from_slice, from_value};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn workspace() -> Workspace {
    let store = contextree::open("memory:").expect("memory can be opened");
    let workspace = Workspace::over(store, "memory:");
    command::new(&workspace, &Default::default(), &Control::default()).expect("it is empty");
    workspace
}

/// Runs a command with a request in JSON, and returns its response after a way through JSON.
fn run<Q: DeserializeOwned, R: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    workspace: &Workspace,
    command: impl Fn(&Workspace, &Q, &Control<'_>) -> Result<R, Error>,
    request: &str,
) -> Result<Value, Error> {
    let request: Q = from_slice(request.as_bytes()).expect("the request has the right shape");
    let response = command(workspace, &request, &Control::default())?;
    let value = wire::to_value(&response);
    assert_eq!(from_value::<R>(value.clone()).expect("it is read again"), response);
    Ok(value)
}

#[test]
fn a_conversation_by_json_alone() -> Result<(), Error> {
    let workspace = workspace();
    let rules = r#"{"node":{"role":"system","content":"Be brief."},"place":{"parent":"^sys"}}"#;
    run(&workspace, command::add, rules)?;
    let added = run(
        &workspace,
        command::add,
        r#"{"node":{"role":"user","content":"Will it rain?","ttl":1,"data_n":123456789012345678901234567890}}"#,
    )?;
    let id = added.get("id").and_then(Value::as_str).expect("an id").to_owned();
    run(&workspace, command::edit, &format!(r#"{{"target":"{id}","set":{{"key":"question"}}}}"#))?;
    let report = run(&workspace, command::commit, "{}")?;
    assert_eq!(report.get("report").and_then(|report| report.get("cycle")), Some(&1.into()));

    let nodes = run(&workspace, command::select, r##"{"selector":"#question"}"##)?;
    let nodes = nodes.get("found").and_then(|found| found.get("nodes")?.as_array());
    let node = nodes.and_then(<[Value]>::first).expect("one node");
    let number = node.get("data_n").map(Value::to_canonical).expect("the attribute");
    assert_eq!(number, b"123456789012345678901234567890", "integers stay exact");

    run(&workspace, command::show, r#"{"what":"@c1"}"#)?;
    run(&workspace, command::log, r#"{"reports":true}"#)?;
    run(&workspace, command::diff, r#"{"values":true,"detail":true}"#)?;
    run(&workspace, command::explain, r#"{"selector":".block"}"#)?;
    run(&workspace, command::tokens, r#"{"over_time":true,"by":"role"}"#)?;
    run(&workspace, command::render, r#"{"format":"anthropic","settings":{"max_tokens":9}}"#)?;
    run(&workspace, command::cache, r#"{"format":"openai-chat","breakpoints":true}"#)?;
    run(&workspace, command::start_attempt, r#"{"provider":"openai","model":"gpt-5"}"#)?;
    run(&workspace, command::end_attempt, r#"{"outcome":{"completed":{"tokens":[1,2]}}}"#)?;
    run(&workspace, command::fork, r#"{"name":"other","at":"@c1"}"#)?;
    run(&workspace, command::contexts, "{}")?;
    run(&workspace, command::gc, r#"{"keep":1,"dry_run":true}"#)?;
    run(&workspace, command::delete, r#"{"name":"other"}"#)?;
    let status = command::status(&workspace, &Control::default())?;
    assert_eq!((status.snapshots, status.pending.added), (1, 0));
    assert!(command::verify(&workspace, &Control::default())?.clean);
    Ok(())
}

#[test]
fn a_model_call_by_json_alone() -> Result<(), Error> {
    let workspace = workspace();
    run(&workspace, command::add, r#"{"node":{"role":"user","content":"Will it rain?"}}"#)?;
    let begin = r#"{"provider":"openai-chat","settings":{"model":"gpt-5"}}"#;
    let begun = run(&workspace, command::request, begin)?;
    let sent = begun.get("request").and_then(Value::as_str).expect("a request").to_owned();
    assert!(sent.contains("Will it rain?"), "{sent}");
    let twice = run(&workspace, command::request, begin).expect_err("a call is running");
    assert_eq!(twice.code().as_str(), "E_ATTEMPT_RUNNING");

    let answer = r#"{"response":{"text":"{\"id\":\"r1\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Yes.\"}}]}"}}"#;
    let answered = run(&workspace, command::answer, answer)?;
    assert_eq!(answered.get("nodes").and_then(Value::as_array).map(<[Value]>::len), Some(1));
    let again = run(&workspace, command::sent, r#"{"at":"@c1"}"#)?;
    assert_eq!(again.get("request").and_then(Value::as_str), Some(sent.as_str()));

    let spans = run(&workspace, command::sent, r#"{"at":"@c1","spans":true}"#)?;
    let span = spans.get("spans").and_then(|spans| spans.as_array()?.first()).expect("a span");
    let at = |name| span.get(name).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
    let (start, end) = (at("start").expect("a byte"), at("end").expect("a byte"));
    assert!(sent[start..end].contains("Will it rain?"), "{}", &sent[start..end]);
    let hash = spans.get("attempt").and_then(|attempt| attempt.get("input"));
    assert_eq!(spans.get("hash"), hash, "the hash is that of the attempt");

    run(&workspace, command::request, begin)?;
    let repeated = run(&workspace, command::answer, answer).expect_err("an answer to call 1");
    assert_eq!(repeated.code().as_str(), "E_ANSWER_REPEATED");
    let ended = run(&workspace, command::cancel, r#"{"error":"overloaded"}"#)?;
    let status = ended.get("attempt").and_then(|attempt| attempt.get("status")?.as_str());
    assert_eq!(status, Some("error"));
    let none = run(&workspace, command::cancel, "{}").expect_err("no call is running");
    assert_eq!(none.code().as_str(), "E_ATTEMPT_NOT_FOUND");
    Ok(())
}

#[test]
fn the_timeline_groups_attempts_by_the_message_that_they_serve() -> Result<(), Error> {
    let workspace = workspace();
    let begin = r#"{"provider":"openai-chat","settings":{"model":"gpt-5"}}"#;
    let mut answers = 0;
    let mut call = |workspace: &Workspace| -> Result<(), Error> {
        answers += 1;
        run(workspace, command::request, begin)?;
        let text = format!(
            r#"{{"response":{{"text":"{{\"id\":\"r{answers}\",\"choices\":[{{\"message\":{{\"role\":\"assistant\",\"content\":\"Yes.\"}}}}]}}"}}}}"#
        );
        run(workspace, command::answer, &text).map(drop)
    };
    run(&workspace, command::add, r#"{"node":{"role":"user","content":"Will it rain?"}}"#)?;
    run(&workspace, command::request, begin)?;
    run(&workspace, command::cancel, r#"{"error":"overloaded"}"#)?;
    call(&workspace)?;
    run(&workspace, command::add, r#"{"node":{"role":"tool","content":"rain","ttl":1}}"#)?;
    call(&workspace)?;
    run(&workspace, command::add, r#"{"node":{"role":"user","content":"Thanks!"}}"#)?;
    call(&workspace)?;
    run(&workspace, command::request, begin)?;

    let timeline = run(&workspace, command::timeline, "{}")?;
    let list =
        |name: &str| timeline.get(name).and_then(Value::as_array).unwrap_or_default().to_vec();
    let (calls, messages) = (list("calls"), list("messages"));
    let of = |name: &str| -> Vec<Option<u64>> {
        calls.iter().map(|call| call.get(name).and_then(Value::as_u64)).collect()
    };
    assert_eq!(of("cycle"), [1, 2, 3, 4].map(Some), "the running call is the last");
    assert_eq!(of("serves"), [0, 0, 1, 1].map(Some));
    assert_eq!(of("expired"), [0, 0, 1, 0].map(Some), "the result was for one call");
    let texts: Vec<_> = messages.iter().filter_map(|it| it.get("excerpt")?.as_str()).collect();
    assert_eq!(texts, ["Will it rain?", "Thanks!"]);
    let tries = calls[0].get("attempts").and_then(Value::as_array).map(<[Value]>::len);
    assert_eq!(tries, Some(2), "the one that failed, and the one that did not");
    assert_eq!(timeline.get("model").and_then(Value::as_str), Some("gpt-5"));
    let newest = run(&workspace, command::timeline, r#"{"limit":1}"#)?;
    assert_eq!(newest.get("left_out").and_then(Value::as_u64), Some(2));
    Ok(())
}

#[test]
fn rows_are_found_by_text_in_any_case() -> Result<(), Error> {
    let workspace = workspace();
    run(&workspace, command::add, r#"{"node":{"role":"user","content":"Will it RAIN?"}}"#)?;
    run(&workspace, command::add, r#"{"node":{"content":{"weather":"rain"}}}"#)?;
    run(&workspace, command::add, r#"{"node":{"content":"sun","key":"rainy","data_name":"f"}}"#)?;
    run(&workspace, command::add, r#"{"node":{"content":"snow"}}"#)?;
    let found = run(&workspace, command::rows, r#"{"text":"rain","columns":["name"]}"#)?;
    assert_eq!(found.get("matched").and_then(Value::as_u64), Some(3));
    let names = found.get("columns").and_then(|it| it.get("name")).map(Value::to_canonical);
    assert_eq!(names.as_deref(), Some(&br#"[null,null,"f"]"#[..]));
    Ok(())
}

#[test]
fn unknown_keys_and_words_of_a_request_are_refused() {
    use command::render::RenderRequest;
    let wrong = |text: &str| from_slice::<RenderRequest>(text.as_bytes()).expect_err(text);
    assert!(wrong(r#"{"format":"thread","colour":1}"#).to_string().contains("colour"));
    let message = wrong(r#"{"format":"cobol"}"#).to_string();
    assert!(message.contains("unknown format `cobol`; expected `openai-chat`"), "{message}");
}

#[test]
fn errors_have_one_form_with_code_details_and_hints() {
    let workspace = workspace();
    let error = run(&workspace, command::show, r#"{"what":"@c9"}"#).expect_err("no snapshot");
    assert_eq!(error.code(), Code::SnapshotNotFound);
    let value = wire::to_value(&error.to_wire());
    assert_eq!(
        from_value::<wire::Failure>(value.clone()).expect("it is read again"),
        error.to_wire()
    );
    let details = value.get("error").and_then(|error| error.get("details")).expect("details");
    assert_eq!(details.get("address"), Some(&"@c9".into()));
    assert_eq!(details.get("hints"), None, "a door words advice itself");
    assert_eq!(error.hints(), [Hint::Advice(Advice::FirstCommit)]);
    let worded = error.to_wire_with(|hint| Some(format!("{hint:?}")));
    assert!(worded.error.details.get("hints").is_some());
}

#[test]
fn a_dry_run_changes_nothing_and_a_stale_head_is_a_conflict() -> Result<(), Error> {
    let workspace = workspace();
    let dry = r#"{"node":{"content":"x"},"change":{"dry_run":true}}"#;
    run(&workspace, command::add, dry)?;
    let status = command::status(&workspace, &Control::default())?;
    assert_eq!(status.pending.added, 0);
    let stale = r#"{"node":{"content":"x"},"change":{"if_head":3}}"#;
    let error = run(&workspace, command::add, stale).expect_err("there is no commit 3");
    assert!(error.is_conflict());
    Ok(())
}

#[test]
fn an_import_reports_progress_and_can_be_canceled() {
    let workspace = workspace().with_context("log");
    let text = "{\"role\":\"user\",\"content\":\"Hello\"}\n".repeat(10);
    let source = || Source {
        name: "a log".to_owned(),
        length: Some(text.len() as u64),
        reader: Box::new(text.as_bytes()),
    };
    let seen = AtomicU64::new(0);
    let watch = |progress: Progress| {
        seen.fetch_max(progress.done, Ordering::Relaxed);
    };
    let cancel = Cancel::default();
    cancel.cancel();
    let control = Control::default().with_cancel(cancel);
    let canceled = command::import(&workspace, &Default::default(), source(), &control);
    assert_eq!(canceled.expect_err("it was canceled").code(), Code::Canceled);

    let control = Control::default().with_progress(&watch);
    let done = command::import(&workspace, &Default::default(), source(), &control);
    let report = done.expect("the name is still free").import.expect("it is a log");
    assert_eq!((report.lines, seen.load(Ordering::Relaxed)), (10, text.len() as u64));
}

#[test]
fn documents_are_read_and_not_changed() -> Result<(), Error> {
    let stored = workspace();
    run(&stored, command::add, r#"{"node":{"content":"x"}}"#)?;
    run(&stored, command::commit, "{}")?;
    let exported = command::export(&stored, &Default::default(), &Control::default())?;
    let document = Document::new("a snapshot", exported.document);
    let workspace = Workspace::of_document(&document)?;
    assert_eq!(command::status(&workspace, &Control::default())?.snapshots, 1);
    let error = run(&workspace, command::commit, "{}").expect_err("it can only be read");
    assert_eq!(error.code(), Code::Usage);
    Ok(())
}

#[test]
fn messages_of_every_provider_are_appended_and_rendered_as_they_were() {
    let conversations = [
        (
            "openai-chat",
            "messages",
            r#"[{"role":"user","content":"Rain?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"tool","tool_call_id":"c2","content":"b"},{"role":"assistant","content":"Yes."},{"role":"user","content":"Thanks."},{"role":"user","content":"Bye."}]"#,
        ),
        (
            "anthropic",
            "messages",
            r#"[{"role":"user","content":[{"type":"text","text":"Look."},{"type":"text","text":"Rain?"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"tool_use","id":"t1","name":"f","input":{"n":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]},{"role":"user","content":[{"type":"text","text":"And?"}]},{"role":"assistant","content":[{"type":"text","text":"Yes."}]}]"#,
        ),
        (
            "gemini",
            "contents",
            r#"[{"role":"user","parts":[{"text":"Rain?"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]},{"role":"model","parts":[{"text":"Yes."}]}]"#,
        ),
        (
            "openai-responses",
            "input",
            r#"[{"role":"user","content":"Rain?"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}]"#,
        ),
    ];
    for (provider, field, messages) in conversations {
        let written = contextree_json::parse(messages.as_bytes()).expect("it is JSON");
        let list = written.as_array().expect("a list").to_vec();
        let pieces = list.iter().map(|message| String::from_utf8(message.to_canonical()).unwrap());
        // At once, and one by one as they arrive.
        for parts in [vec![messages.to_owned()], pieces.collect()] {
            let workspace = workspace();
            for part in parts {
                let document = Value::from(part.as_str()).to_canonical();
                let document = String::from_utf8(document).unwrap();
                let request =
                    format!(r#"{{"messages":{{"text":{document}}},"from":"{provider}"}}"#);
                run(&workspace, command::append, &request).expect("they are messages");
            }
            let request = format!(r#"{{"at":"@","format":"{provider}"}}"#);
            let rendered = run(&workspace, command::render, &request).expect("it is rendered");
            let text = rendered.get("request").and_then(Value::as_str).expect("the request");
            let rendered = contextree_json::parse(text.as_bytes()).expect("it is JSON");
            assert_eq!(rendered.get(field), Some(&written), "{provider}");
        }
    }
}

#[test]
fn a_bad_message_appends_nothing() {
    let workspace = workspace();
    let append = |messages: &str| {
        let text = String::from_utf8(Value::from(messages).to_canonical()).unwrap();
        let request = format!(r#"{{"messages":{{"text":{text}}},"from":"openai-chat"}}"#);
        run(&workspace, command::append, &request)
    };
    let error = append(r#"[{"role":"user","content":"a"},{"content":"b"}]"#).unwrap_err();
    assert_eq!(error.code(), Code::ImportShape);
    let error = append("{\"role\":\"user\",\"content\":\"a\"}\nnot json\n").unwrap_err();
    assert_eq!(error.code(), Code::JsonInvalid);
    let status = command::status(&workspace, &Control::default()).expect("it can be read");
    assert_eq!(status.pending.added, 0, "nothing was added");
}
