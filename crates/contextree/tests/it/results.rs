//! Results of tool calls, added to the next request.

use contextree::calls::Request;
use contextree::provider::Provider;
use contextree::{ContextSettings, Error, Place, user};

/// Parallel calls are common: a loop that adds one result leaves the others without any.
#[test]
fn every_tool_call_of_an_answer_gets_its_result_in_one_step() {
    let store = contextree::open("memory:").unwrap();
    let mut session = store.create("main", &ContextSettings::default()).unwrap();
    session
        .update(|context| Ok::<_, Error>(context.add(Place::head(), user("Oslo or Rome?"))?))
        .unwrap();
    let request = Request::new(Provider::OpenAiChat, "gpt-5");
    let call = request.begin(&mut session).unwrap();
    let tools = ["c1", "c2"].map(|id| {
        format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"forecast","arguments":"{{}}"}}}}"#
        )
    });
    let message = format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, tools.join(","));
    let response = format!(r#"{{"id":"r1","choices":[{{"message":{message}}}]}}"#);
    let answer = call.complete(&mut session, response.as_bytes()).unwrap();
    let before = session.row().revision;

    let mut asked = Vec::new();
    let run = |tool: &contextree::calls::ToolCall| {
        asked.push(tool.id.clone());
        format!("the weather of {}", tool.id)
    };
    answer.add_results(&mut session, run).unwrap();

    assert_eq!(asked, ["c1", "c2"]);
    assert_eq!(session.row().revision.get(), before.get() + 1, "one step");
    let sent = String::from_utf8(request.begin(&mut session).unwrap().bytes).unwrap();
    for id in ["c1", "c2"] {
        let result =
            format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"the weather of {id}"}}"#);
        assert!(sent.contains(&result), "{sent}");
    }
}

#[test]
fn an_answer_without_tool_calls_takes_no_step() {
    let store = contextree::open("memory:").unwrap();
    let mut session = store.create("main", &ContextSettings::default()).unwrap();
    session.update(|context| Ok::<_, Error>(context.add(Place::head(), user("Hi"))?)).unwrap();
    let call = Request::new(Provider::OpenAiChat, "gpt-5").begin(&mut session).unwrap();
    let response = br#"{"id":"r1","choices":[{"message":{"role":"assistant","content":"Hello"}}]}"#;
    let answer = call.complete(&mut session, response).unwrap();
    let before = session.row().revision;
    answer.add_results(&mut session, |_| "never").unwrap();
    assert_eq!(session.row().revision, before);
}
