//! Requests of a session that goes on are made from the one before, and equal those made from nothing, whatever a budget prunes.

use contextree::calls::{Call, Request, sent};
use contextree::provider::{Provider, lint, render};
use contextree::{
    AttemptStatus, CommitOptions, Content, ContextSettings, Edit, Error, Hash, NewNode, Place,
    SnapshotAddress, tool_result, user,
};
use contextree_store::{Session, Store, StoreError, StoreOptions};
use contextree_testkit::Rng;

use crate::killed::random_budget;

/// Checks a call against its snapshot, rendered, hashed and linted from nothing.
fn check(call: &Call, request: &Request, step: usize) {
    let rendered = render(call.snapshot.view(), request.provider, &request.options).unwrap();
    assert_eq!(String::from_utf8_lossy(&call.bytes), rendered.text(), "step {step}");
    assert_eq!(call.hash, Hash::of(&rendered.bytes), "step {step}");
    assert_eq!((&call.losses, &call.findings), (&rendered.losses, &lint(&rendered)), "step {step}");
}

fn add(session: &mut Session, node: &NewNode) -> String {
    session.update(|context| Ok::<_, Error>(context.add(Place::head(), node.clone())?)).unwrap()
}

/// Returns an answer, sometimes with a tool call; ids of tool calls repeat, as those of local servers do.
fn response(number: usize, calls: bool) -> String {
    let call = r#"[{"id":"call_0","type":"function","function":{"name":"f","arguments":"{}"}}]"#;
    let calls = if calls { call } else { "null" };
    format!(
        r#"{{"id":"r{number}","choices":[{{"message":{{"role":"assistant","content":"Answer {number}.","tool_calls":{calls}}}}}]}}"#
    )
}

/// Returns how many nodes budgets pruned and cleared.
fn go_on(seed: u64) -> [usize; 2] {
    let mut random = Rng::new(seed);
    let store = Store::open_with("memory:", StoreOptions::deterministic()).unwrap();
    let mut session = store.create("main", &ContextSettings::default()).unwrap();
    let requests =
        ["a", "b"].map(|model| Request::new(Provider::OpenAiChat, model).setting("seed", 7));
    let (mut of_call, mut answered, mut pruned, mut cleared) = (None, 0, 0, 0);
    for step in 0..150 {
        let node = match of_call.take() {
            // Now and then a tool call stays without its result.
            Some(id) if random.percent(90) => {
                tool_result(id, "done ".repeat(1 + random.index(200)))
            }
            _ => user(format!("Question {step}: {}", "why? ".repeat(random.index(400)))),
        };
        let node = if random.percent(20) { node.ttl(random.range(0, 3)) } else { node };
        let id = add(&mut session, &node);
        if random.percent(10) {
            let content = Some(Content::Text("Something else.".into()));
            let edit = Edit { content, ..Edit::default() };
            session.update(|context| Ok::<_, Error>(context.edit(&id, edit.clone())?)).unwrap();
        }
        if random.percent(5) {
            let rule = NewNode::text(format!("Rule {step}.")).role("system");
            session
                .update(|context| Ok::<_, Error>(context.add(Place::system(), rule.clone())?))
                .unwrap();
        }
        let request = &requests[usize::from(random.percent(5))];
        let begun = if random.percent(30) {
            request.begin_under(&mut session, &random_budget(&mut random))
        } else {
            request.begin(&mut session)
        };
        let call = match begun {
            Ok(call) => call,
            // Everything expired.
            Err(error) if error.code().as_str() == "E_REQUEST_EMPTY" => continue,
            Err(error) => panic!("step {step}: {error}"),
        };
        check(&call, request, step);
        pruned += call.report.pruned.len();
        cleared += call.report.cleared.len();
        if random.percent(15) {
            add(&mut session, &user(format!("Meanwhile {step}.")));
        }
        match random.below(10) {
            0 => call.cancel(&mut session).unwrap(),
            1 => call.fail(&mut session, "overloaded").unwrap(),
            _ => {
                let calls = random.percent(40);
                let answer = response(step, calls);
                let done = call.complete(&mut session, answer.as_bytes()).unwrap();
                of_call = done.tool_calls.first().map(|call| call.id.clone());
                answered += 1;
                let again = sent(&session, SnapshotAddress::Back(0)).unwrap();
                assert_eq!(again.bytes, call.bytes, "step {step}");
            }
        }
        match random.below(30) {
            0 => session.shrink(),
            1 => {
                drop(session);
                session = store.session("main").unwrap();
            }
            // A step that fails after it began a call is taken back.
            2 => {
                let failed: Result<(), StoreError> = session.write(|context| {
                    let begun = request.begin_in(context, &CommitOptions::default());
                    assert!(begun.is_ok() || begun.is_err());
                    Err(StoreError::Busy { message: "for the test".to_owned() })
                });
                assert!(failed.is_err());
            }
            _ => {}
        }
    }
    assert!(answered > 80, "most calls are answered");
    // What was pruned later changes nothing in the calls before it.
    for attempt in session.attempts().unwrap().to_vec() {
        if attempt.status == AttemptStatus::Completed {
            let address = SnapshotAddress::Cycle(u64::from(attempt.cycle_id));
            let again = sent(&session, address).unwrap();
            assert_eq!(Some(Hash::of(&again.bytes)), attempt.input, "{}", attempt.attempt_id);
        }
    }
    [pruned, cleared]
}

#[test]
fn request_made_from_the_one_before_equals_a_request_made_from_nothing() {
    let all: Vec<_> = (0..6).map(go_on).collect();
    let [pruned, cleared] = [0, 1].map(|index| all.iter().map(|it| it[index]).sum::<usize>());
    assert!(pruned > 0 && cleared > 0, "budgets prune and clear: {pruned}, {cleared}");
}
