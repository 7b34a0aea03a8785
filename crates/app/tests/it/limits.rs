//! Selectors within the limits of a door: every command that evaluates one refuses what is too much work, and stops when it is canceled.

use std::time::Duration;

use contextree::Code;
use contextree_app::catalog::Command;
use contextree_app::{Cancel, Control, Error, Limits, Workspace};
use contextree_json::{Value, parse};

fn run(
    workspace: &Workspace,
    name: &str,
    request: &str,
    control: &Control<'_>,
) -> Result<Value, Error> {
    let request = parse(request.as_bytes()).expect("JSON");
    Command::named(name).expect("a command").run(workspace, request, control)
}

/// Returns a context with two commits and a turn in progress.
fn workspace() -> Workspace {
    let store = contextree::open("memory:").expect("memory can be opened");
    let workspace = Workspace::over(store, "memory:");
    let free = Control::default();
    for (name, request) in [
        ("new", "{}"),
        ("add", r#"{"node":{"role":"user","content":"one"}}"#),
        ("commit", "{}"),
        ("add", r#"{"node":{"role":"assistant","content":"two"}}"#),
        ("commit", "{}"),
        ("add", r#"{"node":{"role":"user","content":"three"}}"#),
    ] {
        run(&workspace, name, request, &free).expect(name);
    }
    workspace
}

/// A door that allows one step.
fn one_step() -> Control<'static> {
    Control::default().with_limits(Limits { selector_cost: Some(1), ..Limits::default() })
}

#[test]
fn every_command_that_takes_a_selector_keeps_to_the_limit_of_the_door() {
    let workspace = workspace();
    let before = run(&workspace, "export", r#"{"what":"history"}"#, &Control::default()).unwrap();
    let policy = r#"{"limits":[{"limit":"total","measure":"nodes","max":1}],"exclude":["* > *"]}"#;
    let removable = r#"{"limits":[],"removable":["* > *"]}"#;
    let budget = r#"{"max_tokens":1,"exclude":["* > *"]}"#;
    let budget = Value::from(budget).to_canonical();
    let budget = String::from_utf8(budget).unwrap();
    let cases = [
        ("select", r#"{"selector":"@* * > *"}"#.to_owned()),
        ("select", r#"{"selector":"* > *","max_steps":1000000}"#.to_owned()),
        ("show", r#"{"what":"* > *"}"#.to_owned()),
        ("show", r#"{"what":"@* * > *"}"#.to_owned()),
        ("rows", r#"{"where":"* > *"}"#.to_owned()),
        ("diff", r#"{"from":"@c1","to":"@c2","select":"* > *"}"#.to_owned()),
        ("edit", r#"{"target":"* > *","set":{"key":"k"}}"#.to_owned()),
        ("remove", r#"{"targets":["* > *"]}"#.to_owned()),
        ("move", r#"{"target":"* > *","place":{"parent":"^sys"}}"#.to_owned()),
        ("pin", r#"{"targets":["* > *"]}"#.to_owned()),
        ("unpin", r#"{"targets":["* > *"]}"#.to_owned()),
        ("redact", r#"{"target":"* > *","dry_run":true}"#.to_owned()),
        ("redact", r#"{"target":"@* * > *","dry_run":true}"#.to_owned()),
        ("commit", format!(r#"{{"policy":{policy}}}"#)),
        ("commit", format!(r#"{{"policy":{policy},"change":{{"dry_run":true}}}}"#)),
        ("commit", format!(r#"{{"policy":{removable}}}"#)),
        ("commit", format!(r#"{{"budget":{{"text":{budget}}}}}"#)),
        (
            "request",
            format!(
                r#"{{"provider":"anthropic","settings":{{"model":"m","max_tokens":9}},"budget":{{"text":{budget}}}}}"#
            ),
        ),
    ];
    for (name, request) in cases {
        let error = run(&workspace, name, &request, &one_step()).expect_err(&request);
        assert_eq!(error.code(), Code::Limit, "{name} {request}: {error}");
        assert_eq!(error.details().get("limit"), Some(&"steps".into()), "{name} {request}");
        assert!(!error.hints().is_empty(), "{name} {request}");
    }
    let after = run(&workspace, "export", r#"{"what":"history"}"#, &Control::default()).unwrap();
    assert_eq!(after, before, "nothing was changed");
}

#[test]
fn positions_keep_to_the_limit_of_the_door() {
    let workspace = workspace();
    let at = "(d0, cont[offset=0], end)";
    let add = format!(r#"{{"op":"add","at":"{at}","node":{{"content":"x"}}}}"#);
    let lines = String::from_utf8(Value::from(add.as_str()).to_canonical()).unwrap();
    let cases = [
        ("add", format!(r#"{{"node":{{"content":"x"}},"place":{{"at":"{at}"}}}}"#)),
        ("move", format!(r#"{{"target":"block:3.1","place":{{"at":"{at}"}}}}"#)),
        ("apply", format!(r#"{{"operations":{{"text":{lines}}}}}"#)),
        ("put", format!(r#"{{"operations":[{add}]}}"#)),
    ];
    for (name, request) in cases {
        let error = run(&workspace, name, &request, &one_step()).expect_err(&request);
        assert_eq!(error.code(), Code::Limit, "{name} {request}: {error}");
    }
}

#[test]
fn an_explanation_leaves_out_the_counts_that_are_too_much_work() {
    let workspace = workspace();
    let counts = |control: &Control<'_>| {
        let found = run(&workspace, "explain", r#"{"selector":"* > *"}"#, control).unwrap();
        let steps = found.get("explanation").and_then(|it| it.get("steps")?.as_array()).unwrap();
        steps.iter().filter(|step| step.get("matched").is_some()).count()
    };
    assert!(counts(&Control::default()) > 0);
    assert_eq!(counts(&one_step()), 0);
}

/// Returns a context whose commit evaluates sixty long selectors of a policy: seconds of work, for any machine.
fn slow_commit(workspace: &Workspace) -> String {
    let add = r#"{"op":"add","node":{"role":"user","content":"x"}}"#;
    let lines = Value::from(format!("{add}\n").repeat(3_000)).to_canonical();
    let lines = String::from_utf8(lines).expect("it is JSON");
    let request = format!(r#"{{"operations":{{"text":{lines}}}}}"#);
    run(workspace, "apply", &request, &Control::default()).expect("it is applied");
    let long = |first: usize| {
        let parts: Vec<_> =
            (0..800).map(|it| format!("* > *[offset>{}]", 900 + first + it)).collect();
        Value::from(parts.join(", "))
    };
    let exclude = Value::Array((0..60).map(long).collect()).to_canonical();
    let exclude = String::from_utf8(exclude).expect("it is JSON");
    format!(r#"{{"limits":[{{"limit":"total","measure":"nodes","max":1}}],"exclude":{exclude}}}"#)
}

#[test]
fn a_canceled_command_stops_evaluating_the_selectors_of_its_policy() {
    let workspace = workspace();
    let policy = slow_commit(&workspace);
    for dry_run in [true, false] {
        let request = format!(r#"{{"policy":{policy},"change":{{"dry_run":{dry_run}}}}}"#);
        let cancel = Cancel::default();
        let control = Control::default().with_cancel(cancel.clone());
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                cancel.cancel();
            });
            run(&workspace, "commit", &request, &control).expect_err("it was canceled")
        });
        assert_eq!(error.code(), Code::Canceled, "{error}");
    }
    let status = run(&workspace, "status", "{}", &Control::default()).unwrap();
    assert_eq!(status.get("snapshots"), Some(&2.into()), "nothing was committed");
}

/// Returns a control of a door that returns one entry at most.
fn one_result() -> Control<'static> {
    Control::default().with_limits(Limits { results: Some(1), ..Limits::default() })
}

#[test]
fn every_list_keeps_to_the_limit_of_the_door() {
    let workspace = workspace();
    let free = Control::default();
    for (name, request) in [
        ("new", r#"{"name":"second"}"#),
        ("attempt-start", r#"{"provider":"p","model":"m"}"#),
        ("attempt-end", r#"{"outcome":"canceled"}"#),
        ("attempt-start", r#"{"provider":"p","model":"m"}"#),
        ("attempt-end", r#"{"outcome":"canceled"}"#),
        (
            "put",
            r#"{"records":[{"kind":"a.b","key":"a","value":"MQ=="},{"kind":"a.b","key":"b","value":"Mg=="}]}"#,
        ),
    ] {
        run(&workspace, name, request, &free).expect(name);
    }
    for (name, request) in [
        ("contexts", "{}"),
        ("contexts", r#"{"limit":2}"#),
        ("operations", "{}"),
        ("operations", r#"{"limit":2}"#),
        ("attempts", "{}"),
        ("records", r#"{"kind":"a.b"}"#),
        ("records", r#"{"kind":"a.b","limit":2}"#),
        ("records", r#"{"kind":"a.b","keys":["a","b"]}"#),
        ("thread", r#"{"at":"@t0"}"#),
        ("export", r#"{"at":"@t0"}"#),
        ("export", r#"{"what":"history"}"#),
        ("export", r#"{"what":"salvage"}"#),
        ("diff", r#"{"from":"@c1","to":"@"}"#),
        ("cache", r#"{"format":"anthropic"}"#),
    ] {
        let error = run(&workspace, name, request, &one_result()).expect_err(request);
        assert_eq!(error.code(), Code::ResultLimit, "{name} {request}: {error}");
    }
    // Pages within the limit, and pages of that length for those who name none and are told what was left out.
    for (name, request, list) in [
        ("contexts", r#"{"limit":1}"#, "contexts"),
        ("contexts", r#"{"limit":9,"after":"main"}"#, "contexts"),
        ("operations", r#"{"limit":1}"#, "operations"),
        ("records", r#"{"kind":"a.b","limit":1}"#, "records"),
        ("records", r#"{"kind":"a.b","keys":["a"]}"#, "records"),
        ("log", "{}", "entries"),
    ] {
        let page = run(&workspace, name, request, &one_result()).expect(request);
        let length = page.get(list).and_then(Value::as_array).map(<[Value]>::len);
        assert_eq!(length, Some(1), "{name} {request}");
    }
    for name in ["log", "timeline"] {
        for request in ["{}", r#"{"limit":2}"#] {
            let page = run(&workspace, name, request, &one_result()).expect(name);
            assert_eq!(page.get("left_out"), Some(&1.into()), "{name} {request}: {page:?}");
        }
    }
}

#[test]
fn commands_that_load_many_snapshots_can_be_canceled_before_they_have_them() {
    let workspace = workspace();
    let cancel = Cancel::default();
    cancel.cancel();
    for (name, request) in
        [("log", "{}"), ("timeline", "{}"), ("cache", r#"{"format":"anthropic"}"#)]
    {
        let control = Control::default().with_cancel(cancel.clone());
        let error = run(&workspace, name, request, &control).expect_err(name);
        assert_eq!(error.code(), Code::Canceled, "{name}: {error}");
    }
}
