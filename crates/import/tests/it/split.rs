//! Tests files with many conversations, each of which becomes a context.

use contextree_engine::Context;
use contextree_import::{Format, ImportError, ImportOptions, Split, Splitter};

use crate::said::said;
use crate::support::samples;

fn split_lines(text: &str, keep_going: bool) -> Result<Split, ImportError> {
    let options = ImportOptions { keep_going, ..ImportOptions::default() };
    let mut splitter = Splitter::new(Format::Auto, options, Context::new);
    text.lines().try_for_each(|line| splitter.line(line.as_bytes()))?;
    splitter.finish()
}

fn split_document(text: &str) -> Split {
    let mut splitter = Splitter::new(Format::Auto, ImportOptions::default(), Context::new);
    splitter.document(text.as_bytes()).unwrap();
    splitter.finish().unwrap()
}

/// Checks what each conversation says, and that each has a cycle for each of its answers.
fn check(split: &Split, expected: &[&[&str]]) {
    let all: Vec<Vec<String>> = split.conversations.iter().map(said).collect();
    assert_eq!(all, expected);
    for imported in &split.conversations {
        let answers = said(imported).iter().filter(|it| it.starts_with("assistant")).count();
        assert_eq!(imported.report.commits, answers as u64);
        assert_eq!(imported.report.conversations, 1);
    }
}

#[test]
fn rows_of_a_data_set_are_conversations() {
    let row = |text: &str| {
        format!(
            r#"{{"conversations":[{{"from":"human","value":"Hi"}},{{"from":"gpt","value":"{text}"}}]}}"#
        )
    };
    let expected: [&[&str]; 2] = [&["user: Hi", "assistant: a"], &["user: Hi", "assistant: b"]];
    check(&split_lines(&format!("{}\n\n{}", row("a"), row("b")), false).unwrap(), &expected);
    check(&split_document(&format!("[{},{}]", row("a"), row("b"))), &expected);
    let row = |text: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":"{text}"}}]}}"#
        )
    };
    check(&split_lines(&format!("{}\n{}", row("a"), row("b")), false).unwrap(), &expected);
    check(&split_lines(&format!("{}{}", row("a"), row("b")), false).unwrap(), &expected);
    check(&split_document(&format!("[{},{}]", row("a"), row("b"))), &expected);
    let list = |text: &str| {
        format!(
            r#"[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":"{text}","tool_calls":null,"turn_idx":1}}]"#
        )
    };
    check(&split_document(&format!("[{},{}]", list("a"), list("b"))), &expected);
    check(
        &split_document(&format!(
            r#"{{"simulations":[{{"messages":{}}},{{"messages":{}}}]}}"#,
            list("a"),
            list("b")
        )),
        &expected,
    );
}

#[test]
fn requests_of_agents_side_by_side_are_taken_apart() {
    let request = |messages: &str| {
        format!(
            r#"{{"request":{{"model":"m","messages":[{{"role":"system","content":"S"}},{messages}]}}}}"#
        )
    };
    let (one, two) = (r#"{"role":"user","content":"one"}"#, r#"{"role":"user","content":"two"}"#);
    let log = [
        request(one),
        r#"{"role":"assistant","content":"A"}"#.to_owned(),
        request(two),
        request(&format!(
            r#"{one},{{"role":"assistant","content":"A"}},{{"role":"user","content":"go on"}}"#
        )),
    ];
    let split = split_lines(&log.join("\n"), false).unwrap();
    let all: Vec<Vec<String>> = split.conversations.iter().map(said).collect();
    let first = ["system: S", "user: one", "assistant: A", "user: go on"];
    assert_eq!(all, [first.to_vec(), vec!["system: S", "user: two"]]);
    let calls: Vec<u64> = split.conversations.iter().map(|it| it.report.calls).collect();
    assert_eq!(calls, [2, 1]);
}

#[test]
fn sessions_in_one_file_are_conversations() {
    for format in [Format::Pi, Format::GeminiCli] {
        let text = String::from_utf8(samples(format)[0].1.clone()).unwrap();
        let split = match format {
            Format::Pi => split_lines(&format!("{}\n{}", text.trim(), text.trim()), false).unwrap(),
            _ => {
                let other = text.replace("faff42ab", "another");
                let line = |text: &str| text.replace('\n', " ");
                split_lines(&format!("{}\n{}", line(&text), line(&other)), false).unwrap()
            }
        };
        assert_eq!(split.conversations.len(), 2, "{format}");
        let [first, second] = &*split.conversations else { panic!("two") };
        assert_eq!(said(first), said(second));
        assert_eq!(first.report.calls, second.report.calls);
    }
}

#[test]
fn empty_conversations_and_bad_lines_are_counted() {
    let good = r#"{"conversations":[{"from":"human","value":"Hi"}]}"#;
    let text = format!(
        "{good}\n{{\"conversations\":[]}}\n{{\"conversations\":[{{\"from\":\"?\"}}]}}\n{{oops\n{good}"
    );
    let split = split_lines(&text, true).unwrap();
    assert_eq!(split.conversations.len(), 2);
    assert_eq!(split.empty, 2, "an empty row, and one that could not be read");
    let lines: Vec<_> = split.errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [Some(3), Some(4)]);
    let error = split_lines(&text, false).unwrap_err();
    assert_eq!(error.line, Some(3));
    assert!(error.to_string().ends_with("; the format was detected as `sharegpt`"), "{error}");
    let error = split_lines("{\"conversations\":[]}", false).unwrap_err();
    assert_eq!(error.code(), "E_IMPORT_EMPTY");
    assert_eq!(split_lines("{\"a\":1}", false).unwrap_err().code(), "E_IMPORT_FORMAT");
}
