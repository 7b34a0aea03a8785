//! Side records: values that programs keep beside a history, written with the step they belong to.

use contextree::Code;
use contextree_app::catalog::Command;
use contextree_app::command::import::{ImportRequest, import};
use contextree_app::{Control, Error, Source, Workspace};
use contextree_json::{Value, parse};

fn workspace() -> Workspace {
    Workspace::over(contextree::open("memory:").expect("memory can be opened"), "memory:")
}

fn run(workspace: &Workspace, command: &str, request: &str) -> Result<Value, Error> {
    let command = Command::named(command).expect("it is in the catalog");
    let request = parse(request.as_bytes()).expect("it is JSON");
    command.run(workspace, request, &Control::default())
}

fn keys(response: &Value) -> Vec<&str> {
    let records = response.get("records").and_then(Value::as_array).unwrap_or_default();
    records.iter().filter_map(|record| record.get("key")?.as_str()).collect()
}

#[test]
fn a_step_adds_messages_commits_and_writes_records() -> Result<(), Error> {
    let workspace = workspace();
    let put = r#"{"create":true,"operations":[{"op":"add","node":{"role":"user","content":"Hello"}}],"commit":true,
        "records":[{"kind":"a.b","key":"k1","value":"AP8="},{"kind":"a.b","key":"k2","value":""}]}"#;
    let done = run(&workspace, "put", put)?;
    assert_eq!(done.get("head").and_then(|head| head.get("cycle")), Some(&1.into()));
    let read = run(&workspace, "records", r#"{"kind":"a.b"}"#)?;
    assert_eq!(keys(&read), ["k1", "k2"]);
    assert_eq!(read.get("revision"), done.get("revision"));
    let value = |index: usize| read.get("records")?.as_array()?.get(index)?.get("value")?.as_str();
    assert_eq!((value(0), value(1)), (Some("AP8="), Some("")));
    run(&workspace, "put", r#"{"records":[{"kind":"a.b","key":"k1","delete":true}]}"#)?;
    assert_eq!(keys(&run(&workspace, "records", r#"{"kind":"a.b","keys":["k2","k1"]}"#)?), ["k2"]);
    run(&workspace, "delete", r#"{"name":"main"}"#)?;
    run(&workspace, "put", r#"{"create":true}"#)?;
    assert!(keys(&run(&workspace, "records", r#"{"kind":"a.b"}"#)?).is_empty());
    Ok(())
}

#[test]
fn a_step_whose_expectation_fails_changes_nothing() -> Result<(), Error> {
    let workspace = workspace();
    let first =
        r#"{"create":true,"records":[{"kind":"a.b","key":"head","value":"MQ==","absent":true}]}"#;
    let done = run(&workspace, "put", first)?;
    let hello =
        r#""operations":[{"op":"add","node":{"role":"user","content":"Hello"}}],"commit":true"#;
    for condition in [
        r#""records":[{"kind":"a.b","key":"other","value":""},{"kind":"a.b","key":"head","value":"Mg==","expect":"OQ=="}]"#,
        r#""records":[{"kind":"a.b","key":"head","absent":true}]"#,
        r#""records":[{"kind":"a.b","key":"none","expect":""}]"#,
        r#""if_revision":7"#,
        r#""if_head":3"#,
    ] {
        let error = run(&workspace, "put", &format!("{{{hello},{condition}}}"));
        assert_eq!(error.map_err(|error| error.code()), Err(Code::Conflict), "{condition}");
    }
    let read = run(&workspace, "records", r#"{"kind":"a.b"}"#)?;
    assert_eq!((keys(&read), read.get("revision")), (vec!["head"], done.get("revision")));
    // Of several writers the first keeps its value.
    let keep = r#"{"records":[{"kind":"a.b","key":"head","value":"OQ==","keep":true}]}"#;
    run(&workspace, "put", keep)?;
    run(
        &workspace,
        "put",
        r#"{"records":[{"kind":"a.b","key":"head","value":"Mg==","expect":"MQ=="}]}"#,
    )?;
    Ok(())
}

#[test]
fn conditions_are_checked_before_operations() -> Result<(), Error> {
    let workspace = workspace();
    run(
        &workspace,
        "put",
        r#"{"create":true,"records":[{"kind":"a.b","key":"n","value":"MQ=="}]}"#,
    )?;
    let stale = r#"{"operations":[{"op":"remove","node":"gone"}],"records":[{"kind":"a.b","key":"n","value":"Mw==","expect":"Mg=="}]}"#;
    let error = run(&workspace, "put", stale);
    assert_eq!(
        error.map_err(|error| error.code()),
        Err(Code::Conflict),
        "a caller that is late must learn that, not that its operation is wrong"
    );
    Ok(())
}

#[test]
fn a_step_commits_the_turn_before_it_only_if_there_is_one() -> Result<(), Error> {
    let workspace = workspace();
    let next = r#"{"create":true,"commit_before":true,"operations":[{"op":"add","node":{"role":"user","content":"Hello"}}]}"#;
    let cycle = |done: &Value| done.get("head").and_then(|head| head.get("cycle")).cloned();
    let done = run(&workspace, "put", next)?;
    assert_eq!(cycle(&done), None, "a turn without a block is not a snapshot");
    let done = run(&workspace, "put", next)?;
    assert_eq!(cycle(&done), Some(1.into()));
    assert!(done.get("report_before").is_some() && done.get("report").is_none());
    let before = run(&workspace, "status", "{}")?;
    // A step that fails takes the commit back.
    let wrong = r#"{"commit_before":true,"operations":[{"op":"remove","node":"gone"}]}"#;
    assert!(run(&workspace, "put", wrong).is_err());
    assert_eq!(run(&workspace, "status", "{}")?, before);
    let done = run(&workspace, "put", r#"{"commit_before":true,"commit":true}"#)?;
    assert_eq!(cycle(&done), Some(3.into()), "`commit` commits a turn without a block, too");
    let clean = run(&workspace, "verify", "{}")?;
    assert_eq!(clean.get("clean"), Some(&Value::Bool(true)));
    Ok(())
}

#[test]
fn invalid_names_of_records_are_refused() {
    let workspace = workspace();
    let long = "x".repeat(2_000);
    for record in [
        r#"{"kind":"call","key":"x"}"#.to_owned(),
        r#"{"kind":"","key":"x"}"#.to_owned(),
        r#"{"kind":"a.b c","key":"x"}"#.to_owned(),
        r#"{"kind":"a.b","key":"x\u0000"}"#.to_owned(),
        format!(r#"{{"kind":"a.b","key":"{long}"}}"#),
        r#"{"kind":"a.b","key":"x","value":"","delete":true}"#.to_owned(),
        r#"{"kind":"a.b","key":"x","expect":"","absent":true}"#.to_owned(),
    ] {
        let error = run(&workspace, "put", &format!(r#"{{"create":true,"records":[{record}]}}"#));
        assert_eq!(error.map_err(|error| error.code()), Err(Code::Record), "{record}");
    }
    let error = run(&workspace, "put", r#"{"records":[{"kind":"a.b","key":"x","value":"?"}]}"#);
    assert_eq!(error.map_err(|error| error.code()), Err(Code::JsonShape));
}

/// A context with a snapshot, a turn in progress and side records.
const STEPS: [&str; 2] = [
    r#"{"create":true,"operations":[{"op":"add","node":{"role":"user","content":"Hello"}},
        {"op":"add","node":{"role":"tool","content":"A text","ttl":3}}],"commit":true,
        "records":[{"kind":"a.b","key":"k\u00fc/1","value":"AP8="},{"kind":"a.c","key":"","value":""}]}"#,
    r#"{"operations":[{"op":"add","node":{"role":"assistant","content":"Hi!","ttl":2,"data_x":[1,null]}}],
        "records":[{"kind":"a.b","key":"k2","value":"MQ=="}]}"#,
];

fn exported(workspace: &Workspace) -> Result<String, Error> {
    let done = run(workspace, "export", r#"{"what":"history"}"#)?;
    Ok(done.get("document").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn imported(document: &str) -> Result<Workspace, Error> {
    let workspace = workspace();
    let reader = Box::new(document.as_bytes());
    let source = Source { name: "history.jsonl".to_owned(), length: None, reader };
    import(&workspace, &ImportRequest::default(), source, &Control::default())?;
    Ok(workspace)
}

#[test]
fn an_exported_history_brings_records_and_the_turn_in_progress() -> Result<(), Error> {
    let first = workspace();
    for step in STEPS {
        run(&first, "put", step)?;
    }
    let document = exported(&first)?;
    assert_eq!(
        document.lines().count(),
        6,
        "a snapshot, the working state, three records, the end"
    );
    let second = imported(&document)?;
    assert_eq!(exported(&second)?, document);
    for (command, request) in [
        ("records", r#"{"kind":"a.b"}"#),
        ("records", r#"{"kind":"a.c"}"#),
        ("show", "{}"),
        ("thread", r#"{"at":"@","nodes":true}"#),
        ("export", r#"{"at":"@"}"#),
    ] {
        let [one, other] = [&first, &second].map(|workspace| run(workspace, command, request));
        let (one, other) = (one?, other?);
        for name in ["records", "nodes", "thread", "document"] {
            assert_eq!(one.get(name), other.get(name), "{command} {request}: {name}");
        }
    }
    // Both continue alike: ids and ttl count from the same place.
    let go_on = r#"{"operations":[{"op":"add","node":{"role":"user","content":"And now?"}}],"commit":true}"#;
    for _ in 0..3 {
        let [one, other] = [&first, &second].map(|workspace| run(workspace, "put", go_on));
        let (one, other) = (one?, other?);
        for name in ["cycle", "sealed", "expired"] {
            let told =
                |done: &Value| done.get("report").and_then(|report| report.get(name)).cloned();
            assert_eq!(told(&one), told(&other), "{name}");
        }
    }
    let thread = |workspace| run(workspace, "thread", "{}");
    assert_eq!(thread(&first)?, thread(&second)?);
    let clean = run(&second, "verify", "{}")?;
    assert_eq!(clean.get("clean"), Some(&Value::Bool(true)));
    Ok(())
}

#[test]
fn a_history_without_records_has_snapshots_and_an_end_only() -> Result<(), Error> {
    let workspace = workspace();
    run(&workspace, "put", r#"{"create":true,"commit":true}"#)?;
    run(
        &workspace,
        "put",
        r#"{"operations":[{"op":"add","node":{"role":"user","content":"x"}}]}"#,
    )?;
    assert_eq!(exported(&workspace)?.lines().count(), 2);
    Ok(())
}

#[test]
fn wrong_records_in_a_history_are_refused() -> Result<(), Error> {
    let first = workspace();
    for step in STEPS {
        run(&first, "put", step)?;
    }
    let document = exported(&first)?;
    let lines: Vec<&str> = document.lines().collect();
    let (end, sound) = lines.split_last().expect("it has lines");
    for wrong in [
        r#"{"record":{"kind":"a.b","key":"x"}}"#,
        r#"{"record":{"kind":"a.b","key":"x","value":"?"}}"#,
        r#"{"record":{"kind":"call","key":"x","value":""}}"#,
        r#"{"record":{"kind":"a.b","key":"x","value":"","more":""}}"#,
        r#"{"record":{"kind":"a.b","key":"x","value":""},"more":1}"#,
        r#"{"record":7}"#,
        // Nothing but records may follow.
        lines[1],
    ] {
        let text = format!("{document}{wrong}\n");
        assert!(imported(&text).is_err(), "{wrong}");
        // Also without an end that counts the lines.
        let text = [sound, &[wrong]].concat().join("\n").replace(r#""contextree:end":true,"#, "");
        assert!(imported(&text).is_err(), "{wrong}");
    }
    // A copy that was cut off between two lines, or has one more or less than it was written with.
    for kept in 0..sound.len() {
        assert!(imported(&sound[..kept].join("\n")).is_err(), "the first {kept} lines");
        let mut less = lines.clone();
        less.remove(kept);
        assert!(imported(&less.join("\n")).is_err(), "without line {kept}");
    }
    assert!(imported(&format!("{document}{end}\n")).is_err(), "a second end");
    imported(&document)?;
    Ok(())
}
