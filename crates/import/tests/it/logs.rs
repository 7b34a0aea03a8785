//! Tests logs: their messages become turns, and other fields are kept.

use contextree_import::{Format, ImportOptions, Imported, Importer, import};
use contextree_json::Value;
use contextree_provider::{Provider, Severity, lint};

use crate::said::{assert_sound, expected};
use crate::support::{assert_same, imported, rendered, samples};

fn check(format: Format, provider_of: impl Fn(&str) -> Provider) {
    for (name, text) in samples(format) {
        for chosen in [format, Format::Auto] {
            let imported = imported(&text, chosen);
            assert_eq!(imported.report.format, Some(format), "the format of {name} is detected");
            let rendered = rendered(&imported, provider_of(&name));
            assert_same(&rendered.value(), &expected(format, &name), &name);
            assert_eq!(rendered.losses, [], "{name}: nothing is lost");
            let mut findings = lint(&rendered);
            findings.retain(|finding| finding.severity == Severity::Error);
            assert!(findings.is_empty(), "{name}: {findings:?}");
        }
    }
}

#[test]
fn langchain_is_read_in_both_forms() {
    check(Format::LangChain, |name| match name {
        "dumpd.jsonl" => Provider::Anthropic,
        "responses.json" => Provider::OpenAiResponses,
        _ => Provider::OpenAiChat,
    });
}

#[test]
fn sharegpt_gets_ids_for_its_calls() {
    check(Format::ShareGpt, |_| Provider::OpenAiChat);
}

#[test]
fn newest_branch_of_a_claude_code_tree_is_the_conversation() {
    check(Format::ClaudeCode, |_| Provider::Anthropic);
    let imported = imported(&samples(Format::ClaudeCode)[0].1, Format::Auto);
    let skipped: Vec<(&str, u64)> =
        imported.report.skipped.iter().map(|(name, count)| (&**name, *count)).collect();
    assert_eq!(skipped, [("progress", 1), ("sidechain", 1), ("summary", 1)]);
    let first = imported
        .context
        .working()
        .nodes()
        .find(|(_, node)| node.content().as_text() == Some("Will it rain in Oslo and Zürich?"));
    let entry = first.unwrap().1.attribute("log:entry").unwrap();
    assert_eq!(entry.get("cwd").and_then(Value::as_str), Some("/home/ada"), "fields survive");
}

#[test]
fn every_log_sample_renders_for_every_provider() {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Auto) {
        for (name, text) in samples(format) {
            assert_sound(&imported(&text, format), &format!("{format}/{name}"));
        }
    }
}

#[test]
fn content_hash_does_not_depend_on_log_metadata() {
    let log = r#"{"uuid":"1","type":"user","timestamp":"2026-11-01","message":{"role":"user","content":"Go on."}}
{"uuid":"2","parentUuid":"1","type":"assistant","timestamp":"2026-11-02","message":{"role":"assistant","content":"Done."}}
{"uuid":"3","parentUuid":"2","type":"user","timestamp":"2026-11-03","message":{"role":"user","content":"Go on."}}"#;
    let imported = imported(log.as_bytes(), Format::ClaudeCode);
    let nodes = imported.context.working().nodes().map(|(_, node)| node);
    let said: Vec<_> = nodes.filter(|node| node.content().as_text() == Some("Go on.")).collect();
    let [first, second] = said[..] else { panic!("it was said twice") };
    assert_ne!(first.attribute("log:entry"), second.attribute("log:entry"));
    assert_eq!(contextree_canon::content_hash(first), contextree_canon::content_hash(second));
}

#[test]
fn compacted_codex_turns_stay_in_the_history() {
    check(Format::Codex, |_| Provider::OpenAiResponses);
    let imported = imported(&samples(Format::Codex)[0].1, Format::Auto);
    let first = imported.context.history().get(0).unwrap();
    assert!(String::from_utf8(first.thread()).unwrap().contains("Old question"));
}

#[test]
fn opentelemetry_spans_continue_each_other() {
    check(Format::OTel, |_| Provider::OpenAiChat);
}

#[test]
fn flat_logs_equal_the_import_of_the_engine() {
    check(Format::Flat, |_| Provider::OpenAiChat);
    let (_, text) = &samples(Format::Flat)[0];
    let imported = imported(text, Format::Flat);
    let log: Vec<Value> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(crate::support::parse)
        .collect();
    let mut context = contextree_engine::Context::new();
    context.import_flat_log(&log).unwrap();
    context.commit().unwrap();
    assert_eq!(imported.context.history_digest(), context.history_digest());
}

#[test]
fn log_of_requests_is_one_conversation_with_a_commit_per_turn() {
    let log = samples(Format::OpenAiChat);
    let (_, text) = log.iter().find(|(name, _)| name == "requests.jsonl").unwrap();
    let imported = imported(text, Format::Auto);
    assert_eq!(imported.report.conversations, 1);
    assert_eq!(imported.report.messages, 3, "repeated messages are not added again");
    assert_eq!(imported.context.history().len(), 2);
}

#[test]
fn error_of_a_bad_line_has_its_number() {
    let text = b"{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":7}\n{oops\n{\"role\":\"user\",\"content\":\"b\"}\n";
    let error = import(text, Format::Flat, ImportOptions::default()).unwrap_err();
    assert_eq!(error.line, Some(3));
    assert_eq!(error.code(), "E_IMPORT_SHAPE");
    assert_eq!(error.to_string(), "line 3: expected a string at `[0].role`");
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let imported = import(text, Format::Flat, options).unwrap();
    let lines: Vec<Option<u64>> = imported.report.errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [Some(3), Some(4)]);
    assert_eq!(imported.report.messages, 2);
}

/// Returns a log so long that the second thread is far ahead: every sample repeated, line by line
/// or message by message, with bad lines in between.
fn long_log(format: Format) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, text) in samples(format) {
        if name.ends_with(".jsonl") {
            lines.extend(contextree_json::lines(text.trim_ascii_end()).map(<[u8]>::to_vec));
            continue;
        }
        let value = contextree_json::parse(&text).unwrap();
        let fields = ["messages", "input", "contents", "conversations"];
        let list = fields.into_iter().find_map(|field| value.get(field)).unwrap_or(&value);
        match list {
            Value::Array(list) => lines.extend(list.iter().map(Value::to_canonical)),
            document => lines.push(document.to_canonical()),
        }
    }
    assert!(!lines.is_empty(), "{format}");
    let mut log = Vec::new();
    for round in 0..3_000_usize.div_ceil(lines.len()) {
        for line in &lines {
            log.extend_from_slice(line);
            log.push(b'\n');
        }
        if round % 3 == 1 {
            log.extend_from_slice(b"{\"role\":7}\n\n{oops\n[]\n");
        }
    }
    log
}

#[test]
fn reading_ahead_equals_reading_line_by_line() {
    for format in Format::ALL {
        if format == Format::Auto {
            continue;
        }
        let log = long_log(format);
        for chosen in [format, Format::Auto] {
            let options = || ImportOptions { keep_going: true, ..ImportOptions::default() };
            let mut together = Importer::new(chosen, options());
            together.lines(&log).unwrap();
            let together = together.finish().unwrap();
            let mut single = Importer::new(chosen, options());
            for line in contextree_json::lines(&log) {
                single.line(line).unwrap();
            }
            let single = single.finish().unwrap();
            assert_eq!(together.report, single.report, "{format}");
            let digest = |imported: &Imported| imported.context.history_digest();
            assert_eq!(digest(&together), digest(&single), "{format}");
        }
        let mut strict = Importer::new(format, ImportOptions::default());
        let stops = strict.lines(&log).map_err(|error| (error.line, error.to_string()));
        let mut strict = Importer::new(format, ImportOptions::default());
        let mut lines = contextree_json::lines(&log);
        let expected = lines.try_for_each(|line| strict.line(line));
        assert_eq!(stops, expected.map_err(|error| (error.line, error.to_string())), "{format}");
    }
}

#[test]
fn bad_line_imports_nothing() {
    let mut importer = Importer::new(Format::OpenAiChat, ImportOptions::default());
    let bad = br#"{"messages":[{"role":"user","content":"a"},{"content":"b"}]}"#;
    let error = importer.line(bad).unwrap_err();
    assert_eq!(error.to_string(), "line 1: expected a string at `messages[1].role`");
    importer.line(br#"{"role":"user","content":"c"}"#).unwrap();
    let imported = importer.finish().unwrap();
    assert_eq!(imported.report.messages, 1);
    let blocks = imported.context.working().nodes().filter(|(_, node)| node.id().contains("block"));
    assert_eq!(blocks.count(), 1, "only the good line is imported");
}

#[test]
fn log_without_messages_is_refused() {
    let cases: [(Format, &[u8], &str); 5] = [
        (Format::ClaudeCode, b"{\"type\":\"mode\",\"sessionId\":\"s\"}", "no messages"),
        (Format::Flat, b"[]", "no messages"),
        (Format::OpenAiChat, b"{\"messages\":[]}", "no messages"),
        (Format::Auto, b"[]", "no messages"),
        (Format::Auto, b"{}\n{}\n", "line 1: no messages"),
    ];
    for (format, text, message) in cases {
        let error = import(text, format, ImportOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with(message), "{format}: {error}");
    }
}

#[test]
fn document_may_span_lines_and_log_lines_may_be_lists() {
    let check = |text: &str, messages| {
        let imported = imported(text.as_bytes(), Format::Auto);
        assert_eq!(imported.report.messages, messages, "{text}");
    };
    let message = r#"{"role":"user","content":"a"}"#;
    check(&format!("{{\"messages\": [\n  {message}\n]}}\n"), 1);
    check(&format!("[\n{message},\n{message}\n]"), 2);
    check(&format!("{message}\r\n\r\n{message}"), 2);
    check(&format!("\u{feff}{message}\n{message}\n"), 2);
    check(&format!("\u{feff}{message}"), 1);
    let human = r#"{"type":"human","data":{"content":"a"}}"#;
    check(&format!("[{human}]\n[{human},{human}]\n"), 2);
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let cut = format!("\"a\"}}\n{message}\n{message}\n");
    let imported = import(cut.as_bytes(), Format::Auto, options).unwrap();
    assert_eq!((imported.report.messages, imported.report.errors.len()), (2, 1), "{cut}");
}

#[test]
fn error_names_the_format_that_was_detected() {
    let text = br#"{"sessionId":"s","projectHash":"p","messages":[{"id":"1","type":"info","content":"x"}]}"#;
    let error = import(text, Format::Auto, ImportOptions::default()).unwrap_err();
    assert_eq!(error.detected, Some(Format::GeminiCli));
    let expected =
        "no messages; found only entries of type `info`; the format was detected as `gemini-cli`";
    assert_eq!(error.to_string(), expected);
    let error = import(text, Format::GeminiCli, ImportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "no messages; found only entries of type `info`");
    let bad = b"[{\"role\":\"user\",\"content\":\"a\",\"tool_calls\":null},{\"content\":1}]";
    let error = import(bad, Format::Auto, ImportOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("; the format was detected as `openai-chat`"), "{error}");
    assert!(error.hint().unwrap().contains("explicitly"));
}

#[test]
fn unknown_format_is_reported() {
    let error = import(b"{\"a\":1}", Format::Auto, ImportOptions::default()).unwrap_err();
    assert_eq!(error.code(), "E_IMPORT_FORMAT");
}
