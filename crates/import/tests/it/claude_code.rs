//! Tests Claude Code sessions: the conversation does not depend on the order of entries in the
//! file.

use contextree_import::{Format, ImportOptions, Imported, Importer};
use contextree_provider::{Provider, RenderOptions, render};

use crate::said::said;
use crate::support::{imported, rendered};

/// Returns an entry: `uuid<parent`, then its message. With `*` as the parent there is no field,
/// without one it is `null`.
fn entry(link: &str, kind: &str, more: &str, message: &str) -> String {
    let (uuid, parent) = link.split_once('<').unwrap();
    let parent = match parent {
        "*" => String::new(),
        "" => r#""parentUuid":null,"#.to_owned(),
        parent => format!(r#""parentUuid":"{parent}","#),
    };
    format!(
        r#"{{{parent}"uuid":"{uuid}","type":"{kind}","sessionId":"s"{more},"message":{message}}}"#
    )
}

fn user(link: &str, text: &str) -> String {
    entry(link, "user", "", &format!(r#"{{"role":"user","content":"{text}"}}"#))
}

fn answer(link: &str, id: &str, content: &str) -> String {
    let message =
        format!(r#"{{"id":"{id}","model":"m-1","role":"assistant","content":[{content}]}}"#);
    entry(link, "assistant", "", &message)
}

fn text(link: &str, text: &str) -> String {
    answer(link, &format!("msg_{link}"), &format!(r#"{{"type":"text","text":"{text}"}}"#))
}

fn call(link: &str, id: &str, call: &str) -> String {
    answer(link, id, &format!(r#"{{"type":"tool_use","id":"{call}","name":"f","input":{{}}}}"#))
}

fn result(link: &str, call: &str, said: &str) -> String {
    let content = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"{said}"}}"#);
    entry(link, "user", "", &format!(r#"{{"role":"user","content":[{content}]}}"#))
}

fn check(log: &[String], expected: &[&str]) -> Imported {
    let imported = imported(log.join("\n").as_bytes(), Format::ClaudeCode);
    assert_eq!(said(&imported), expected);
    imported
}

fn skipped(imported: &Imported) -> Vec<(&str, u64)> {
    imported.report.skipped.iter().map(|(name, count)| (&**name, *count)).collect()
}

#[test]
fn entries_follow_their_parents_not_each_other() {
    let log = [user("u1<", "Q1"), user("u2<a1", "Q2"), text("a1<u1", "A1"), text("a2<u2", "A2")];
    check(&log, &["user: Q1", "assistant: A1", "user: Q2", "assistant: A2"]);
    // The last entry of the file is not the last of the conversation.
    let log = [user("u1<", "Q1"), user("u2<a1", "Q2"), text("a1<u1", "A1")];
    check(&log, &["user: Q1", "assistant: A1", "user: Q2"]);
    let circle = [user("u1<u2", "Q1"), user("u2<u1", "Q2")];
    check(&circle, &["user: Q1", "user: Q2"]);
}

#[test]
fn parallel_calls_are_merged_across_branches() {
    let expected = [
        "user: Q",
        "assistant: Both. [t1 f {}] [t2 f {}]",
        "tool t1: one",
        "tool t2: two",
        "assistant: Done.",
    ];
    let both = answer("a1<u1", "m1", r#"{"type":"text","text":"Both."}"#);
    let (first, second) = (call("a2<a1", "m1", "t1"), call("a3<a2", "m1", "t2"));
    let (one, two) = (result("r1<a2", "t1", "one"), result("r2<a3", "t2", "two"));
    let (q, done) = (user("u1<", "Q"), |parent: &str| text(&format!("a4<{parent}"), "Done."));
    let copy = |line: &String| line.clone();
    // The first result was written before the second call.
    let log = [&q, &both, &first, &one, &second, &two, &done("r2")].map(copy);
    check(&log, &expected);
    // The conversation continues after the first result.
    let log = [&q, &both, &first, &second, &one, &two, &done("r1")].map(copy);
    check(&log, &expected);
    // All entries are on one branch.
    let second = call("a3<r1", "m1", "t2");
    let log = [&q, &both, &first, &one, &second, &two, &done("r2")].map(copy);
    check(&log, &expected);
}

#[test]
fn repeated_entry_is_imported_once() {
    let first = [user("u1<", "Q1"), call("a1<u1", "m1", "t1"), result("r1<a1", "t1", "one")];
    let mut log = first.to_vec();
    log.extend(first);
    log.extend([text("a2<r1", "A1"), user("u2<a2", "Q2")]);
    let expected =
        ["user: Q1", "assistant: [t1 f {}]", "tool t1: one", "assistant: A1", "user: Q2"];
    let imported = check(&log, &expected);
    assert_eq!(skipped(&imported), [], "a repeated entry is not another branch");
}

#[test]
fn subagent_log_is_a_conversation_only_on_its_own() {
    let aside = |line: String| line.replacen('{', r#"{"isSidechain":true,"#, 1);
    let sub = [aside(user("s1<", "Explore")), aside(text("s2<s1", "Found"))];
    check(&sub, &["user: Explore", "assistant: Found"]);
    let mut log = vec![user("u1<", "Q"), text("a1<u1", "A")];
    log.extend(sub);
    let imported = check(&log, &["user: Q", "assistant: A"]);
    assert_eq!(skipped(&imported), [("sidechain", 2)]);
}

fn compacted(kept: &str, next: &str) -> Vec<String> {
    let metadata = format!(r#","subtype":"compact_boundary","compactMetadata":{{{kept}}}"#);
    let boundary = entry("b<", "system", &metadata, "null");
    vec![
        user("u1<", "Old Q"),
        text("a1<u1", "Old A"),
        user("u2<a1", "Kept Q"),
        text("a2<u2", "Kept A"),
        boundary,
        user("s<b", "Summary"),
        user(&format!("u3<{next}"), "New Q"),
    ]
}

#[test]
fn entries_kept_by_a_compaction_follow_the_summary() {
    let list = r#""preservedMessages":{"anchorUuid":"s","uuids":["u2","a2"]}"#;
    let segment = r#""preservedSegment":{"headUuid":"u2","anchorUuid":"s","tailUuid":"a2"}"#;
    let snake = r#""preserved_messages":{"anchor_uuid":"s","uuids":["u2","a2"]}"#;
    for (kept, next) in [(list, "s"), (list, "a2"), (segment, "s"), (segment, "a2"), (snake, "s")] {
        let mut log = compacted(kept, next);
        check(&log, &["user: Summary", "user: Kept Q", "assistant: Kept A", "user: New Q"]);
        // Also if nothing follows the compaction.
        log.pop();
        check(&log, &["user: Summary", "user: Kept Q", "assistant: Kept A"]);
    }
    check(&compacted("", "s"), &["user: Summary", "user: New Q"]);
    let unknown = r#""preservedSegment":{"headUuid":"x","anchorUuid":"s","tailUuid":"y"}"#;
    check(&compacted(unknown, "s"), &["user: Summary", "user: New Q"]);
}

#[test]
fn program_errors_are_not_answers_of_the_model() {
    let error = text("x1<u1", "overloaded").replacen('{', r#"{"isApiErrorMessage":true,"#, 1);
    let made = text("x2<u2", "No response.").replace("m-1", "<synthetic>");
    let log = [user("u1<", "Q1"), error, user("u2<x1", "Q2"), made, user("u3<x2", "Q3")];
    let imported = check(&log, &["user: Q1", "user: Q2", "user: Q3"]);
    assert_eq!(skipped(&imported), [("api_error", 1), ("synthetic", 1)]);
    let log = [user("u1<", "Q1"), answer("a1<u1", "m1", ""), user("u2<a1", "Q2")];
    let imported = check(&log, &["user: Q1", "user: Q2"]);
    assert_eq!(skipped(&imported), [("empty", 1)]);
}

#[test]
fn stream_without_parents_keeps_its_order() {
    let sub = user("x<*", "Sub").replacen('{', r#"{"parent_tool_use_id":"t1","#, 1);
    let log = [
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m-1","uuid":"i"}"#
            .to_owned(),
        user("u1<*", "Q"),
        call("a1<*", "m1", "t1"),
        sub,
        result("r1<*", "t1", "one"),
        text("a2<*", "A"),
        r#"{"type":"result","subtype":"success","uuid":"z","session_id":"s"}"#.to_owned(),
    ];
    let expected = ["user: Q", "assistant: [t1 f {}]", "tool t1: one", "assistant: A"];
    let imported = check(&log, &expected);
    assert_eq!(skipped(&imported), [("result", 1), ("sidechain", 1), ("system", 1)]);
}

#[test]
fn settings_name_the_model_of_the_last_answer() {
    let second = text("a2<u2", "A2").replace("m-1", "m-2");
    let log = [user("u1<", "Q1"), text("a1<u1", "A1"), user("u2<a1", "Q2"), second];
    let imported = imported(log.join("\n").as_bytes(), Format::ClaudeCode);
    let request = rendered(&imported, Provider::Anthropic).value();
    assert_eq!(request.get("model").unwrap().as_str(), Some("m-2"));
    let first = imported.context.history().get(0).unwrap();
    let before = render(first.view(), Provider::Anthropic, &RenderOptions::default());
    assert_eq!(before.unwrap().value().get("model").unwrap().as_str(), Some("m-1"));
}

#[test]
fn bad_list_adds_nothing() {
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let mut importer = Importer::new(Format::ClaudeCode, options);
    let bad = format!(r#"[{},{}]"#, user("u1<", "Bad"), entry("u2<u1", "user", "", "{}"));
    importer.line(bad.as_bytes()).unwrap();
    importer.line(user("u3<", "Q").as_bytes()).unwrap();
    let imported = importer.finish().unwrap();
    assert_eq!(imported.report.errors.len(), 1);
    assert_eq!(said(&imported), ["user: Q"]);
}

/// Returns everything that the history has, snapshot by snapshot.
fn history(imported: &Imported) -> String {
    String::from_utf8(imported.context.export_history()).unwrap()
}

#[test]
fn entry_with_a_missing_parent_continues_the_line_before_it() {
    let log = [
        user("u1<", "Q1"),
        text("a1<u1", "A1"),
        user("u2<never-written", "Q2"),
        text("a2<u2", "A2"),
    ];
    let imported = check(&log, &["user: Q1", "assistant: A1", "user: Q2", "assistant: A2"]);
    assert_eq!(imported.report.findings.get("missing_parent"), Some(&1));
    assert_eq!(imported.report.calls, 2);
}

#[test]
fn prompt_typed_meanwhile_is_a_user_message() {
    let queued = r#"{"parentUuid":"r1","uuid":"q1","type":"attachment","sessionId":"s","attachment":{"type":"queued_command","prompt":"And hurry.","commandMode":"prompt"}}"#;
    let file = r#"{"parentUuid":"q1","uuid":"f1","type":"attachment","sessionId":"s","attachment":{"type":"edited_text_file","filename":"a.rs","snippet":"1 fn main"}}"#;
    let log = [
        user("u1<", "Q1"),
        call("a1<u1", "m1", "c1"),
        result("r1<a1", "c1", "done"),
        queued.to_owned(),
        file.to_owned(),
        text("a2<f1", "A2"),
    ];
    let imported = imported(log.join("\n").as_bytes(), Format::ClaudeCode);
    let said = said(&imported).join("\n");
    assert!(said.contains("user: And hurry."), "{said}");
    assert!(said.contains("a.rs\n1 fn main"), "{said}");
    let before = said.find("And hurry.").unwrap();
    assert!(before < said.find("assistant: A2").unwrap(), "the answer follows it: {said}");
}

#[test]
fn what_precedes_a_compaction_or_clear_stays_in_the_history() {
    let boundary = r#"{"parentUuid":null,"uuid":"b1","type":"system","subtype":"compact_boundary","sessionId":"s"}"#;
    let summary = entry(
        "s1<b1",
        "user",
        r#","isCompactSummary":true"#,
        r#"{"role":"user","content":"Summary."}"#,
    );
    let old = [user("u1<", "Q1"), call("a1<u1", "m1", "c1"), result("r1<a1", "c1", "old result")];
    let next = |first: &str| [user(&format!("u2<{first}"), "Q2"), text("a2<u2", "A2")];
    let mut log = old.to_vec();
    log.extend([text("a9<r1", "A1"), boundary.to_owned(), summary]);
    log.extend(next("s1"));
    let compacted = check(&log, &["user: Summary.", "user: Q2", "assistant: A2"]);
    assert_eq!(compacted.report.findings.get("compaction"), Some(&1));
    let mut log = old.to_vec();
    log.push(text("a9<r1", "A1"));
    log.extend(next(""));
    let cleared = check(&log, &["user: Q2", "assistant: A2"]);
    assert_eq!(cleared.report.findings.get("cleared"), Some(&1));
    for imported in [compacted, cleared] {
        let history = history(&imported);
        for text in ["Q1", "old result", "A1"] {
            assert!(history.contains(text), "{text} was committed before it was dropped");
        }
        assert_eq!(imported.report.calls, 3);
    }
}

#[test]
fn prompt_that_was_replaced_before_its_answer_stays_in_the_history() {
    // At the beginning, after an answer, and with a message of the program after it.
    let log = [
        user("u1<", "QX1"),
        user("u2<", "Q1"),
        text("a1<u2", "A1"),
        user("u3<a1", "QX2"),
        user("u4<u3", "bye"),
        user("u5<a1", "Q2"),
        text("a2<u5", "A2"),
    ];
    let imported = check(&log, &["user: Q1", "assistant: A1", "user: Q2", "assistant: A2"]);
    let all = history(&imported);
    assert!(all.contains("QX1") && all.contains("QX2") && all.contains("bye"), "{all}");
    assert!(skipped(&imported).is_empty(), "nothing is left over");
    assert_eq!(imported.report.calls, 2);
    // Two prompts that follow each other are both sent.
    let log = [user("u1<", "Q1"), user("u2<u1", "Q2"), text("a1<u2", "A1")];
    let imported = check(&log, &["user: Q1", "user: Q2", "assistant: A1"]);
    assert_eq!(imported.report.commits, 1);
}

#[test]
fn attempt_has_the_usage_and_ids_of_the_answer() {
    let log = [
        user("u1<", "Q1"),
        entry(
            "a1<u1",
            "assistant",
            r#","requestId":"req_1","timestamp":"2026-11-01T10:00:05Z""#,
            r#"{"id":"msg_1","model":"m-2","role":"assistant","content":[{"type":"text","text":"A1"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":5,"output_tokens":7}}"#,
        ),
    ];
    let imported = check(&log, &["user: Q1", "assistant: A1"]);
    let [attempt] = imported.context.attempts() else { panic!("one call is one attempt") };
    assert_eq!((attempt.token_in, attempt.token_out), (Some(48), Some(7)));
    let response = attempt.response.as_ref().unwrap();
    assert_eq!((response.cache_read, response.cache_write), (Some(40), Some(5)));
    assert_eq!(response.request_id.as_deref(), Some("req_1"));
    assert_eq!(attempt.model, "m-2");
}

/// Returns the setting `thinking` of each call, as it was sent.
fn thinking(imported: &Imported) -> Vec<Option<String>> {
    let attempts = imported.context.attempts().iter();
    attempts
        .map(|attempt| {
            let options = &attempt.request.as_ref().unwrap().options;
            let (_, options) = RenderOptions::from_text(options).unwrap();
            let setting = options.settings.get("thinking")?;
            Some(String::from_utf8(setting.to_canonical()).unwrap())
        })
        .collect()
}

#[test]
fn calls_think_as_their_prompt_asks_or_their_answer_shows() {
    let prompt = |link: &str, metadata: &str| {
        let more = format!(r#","thinkingMetadata":{metadata}"#);
        entry(link, "user", &more, r#"{"role":"user","content":"Q"}"#)
    };
    let thought = |link: &str, id: &str| {
        answer(link, id, r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#)
    };
    let log = [
        prompt("u1<", r#"{"maxThinkingTokens":9000}"#),
        call("a1<u1", "m1", "t1"),
        // The results of tools change nothing; the text of a skill turns it off.
        result("r1<a1", "t1", "one"),
        call("a2<r1", "m2", "t2"),
        result("r2<a2", "t2", "two"),
        entry("k1<r2", "user", r#","isMeta":true"#, r#"{"role":"user","content":"A skill."}"#),
        text("a3<k1", "A3"),
        user("u2<a3", "/command"),
        thought("a4<u2", "m4"),
        prompt("u3<a4", r#"{"level":"none","disabled":false,"triggers":[]}"#),
        text("a5<u3", "A5"),
        prompt("u4<a5", r#"{"level":"high","disabled":false,"triggers":[]}"#),
        text("a6<u4", "A6"),
    ];
    let imported = imported(log.join("\n").as_bytes(), Format::ClaudeCode);
    let on = || Some(r#"{"budget_tokens":9000,"type":"enabled"}"#.to_owned());
    let unbounded = Some(r#"{"type":"enabled"}"#.to_owned());
    assert_eq!(thinking(&imported), [on(), on(), None, on(), None, unbounded]);
    // The tree has no settings that a later request would have to repeat.
    assert!(!rendered(&imported, Provider::Anthropic).text().contains("budget_tokens"));
    // Without such data nothing is assumed.
    let log = [user("u1<", "Q1"), thought("a1<u1", "m1"), user("u2<a1", "Q2"), text("a2<u2", "A")];
    let silent = check(&log, &["user: Q1", "user: Q2", "assistant: A"]);
    assert_eq!(thinking(&silent), [None, None]);
}

#[test]
fn answer_without_an_id_is_a_call() {
    let said = |link: &str, content: &str| {
        let message = format!(r#"{{"model":"m-1","role":"assistant","content":[{content}]}}"#);
        entry(link, "assistant", "", &message)
    };
    let words = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let log = [
        user("u1<", "Q1"),
        said("a1<u1", &words("One moment.")),
        said("a2<a1", r#"{"type":"tool_use","id":"t1","name":"f","input":{}}"#),
        result("r1<a2", "t1", "one"),
        said("a3<r1", &words("Done.")),
        user("u2<a3", "Q2"),
        said("a4<u2", &words("Bye.")),
    ];
    let imported = check(
        &log,
        &[
            "user: Q1",
            "assistant: One moment. [t1 f {}]",
            "tool t1: one",
            "assistant: Done.",
            "user: Q2",
            "assistant: Bye.",
        ],
    );
    assert_eq!(imported.report.calls, 3);
}

#[test]
fn times_that_run_backwards_are_reported() {
    let at = |link: &str, kind: &str, second: u32, message: &str| {
        entry(link, kind, &format!(r#","timestamp":"2026-03-01T10:00:{second:02}Z""#), message)
    };
    let asked = r#"{"role":"user","content":"Q"}"#;
    let said = |id: u32| {
        format!(
            r#"{{"id":"m{id}","model":"m-1","role":"assistant","content":[{{"type":"text","text":"A"}}]}}"#
        )
    };
    let log = [
        at("u1<", "user", 10, asked),
        at("a1<u1", "assistant", 12, &said(1)),
        at("u2<a1", "user", 5, asked),
        at("a2<u2", "assistant", 13, &said(2)),
    ];
    let imported = check(&log, &["user: Q", "assistant: A", "user: Q", "assistant: A"]);
    assert_eq!(imported.report.findings["time_backwards"], 1);
}

#[test]
fn results_that_a_microcompaction_cleared_are_placeholders_in_the_requests_after_it() {
    let boundary = r#"{"parentUuid":"r2","uuid":"b1","type":"system","subtype":"microcompact_boundary","sessionId":"s","microcompactMetadata":{"compactedToolIds":["t1"]}}"#;
    let log = [
        user("u1<", "Q"),
        call("a1<u1", "m1", "t1"),
        result("r1<a1", "t1", "a very long result"),
        call("a2<r1", "m2", "t2"),
        result("r2<a2", "t2", "another"),
        boundary.to_owned(),
        text("a3<b1", "Done."),
        user("u2<a3", "Q2"),
        text("a4<u2", "Yes."),
    ];
    let imported = check(
        &log,
        &[
            "user: Q",
            "assistant: [t1 f {}]",
            "tool t1: [Old tool result content cleared]",
            "assistant: [t2 f {}]",
            "tool t2: another",
            "assistant: Done.",
            "user: Q2",
            "assistant: Yes.",
        ],
    );
    assert_eq!(imported.report.findings.get("results_cleared"), Some(&1));
    let texts: Vec<bool> = imported
        .context
        .history()
        .iter()
        .map(|snapshot| {
            let sent =
                render(snapshot.view(), Provider::Anthropic, &RenderOptions::default()).unwrap();
            sent.text().contains("a very long result")
        })
        .collect();
    assert_eq!(texts, [false, true, false, false], "the request before the boundary had it");
}

#[test]
fn cleared_results_are_dropped_with_the_rest_by_a_compaction() {
    let boundary = r#"{"parentUuid":"r1","uuid":"b1","type":"system","subtype":"microcompact_boundary","sessionId":"s","microcompactMetadata":{"compactedToolIds":["t1"]}}"#;
    let log = [
        user("u1<", "Q"),
        call("a1<u1", "m1", "t1"),
        result("r1<a1", "t1", "a very long result"),
        boundary.to_owned(),
        text("a2<b1", "Done."),
        user("u2<", "Anew"),
        text("a3<u2", "Yes."),
    ];
    check(&log, &["user: Anew", "assistant: Yes."]);
}

#[test]
fn answers_with_the_same_id_are_apart_if_the_user_spoke_in_between() {
    let said = |link: &str, text: &str| {
        answer(link, "always", &format!(r#"{{"type":"text","text":"{text}"}}"#))
    };
    let log = [
        user("u1<", "Q1"),
        said("a1<u1", "A1"),
        user("u2<a1", "Q2"),
        said("a2<u2", "A2"),
        user("u3<a2", "Q3"),
        said("a3<u3", "A3"),
    ];
    let expected =
        ["user: Q1", "assistant: A1", "user: Q2", "assistant: A2", "user: Q3", "assistant: A3"];
    assert_eq!(check(&log, &expected).report.calls, 3);
}

#[test]
fn session_that_repeats_another_under_other_ids_adds_nothing_of_it() {
    let at = |second: u32, session: &str, line: String| {
        let time = format!(r#"{{"timestamp":"2026-03-01T10:00:{second:02}Z","#);
        line.replacen('{', &time, 1).replace(r#""sessionId":"s""#, session)
    };
    let (one, two) = (r#""sessionId":"one""#, r#""sessionId":"two""#);
    let log = [
        at(0, one, user("u1<", "Q1")),
        at(1, one, answer("a1<u1", "m1", r#"{"type":"text","text":"A1"}"#)),
        at(0, two, user("v1<", "Q1")),
        at(1, two, answer("b1<v1", "m1", r#"{"type":"text","text":"A1"}"#)),
        at(2, two, user("v2<b1", "Q2")),
        at(3, two, answer("b2<v2", "m2", r#"{"type":"text","text":"A2"}"#)),
    ];
    let imported = check(&log, &["user: Q1", "assistant: A1", "user: Q2", "assistant: A2"]);
    assert_eq!(imported.report.calls, 2);
    assert!(!imported.report.findings.contains_key("cleared"), "it continues the other session");
}

#[test]
fn zero_bytes_after_the_last_line_are_not_content() {
    let mut log = [user("u1<", "Q1"), text("a1<u1", "A1")].join("\n").into_bytes();
    for tail in [&b"\0\0\0\0"[..], b"\n\0\0\0"] {
        log.extend_from_slice(tail);
        let found = imported(&log, Format::ClaudeCode);
        assert_eq!(said(&found), ["user: Q1", "assistant: A1"]);
    }
}
