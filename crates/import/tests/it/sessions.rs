//! Tests sessions of pi and Gemini CLI, which can turn back and be compacted.

use contextree_engine::{AttemptStatus, SnapshotAddress};
use contextree_import::{Format, Imported};
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions, render};

use crate::said::said;
use crate::support::{imported, rendered, samples};

fn sample(format: Format) -> Imported {
    let imported = imported(&samples(format)[0].1, Format::Auto);
    assert_eq!(imported.report.format, Some(format));
    imported
}

/// Returns the texts of the messages that a call sent.
fn sent(imported: &Imported, cycle: u64) -> String {
    let snapshot = imported.context.snapshot(SnapshotAddress::Cycle(cycle)).unwrap();
    render(snapshot.view(), Provider::OpenAiChat, &RenderOptions::default())
        .unwrap()
        .text()
        .to_owned()
}

fn message(id: &str, parent: &str, body: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T09:00:00Z","message":{body}}}"#
    )
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}","timestamp":1772355601000}}"#)
}

fn answer(text: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"api":"openai-completions","model":"m","usage":{{"input":1,"output":1}},"stopReason":"stop"}}"#
    )
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T09:00:00Z","cwd":"/"}"#;

#[test]
fn pi_session_has_a_cycle_for_each_answered_call() {
    let imported = sample(Format::Pi);
    let attempts = imported.context.attempts();
    assert_eq!((imported.report.calls, imported.report.commits), (4, 4));
    let billed: Vec<_> = attempts.iter().map(|it| (it.token_in, it.token_out)).collect();
    assert_eq!(billed[0], (Some(1000), Some(40)));
    assert_eq!(billed[3], (Some(1067), Some(3)));
    assert_eq!(attempts[0].model, "claude-opus-4-5");
    assert_eq!(attempts[0].started_at, 1_772_355_601_200_000_000);
    let expected = [
        "user: What is in a.txt and b.txt?",
        "assistant: Let me look. [toolu_1 read {\"path\":\"a.txt\"}] [toolu_2 read {\"path\":\"b.txt\"}]",
        "tool toolu_1: apple",
        "tool toolu_2: no such file",
        "assistant: An apple; b.txt is missing.",
        "user: Write b.txt.",
        "assistant: Done.",
    ];
    assert_eq!(said(&imported), expected, "the user went back before the command");
    let request = rendered(&imported, Provider::Anthropic).value();
    let messages = request.get("messages").and_then(Value::as_array).unwrap();
    let results = messages[2].get("content").and_then(Value::as_array).unwrap();
    assert_eq!(results.len(), 2, "results of parallel calls are one message");
    assert_eq!(imported.report.findings["rewound"], 1);
}

#[test]
fn aborted_answer_of_pi_stays_with_its_attempt() {
    let imported = sample(Format::Pi);
    let aborted = &imported.context.attempts()[2];
    assert_eq!(aborted.status, AttemptStatus::Canceled);
    let kept = format!("{:?}", aborted.answer);
    assert!(kept.contains("I will del"), "{kept}");
    let all = |cycle| sent(&imported, cycle);
    assert!((1..=4).all(|cycle| !all(cycle).contains("I will del")), "pi never sends it again");
    // The branch that was left was never answered; the history has it.
    assert!(all(3).contains("Ran `ls`") && all(3).contains("Delete it."));
}

#[test]
fn compaction_of_pi_puts_its_summary_before_what_it_kept() {
    for kept in [r#""firstKeptEntryId":"c""#, r#""firstKeptEntryIndex":3"#] {
        let lines = [
            HEADER.to_owned(),
            message("a", "null", &user("one")),
            message("b", "\"a\"", &answer("first")),
            message("c", "\"b\"", &user("two")),
            message("d", "\"c\"", &answer("second")),
            format!(
                r#"{{"type":"compaction","id":"e","parentId":"d","timestamp":"2026-03-01T09:00:00Z","summary":"SUM",{kept},"tokensBefore":9}}"#
            ),
            message("f", "\"e\"", &user("three")),
            message("g", "\"f\"", &answer("third")),
        ];
        let imported = imported(lines.join("\n").as_bytes(), Format::Auto);
        let expected =
            ["user: SUM", "user: two", "assistant: second", "user: three", "assistant: third"];
        assert_eq!(said(&imported), expected);
        assert_eq!((imported.report.calls, imported.report.commits), (3, 3));
        assert!(sent(&imported, 2).contains("first"), "the history has what was summarized");
        assert!(!sent(&imported, 3).contains("first") && sent(&imported, 3).contains("SUM"));
    }
}

#[test]
fn pi_branch_that_returns_is_seen_again() {
    let lines = [
        HEADER.to_owned(),
        message("a", "null", &user("one")),
        message("b", "\"a\"", &answer("first")),
        message("c", "\"b\"", &user("two")),
        message("d", "\"c\"", &answer("second")),
        message("e", "\"b\"", &user("other")),
        message("f", "\"e\"", &answer("aside")),
        message("g", "\"d\"", &user("three")),
        message("h", "\"g\"", &answer("third")),
        message("i", "\"lost\"", &user("four")),
    ];
    let imported = imported(lines.join("\n").as_bytes(), Format::Auto);
    let expected = [
        "user: one",
        "assistant: first",
        "user: two",
        "assistant: second",
        "user: three",
        "assistant: third",
        "user: four",
    ];
    assert_eq!(said(&imported), expected);
    assert_eq!(imported.report.calls, 4);
    assert_eq!(imported.report.findings["missing_parent"], 1);
    let history: Vec<String> =
        (1..=imported.report.commits).map(|cycle| sent(&imported, cycle)).collect();
    assert!(history.iter().any(|sent| sent.contains("aside")), "what no call sent is committed");
}

#[test]
fn gemini_cli_session_has_a_cycle_for_each_answer() {
    let imported = sample(Format::GeminiCli);
    let expected = [
        "user: add text to notes.txt",
        "assistant: Which text?",
        "user: how are you",
        "assistant: [read_file-1 read_file {\"file_path\":\"notes.txt\"}]",
        "tool read_file-1: {\"output\":\"hello\"}",
        "assistant: I have added the text.",
    ];
    assert_eq!(said(&imported), expected);
    assert_eq!((imported.report.calls, imported.report.commits), (3, 3));
    assert_eq!(imported.report.skipped["info"], 1);
    let first = &imported.context.attempts()[0];
    assert_eq!((first.token_in, first.token_out), (Some(12_874), Some(49)));
    assert_eq!(first.model, "gemini-2.5-flash");
    let nodes = imported.context.working().nodes().map(|(_, node)| node);
    let thought = nodes.filter(|node| node.kind() == Some("reasoning")).collect::<Vec<_>>();
    assert_eq!(thought[0].content().as_text(), Some("**Asking**\nThe text is missing."));
}

/// A session as newer versions write it: a record is written again when something is added to it.
const LINES: [&str; 6] = [
    r#"{"sessionId":"s","projectHash":"p","startTime":"2026-05-01T10:00:00Z","lastUpdated":"2026-05-01T10:00:00Z","kind":"main"}"#,
    r#"{"id":"u1","timestamp":"2026-05-01T10:00:00Z","type":"user","content":[{"text":"Look."}]}"#,
    r#"{"$set":{"lastUpdated":"2026-05-01T10:00:01Z"}}"#,
    r#"{"id":"g1","timestamp":"2026-05-01T10:00:02Z","type":"gemini","content":"I look.","thoughts":[],"tokens":null,"model":"m"}"#,
    r#"{"id":"g1","timestamp":"2026-05-01T10:00:02Z","type":"gemini","content":"I look.","thoughts":[],"tokens":{"input":9,"output":2,"cached":0,"total":11},"model":"m","toolCalls":[{"id":"c1","name":"ls","args":{},"result":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}],"status":"success"}]}"#,
    r#"{"id":"g2","timestamp":"2026-05-01T10:00:05Z","type":"gemini","content":"One file.","thoughts":[],"tokens":{"input":20,"output":3,"cached":9,"total":23},"model":"m"}"#,
];

#[test]
fn record_of_gemini_cli_that_is_written_again_counts_once() {
    let whole = imported(LINES.join("\n").as_bytes(), Format::Auto);
    let expected = [
        "user: Look.",
        "assistant: I look. [c1 ls {}]",
        "tool c1: {\"output\":\"a\"}",
        "assistant: One file.",
    ];
    assert_eq!(said(&whole), expected);
    assert_eq!((whole.report.calls, whole.report.commits), (2, 2));
    assert_eq!(whole.context.attempts()[0].token_in, Some(9));
}

#[test]
fn gemini_cli_session_can_be_rewound_and_compressed() {
    let more = |lines: &[&str]| {
        let all: Vec<&str> = LINES.iter().chain(lines).copied().collect();
        imported(all.join("\n").as_bytes(), Format::Auto)
    };
    let next = r#"{"id":"u2","timestamp":"2026-05-01T10:01:00Z","type":"user","content":"Again."}"#;
    let last = r#"{"id":"g3","timestamp":"2026-05-01T10:01:03Z","type":"gemini","content":"Done.","model":"m"}"#;
    let rewound = more(&[r#"{"$rewindTo":"g1"}"#, next, last]);
    assert_eq!(said(&rewound), ["user: Look.", "user: Again.", "assistant: Done."]);
    assert_eq!((rewound.report.calls, rewound.report.findings["rewound"]), (3, 1));
    // The answer that was dropped before any call sent it is in the history.
    assert_eq!(rewound.report.commits, 4);
    let set = r#"{"$set":{"messages":[{"id":"x","timestamp":"2026-05-01T10:00:30Z","type":"user","content":[{"text":"SUMMARY"}]},
        {"id":"g2","timestamp":"2026-05-01T10:00:05Z","type":"gemini","content":[{"text":"One file."}],"thoughts":[],"model":"m"}]}}"#
        .replace('\n', " ");
    let compressed = more(&[&set, next, last]);
    let expected = ["user: SUMMARY", "assistant: One file.", "user: Again.", "assistant: Done."];
    assert_eq!(said(&compressed), expected);
    assert_eq!((compressed.report.calls, compressed.report.findings["compaction"]), (3, 1));
}

#[test]
fn results_that_are_messages_of_their_own_are_not_added_twice() {
    let set = r#"{"sessionId":"s","projectHash":"p","messages":[
        {"id":"u1","type":"user","content":[{"text":"Look."}]},
        {"id":"g1","type":"gemini","content":[{"functionCall":{"id":"c1","name":"ls","args":{}}}],"model":"m","toolCalls":[{"id":"c1","name":"ls","args":{},"result":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]}]},
        {"id":"u2","type":"user","content":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]},
        {"id":"g2","type":"gemini","content":"One file.","model":"m"}]}"#;
    let imported = imported(set.as_bytes(), Format::Auto);
    let expected = [
        "user: Look.",
        "assistant: [c1 ls {}]",
        "tool c1: {\"output\":\"a\"}",
        "assistant: One file.",
    ];
    assert_eq!(said(&imported), expected);
    assert_eq!(imported.report.calls, 2);
}
