//! Tests logs that are imported while they grow: an end that is only tried changes nothing.

use contextree_engine::SnapshotAddress;
use contextree_import::{Format, ImportErrorKind, ImportOptions, Imported, Importer};
use contextree_json::lines;
use contextree_provider::{RenderOptions, render};

use crate::support::{assert_same, imported, parse, samples};

/// Returns the digests of all snapshots.
fn digests(imported: &Imported) -> Vec<String> {
    let history = imported.context.history();
    history.iter().map(|snapshot| snapshot.digest().to_string()).collect()
}

#[test]
fn trying_the_end_after_each_line_does_not_change_the_import() {
    for format in [Format::ClaudeCode, Format::Codex, Format::OpenAiChat] {
        let logs = samples(format).into_iter().filter(|(name, _)| name.ends_with(".jsonl"));
        for (name, text) in logs {
            let whole = imported(&text, format);
            let all = digests(&whole);
            let mut importer = Importer::new(format, ImportOptions::default());
            for (number, line) in lines(&text).enumerate() {
                importer.line(line).unwrap();
                let so_far = match importer.ended(b"") {
                    Ok(ended) => digests(&ended),
                    Err(error) if matches!(error.kind, ImportErrorKind::Empty { .. }) => continue,
                    Err(error) => panic!("{name}, line {}: {error}", number + 1),
                };
                assert_eq!(so_far, all[..so_far.len()], "{name}, line {}", number + 1);
            }
            let end = importer.finish().unwrap();
            assert_eq!(digests(&end), all, "{name}");
            assert_eq!(end.context.attempts(), whole.context.attempts(), "{name}");
            let export = |imported: &Imported| imported.context.export_working();
            assert!(export(&end) == export(&whole), "{name}: the working state");
        }
    }
}

#[test]
fn incomplete_last_line_is_a_finding_until_it_is_complete() {
    let [first, second] =
        [r#"{"role":"user","content":"a"}"#, r#"{"role":"assistant","content":"b"}"#];
    let mut importer = Importer::new(Format::OpenAiChat, ImportOptions::default());
    importer.line(first.as_bytes()).unwrap();
    let half = importer.ended(&second.as_bytes()[..12]).unwrap().report;
    assert_eq!((half.messages, half.findings.get("unfinished_line")), (1, Some(&1)));
    let whole = importer.ended(second.as_bytes()).unwrap().report;
    assert_eq!((whole.messages, whole.findings.len()), (2, 0), "without a line break");
    importer.line(second.as_bytes()).unwrap();
    assert_eq!(importer.finish().unwrap().report.messages, 2, "and it is imported once");
}

/// Checks that snapshot N of a log renders to its request N.
fn check_requests(format: Format, log: &[&str], requests: &[&str]) {
    let imported = imported(log.join("\n").as_bytes(), format);
    assert_eq!(imported.report.calls, requests.len() as u64);
    assert_eq!(imported.context.history().len(), requests.len());
    for (index, request) in requests.iter().enumerate() {
        let address = SnapshotAddress::Cycle(index as u64 + 1);
        let snapshot = imported.context.snapshot(address).unwrap();
        let sent = render(snapshot.view(), format.provider(), &RenderOptions::default()).unwrap();
        let what = format!("request {}", index + 1);
        assert_same(&sent.value(), &parse(request.as_bytes()), &what);
    }
}

#[test]
fn snapshot_has_the_system_text_tools_and_settings_of_its_own_request() {
    const TOOL: &str = r#"{"type":"function","function":{"name":"alpha","parameters":{}}}"#;
    const OTHER: &str = r#"{"type":"function","function":{"name":"beta","parameters":{}}}"#;
    let first = format!(
        r#"{{"model":"gpt-5","tools":[{TOOL}],"messages":[{{"role":"system","content":"It is 10:00"}},{{"role":"user","content":"Q1"}}]}}"#
    );
    let second = format!(
        r#"{{"model":"gpt-5-mini","temperature":0.5,"tools":[{OTHER},{TOOL}],"messages":[{{"role":"system","content":"It is 10:01"}},{{"role":"user","content":"Q1"}},{{"role":"assistant","content":"A1"}},{{"role":"user","content":"Q2"}}]}}"#
    );
    let answer = r#"{"role":"assistant","content":"A1"}"#;
    let response = r#"{"id":"r1","object":"chat.completion","model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":"A1","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}"#;
    let requests = [&*first, &*second];
    check_requests(Format::OpenAiChat, &[&first, answer, &second], &requests);
    check_requests(Format::OpenAiChat, &[&first, response, &second], &requests);
    let wrapped = format!(r#"{{"request":{first},"response":{response}}}"#);
    let last = format!(r#"{{"request":{second}}}"#);
    check_requests(Format::OpenAiChat, &[&wrapped, &last], &requests);
}

#[test]
fn importing_twice_gives_the_same_digests_and_uses_the_times_of_the_log() {
    let (name, text) = samples(Format::ClaudeCode).remove(0);
    let [first, second] = [&text, &text].map(|text| imported(text, Format::ClaudeCode));
    assert_eq!(digests(&first), digests(&second), "{name}");
    let stamp = first.context.newest().unwrap().view().root();
    let newest = stamp.subtree().map(|(_, node)| node.created_at_ns()).max().unwrap();
    assert!(newest > 1_700_000_000_000_000_000, "{newest} is not a time of the log");
}

#[test]
fn times_that_run_backwards_are_a_finding() {
    let line = |minute: u32, role: &str, text: &str| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:{minute:02}:00Z","role":"{role}","content":"{text}"}}"#
        )
    };
    let log = [line(5, "user", "a"), line(6, "assistant", "b"), line(1, "user", "c")].join("\n");
    let report = imported(log.as_bytes(), Format::OpenAiChat).report;
    assert_eq!(report.findings.get("time_backwards"), Some(&1));
}
