//! `ctx import --follow`, as a process of its own.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::transcript::Folder;

/// Returns a line of a log of requests, and its answer.
fn exchange(number: u32) -> String {
    format!(
        r#"{{"request":{{"model":"m","messages":[{{"role":"user","content":"Q{number}"}}]}},"response":{{"object":"chat.completion","choices":[{{"message":{{"role":"assistant","content":"A{number}"}}}}]}}}}"#
    ) + "\n"
}

#[test]
fn follow_imports_what_is_added_and_ends_with_ctrl_c() {
    let folder = Folder::new();
    let path = folder.path().join("log.jsonl");
    fs::write(&path, exchange(1) + &exchange(2)).expect("it can be written");
    let mut process = Command::new(env!("CARGO_BIN_EXE_ctx"))
        .args(["import", "log.jsonl", "--follow"])
        .current_dir(folder.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(process.stderr.take().expect("it is a pipe")).lines();
    let mut wait_for = |text: &str| {
        let found =
            said.by_ref().map(|line| line.expect("it is text")).find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("it ended without `{text}`"))
    };
    wait_for("following");
    let mut log = OpenOptions::new().append(true).open(&path).expect("it exists");
    log.write_all(exchange(3).as_bytes()).expect("it can be written");
    wait_for("1 call and");
    // Half a line is not a call.
    let last = exchange(4);
    let (half, rest) = last.split_at(40);
    log.write_all(half.as_bytes()).expect("it can be written");
    log.write_all(rest.as_bytes()).expect("it can be written");
    wait_for("1 call and");
    let interrupt = format!("kill -INT {}", process.id());
    assert_eq!(folder.run(&interrupt).1, 0);
    wait_for("2 calls and");
    assert!(process.wait().expect("it ends").success());
    let (printed, code) = folder.run("ctx import log.jsonl && ctx verify && ctx status");
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("has nothing new; 4 snapshots"), "{printed}");
}
