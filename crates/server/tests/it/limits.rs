//! Requests that ask for too much, arrive too slowly, or never end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use contextree_app::{Control, command};
use contextree_json::{Object, Value};
use contextree_server::shell::Limits;

use crate::support::{OTHER, OWNER, Served, Setup};

/// Limits that a test can reach.
fn tight() -> Setup {
    let mut limits = Limits::default();
    limits.body = 64 << 10;
    limits.head_time = Duration::from_millis(300);
    limits.body_time = Duration::from_millis(300);
    limits.results = 3;
    limits.running = 2;
    Setup { limits, ..Setup::default() }
}

#[test]
fn bodies_that_are_too_large_are_refused() {
    let served = Served::with(&tight());
    served.create("main");
    let text = "x".repeat(1 << 20);
    let body = format!(r#"{{"node":{{"content":"{text}"}}}}"#);
    let stated = served.post("/v1/contexts/main/add", &body);
    assert_eq!((stated.status, stated.code().as_str()), (413, "E_BODY_LIMIT"));
    let login = format!(r#"{{"token":"{text}"}}"#);
    let stranger = served.call("POST", "/v1/session").json(&login).send();
    assert_eq!(stranger.code(), "E_BODY_LIMIT");
}

#[test]
fn deep_json_is_refused_without_a_stack_overflow() {
    let served = Served::new();
    let deep = format!("{{\"node\":{}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let answer = served.post("/v1/contexts/acme%2Fmain/add", &deep);
    assert_eq!(answer.code(), "E_LIMIT", "{answer:?}");
}

#[test]
fn results_that_are_too_many_are_refused_with_a_way_to_get_them() {
    let served = Served::with(&tight());
    served.create("main");
    let answer = served.get("/v1/contexts/main/show");
    assert_eq!((answer.status, answer.code().as_str()), (422, "E_RESULT_LIMIT"));
    assert!(answer.text().contains("a page at a time"));
    assert_eq!(served.get("/v1/contexts/main/rows?limit=3").status, 200);
}

#[test]
fn a_selector_that_is_too_much_work_is_refused_as_such_and_a_long_document_as_too_large() {
    let mut setup = Setup::default();
    setup.limits.selector_cost = 1;
    let served = Served::with(&setup);
    served.create("main");
    let add = r#"{"node":{"content":"x"}}"#;
    assert_eq!(served.post("/v1/contexts/main/add", add).status, 200);
    assert_eq!(served.post("/v1/contexts/main/commit", "{}").status, 200);
    let answer = served.post("/v1/contexts/main/select", r#"{"selector":"@* .block *, * > *"}"#);
    assert_eq!((answer.status, answer.code().as_str()), (422, "E_LIMIT"), "{answer:?}");
    assert!(answer.text().contains(r#""limit":"steps""#), "{answer:?}");
    let deep = format!("{{\"node\":{}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let answer = served.post("/v1/contexts/main/add", &deep);
    assert_eq!((answer.status, answer.code().as_str()), (413, "E_LIMIT"), "{answer:?}");
}

#[test]
fn connections_that_send_their_head_too_slowly_are_closed() {
    let served = Served::with(&tight());
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHos").unwrap();
    let mut rest = Vec::new();
    // It ends, with or without a response; if it did not, this would fail by its timeout.
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{rest:?}");
    assert_eq!(served.call("GET", "/health").send().status, 200);
}

#[test]
fn bodies_that_arrive_too_slowly_are_given_up() {
    let served = Served::with(&tight());
    served.create("main");
    let call = served.call("POST", "/v1/contexts/main/add").token(OWNER);
    let call = call.header("content-type", "application/json").header("content-length", "100");
    let mut slow: Vec<_> = (0..20).map(|_| call.clone().open()).collect();
    // Those who wait for their bodies take no slot from others.
    assert_eq!(served.get("/v1/contexts/main/status").status, 200);
    for connection in &mut slow {
        let answer = connection.read_head();
        assert_eq!(answer.status, 503);
    }
}

#[test]
fn a_server_that_ends_finishes_the_requests_that_it_has_received() {
    let mut served = Served::new();
    let body = r#"{"node":{"content":"the last words"}}"#;
    let length = body.len().to_string();
    let call = served.call("POST", "/v1/contexts/acme%2Fmain/add").token(OWNER);
    let call = call.header("content-type", "application/json").header("content-length", &length);
    let mut open = call.header("expect", "100-continue").open();
    assert_eq!(open.read_head().status, 100, "the server waits for the body");
    let address = served.address;
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| served.stop());
        while TcpStream::connect(address).is_ok() {
            std::thread::yield_now();
        }
        open.0.get_mut().write_all(body.as_bytes()).unwrap();
        open.read_head()
    });
    assert_eq!(answer.status, 200, "{answer:?}");
    let workspace = served.workspace.clone().with_context("acme/main");
    let request = contextree_json::from_slice(br#"{"at":"@"}"#).unwrap();
    let stored = command::thread(&workspace, &request, &Control::default()).unwrap();
    assert!(stored.thread.contains("the last words"), "{}", stored.thread);
}

/// Returns a list of alternatives that visits every node hundreds of times.
fn slow_selector(first: usize) -> String {
    let parts: Vec<_> = (0..800).map(|it| format!("* > *[offset>{}]", 900 + first + it)).collect();
    parts.join(", ")
}

/// Starts a server with a context of thousands of blocks.
fn with_many_blocks(setup: &Setup) -> Served {
    let served = Served::with(setup);
    served.create("main");
    let workspace = served.workspace.clone().with_context("main");
    let add = r#"{"op":"add","node":{"role":"user","content":"x"}}"#;
    let request = Value::Object(Object::from_iter([(
        "operations",
        Value::Object(Object::from_iter([("text", Value::from(format!("{add}\n").repeat(3_000)))])),
    )]));
    let request = contextree_json::from_value(request).unwrap();
    command::apply(&workspace, &request, &Control::default()).unwrap();
    served
}

/// Waits until no command runs.
fn wait_until_idle(served: &Served) {
    let is_idle = || {
        let metrics = served.get("/metrics").text();
        metrics.lines().any(|line| line == "contextree_commands_running 0")
    };
    while !is_idle() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn tools_for_models_keep_to_the_limits_of_the_server() {
    let mut setup = Setup::default();
    setup.limits.selector_cost = 1;
    setup.limits.results = 3;
    let served = Served::with(&setup);
    served.create("main");
    for (tool, arguments, code) in [
        ("select", r#"{"context":"main","selector":"@* * > *"}"#, "E_LIMIT"),
        ("show", r#"{"context":"main","what":"* > *"}"#, "E_LIMIT"),
        ("pin", r#"{"context":"main","nodes":["* > *"]}"#, "E_LIMIT"),
        ("show", r#"{"context":"main"}"#, "E_RESULT_LIMIT"),
    ] {
        let answer = served.tool(OWNER, tool, arguments);
        let text = answer.text();
        assert!(answer.status == 200 && text.contains(r#""isError":true"#), "{tool}: {answer:?}");
        assert!(text.contains(&format!(r#""text":"{code}: "#)), "{tool}: {text}");
    }
}

/// Anyone may ask, also when nothing else can be run; and whoever asks takes nothing from others.
#[test]
fn readiness_is_told_while_every_slot_is_taken() {
    let mut setup = Setup::default();
    setup.limits.time = Duration::from_secs(600);
    setup.limits.selector_cost = u64::MAX;
    setup.limits.running = 1;
    setup.limits.waiting = 1;
    let served = with_many_blocks(&setup);
    let body = format!(r#"{{"selector":"@* {}"}}"#, slow_selector(0));
    let workspace = served.workspace.clone().with_context("main");
    for _ in 0..500 {
        command::commit(&workspace, &Default::default(), &Control::default()).unwrap();
    }
    let slow = served.call("POST", "/v1/contexts/main/select").token(OWNER).json(&body).open();
    while !served.get("/metrics").text().contains("contextree_commands_running 1\n") {
        std::thread::yield_now();
    }
    for _ in 0..3 {
        assert_eq!(served.call("GET", "/ready").send().status, 200);
    }
    assert!(served.get("/metrics").text().contains("contextree_commands_running 1\n"));
    // The command stops when its caller is gone.
    drop(slow);
    wait_until_idle(&served);
}

#[test]
fn a_tool_that_takes_too_long_is_stopped_and_keeps_its_slot_until_it_has_ended() {
    let mut setup = Setup::default();
    setup.limits.time = Duration::from_millis(300);
    setup.limits.selector_cost = u64::MAX;
    // One for each token.
    setup.limits.running = 2;
    let served = with_many_blocks(&setup);
    let workspace = served.workspace.clone().with_context("main");
    // Minutes of work, for any machine.
    for _ in 0..500 {
        command::commit(&workspace, &Default::default(), &Control::default()).unwrap();
    }
    let arguments = format!(r#"{{"context":"main","selector":"@* {}"}}"#, slow_selector(0));
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| served.tool(OWNER, "select", &arguments));
        let mut was_counted = false;
        while !slow.is_finished() {
            let metrics = served.get("/metrics").text();
            was_counted |= metrics.lines().any(|line| line == "contextree_commands_running 1");
        }
        assert!(was_counted, "it runs where commands run");
        let answer = slow.join().unwrap();
        assert!(answer.text().contains(r#""text":"E_DEADLINE: "#), "{answer:?}");
    });
    wait_until_idle(&served);
    // Another tenant's slot was never taken.
    assert_eq!(served.tool(OTHER, "contexts", "{}").status, 200);
}

#[test]
fn a_commit_whose_budget_takes_too_long_is_stopped_at_the_deadline() {
    let mut setup = Setup::default();
    setup.limits.time = Duration::from_millis(200);
    let served = with_many_blocks(&setup);
    // Seconds of work, for any machine.
    let exclude: Vec<_> = (0..60).map(|it| format!(r#""{}""#, slow_selector(it))).collect();
    let limits = r#"[{"limit":"total","measure":"nodes","max":1}]"#;
    let policy = format!(r#"{{"limits":{limits},"exclude":[{}]}}"#, exclude.join(","));
    for dry_run in [true, false] {
        let body = format!(r#"{{"policy":{policy},"change":{{"dry_run":{dry_run}}}}}"#);
        let answer = served.post("/v1/contexts/main/commit", &body);
        assert_eq!((answer.status, answer.code().as_str()), (503, "E_DEADLINE"), "{answer:?}");
        wait_until_idle(&served);
    }
    let workspace = served.workspace.clone().with_context("main");
    let status = command::status(&workspace, &Control::default()).unwrap();
    assert_eq!(status.snapshots, 1, "nothing was committed");
}
