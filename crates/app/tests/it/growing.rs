//! Logs that have grown since they were imported.

use contextree::Code;
use contextree_app::command::import::{ImportRequest, ImportResponse, follow, import};
use contextree_app::{Control, Error, Source, Workspace, command};

fn workspace() -> Workspace {
    let store = contextree::open("memory:").expect("memory can be opened");
    Workspace::over(store, "memory:").with_context("log")
}

fn source(text: &[u8]) -> Source<'static> {
    let reader = Box::new(std::io::Cursor::new(text.to_vec()));
    Source { name: "a log".to_owned(), length: None, reader }
}

fn run(workspace: &Workspace, text: &[u8]) -> Result<ImportResponse, Error> {
    import(workspace, &ImportRequest::default(), source(text), &Control::default())
}

/// Returns everything that a context is: its history, its working state, its calls.
fn state(workspace: &Workspace) -> [String; 3] {
    let control = Control::default();
    let export = |request: &str| {
        let request = contextree_json::from_slice(request.as_bytes()).expect("it is a request");
        command::export(workspace, &request, &control).expect("it can be exported").document
    };
    let attempts = command::attempt::list(workspace, &control).expect("they can be listed");
    [export(r#"{"what":"history"}"#), export(r#"{"at":"@"}"#), format!("{attempts:?}")]
}

/// Logs of other programs, with one entry per line.
const LOGS: [&[u8]; 4] = [
    include_bytes!("../../../import/tests/samples/claude-code/session.jsonl"),
    include_bytes!("../../../import/tests/samples/claude-code/tree.jsonl"),
    include_bytes!("../../../import/tests/samples/codex/turns.jsonl"),
    include_bytes!("../../../import/tests/samples/openai-chat/requests.jsonl"),
];

/// Returns the parts of a log that end after each of its lines.
fn beginnings(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(end, _)| &log[..=end])
}

#[test]
fn importing_in_pieces_equals_importing_at_once() {
    for log in LOGS {
        let at_once = workspace();
        run(&at_once, log).expect("it is a log");
        let expected = state(&at_once);
        for beginning in beginnings(log) {
            let in_pieces = workspace();
            if run(&in_pieces, beginning).is_err() {
                // It has no message yet.
                continue;
            }
            let done = run(&in_pieces, log).expect("it continues the beginning");
            assert!(done.updated);
            assert_eq!(state(&in_pieces), expected, "{} bytes first", beginning.len());
        }
    }
}

#[test]
fn following_a_log_equals_importing_it() {
    let control = Control::default();
    for log in LOGS {
        let at_once = workspace();
        run(&at_once, log).expect("it is a log");
        let first = beginnings(log).find(|beginning| run(&workspace(), beginning).is_ok());
        let first = first.expect("it has messages").len();
        let folder = std::env::temp_dir().join(format!("contextree-follow-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
        let path = folder.join("log.jsonl");
        std::fs::write(&path, &log[..first]).expect("it can be written");
        let open = || {
            let reader = Box::new(std::fs::File::open(&path).expect("it exists"));
            Ok(Source { name: "a log".to_owned(), length: None, reader })
        };
        let followed = workspace();
        let request = ImportRequest::default();
        let (_, mut log_file) = follow(&followed, &request, open, &control)
            .expect("it can be followed")
            .expect("it has messages");
        // Whole lines and halves of them, with looks in between.
        let mut writer = std::fs::OpenOptions::new().append(true).open(&path).expect("it exists");
        for piece in log[first..].chunks(700) {
            std::io::Write::write_all(&mut writer, piece).expect("it can be written");
            log_file.look(&control).expect("there is no bad line");
            log_file.look(&control).expect("the end can be stored");
        }
        while log_file.look(&control).expect("nothing is new").is_some() {}
        assert_eq!(state(&followed), state(&at_once));
        std::fs::remove_dir_all(&folder).expect("it is not used");
    }
}

#[test]
fn a_log_can_be_followed_before_its_first_message_is_written() {
    let control = Control::default();
    let log = LOGS[0];
    let first = beginnings(log).find(|beginning| run(&workspace(), beginning).is_ok());
    let first = first.expect("it has messages").len();
    let bookkeeping = br#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#;
    let early: [&[u8]; 4] = [b"", b"\n", &log[..40], bookkeeping];
    for text in early {
        let open = || {
            let reader = Box::new(std::io::Cursor::new(text.to_vec()));
            Ok(Source { name: "a log".to_owned(), length: None, reader })
        };
        let begun = follow(&workspace(), &ImportRequest::default(), open, &control);
        assert!(begun.expect("it is early").is_none(), "{}", String::from_utf8_lossy(text));
    }
    // Half a line after the first message waits for its other half.
    let open = || {
        let reader = Box::new(std::io::Cursor::new(log[..first + 40].to_vec()));
        Ok(Source { name: "a log".to_owned(), length: None, reader })
    };
    let workspace = workspace();
    let begun = follow(&workspace, &ImportRequest::default(), open, &control);
    let (report, _) = begun.expect("it can be followed").expect("it has messages");
    let findings = report.import.expect("it is a log").findings;
    assert_eq!(findings.get("unfinished_line"), Some(&1));
    run(&workspace, log).expect("the rest of it");
    let at_once = self::workspace();
    run(&at_once, log).expect("it is a log");
    assert_eq!(state(&workspace), state(&at_once));
}

#[test]
fn log_without_news_changes_nothing() {
    let workspace = workspace();
    let first = run(&workspace, LOGS[0]).expect("it is a log");
    let again = run(&workspace, LOGS[0]).expect("it is the same log");
    let report = again.import.expect("it is a log");
    assert_eq!((report.calls, report.messages, report.commits, report.lines), (0, 0, 0, 0));
    let revision =
        |response: Option<_>| response.map(|row: contextree_app::wire::ContextRow| row.revision);
    assert_eq!(revision(again.context), revision(first.context));
}

#[test]
fn each_new_call_is_one_step() {
    let exchange = |number: u32| {
        format!(
            "{{\"request\":{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"Q{number}\"}}]}},\"response\":{{\"object\":\"chat.completion\",\"choices\":[{{\"message\":{{\"role\":\"assistant\",\"content\":\"A{number}\"}}}}]}}}}\n"
        )
    };
    let workspace = workspace();
    let log: String = (0..2).map(exchange).collect();
    let first = run(&workspace, log.as_bytes()).expect("it is a log").context.expect("stored");
    let log: String = (0..7).map(exchange).collect();
    let done = run(&workspace, log.as_bytes()).expect("it has grown");
    assert_eq!(done.import.map(|report| report.calls), Some(5));
    let revision = done.context.expect("stored").revision;
    assert_eq!(revision, first.revision + 5, "and the end is the step of the last call");
}

#[test]
fn log_that_shrank_or_changed_is_refused_and_the_context_unchanged() {
    let log = LOGS[0];
    let parts: Vec<&[u8]> = beginnings(log).collect();
    let workspace = workspace();
    run(&workspace, parts[8]).expect("it is a log");
    let before = state(&workspace);
    let check = |log: &[u8], code: Code| {
        let error = run(&workspace, log).expect_err("it is not continued");
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(state(&workspace), before);
    };
    check(parts[5], Code::ImportShrank);
    check(b"{}\n", Code::ImportShrank);
    let text = String::from_utf8(log.to_vec()).expect("it is text");
    check(text.replace("first try", "other try").as_bytes(), Code::ImportChanged);
    check(text.replacen("Oslo", "Rome", 1).as_bytes(), Code::ImportChanged);
    check(&LOGS[2].repeat(2), Code::ImportChanged);
}

#[test]
fn context_that_was_changed_since_is_refused() {
    let workspace = workspace();
    let control = Control::default();
    let parts: Vec<&[u8]> = beginnings(LOGS[0]).collect();
    run(&workspace, parts[8]).expect("it is a log");
    let node = r#"{"node":{"role":"user","content":"mine"}}"#;
    let request = contextree_json::from_slice(node.as_bytes()).expect("it is a request");
    command::add(&workspace, &request, &control).expect("it can be changed");
    let error = run(&workspace, LOGS[0]).expect_err("the log does not know the change");
    assert_eq!(error.code(), Code::ImportDiverged);

    let plain = workspace.with_context("plain");
    command::new(&plain, &Default::default(), &control).expect("it is new");
    let error = run(&plain, LOGS[0]).expect_err("it was not imported");
    assert_eq!(error.code(), Code::ContextExists);
}
