//! Runs the command that summarizes what a budget prunes.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::error::Failure;

/// Runs a command in the shell with a text on its standard input; returns what it prints. Its messages go to standard error.
pub(super) fn run(command: &str, text: &str) -> Result<String, Failure> {
    let failed = |what: String| {
        Failure::new("E_SUMMARY_FAILED", format!("the summarizer `{command}` {what}"))
            .with_hint("no call has begun; run the command by hand, or leave out --summarize-with")
    };
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("could not be started: {error}")))?;
    let stdin = child.stdin.take();
    // A command that prints before it has read everything would otherwise wait for us, and we for it.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A command may stop reading early, which is its own business.
            let _ = stdin.map(|mut stdin| stdin.write_all(text.as_bytes()));
        });
        child.wait_with_output()
    });
    let output = output.map_err(|error| failed(format!("could not be read: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    let text = String::from_utf8(output.stdout);
    let text = text.map_err(|_| failed("printed something that is not UTF-8".to_owned()))?;
    match text.trim() {
        "" => Err(failed("printed nothing".to_owned())),
        text => Ok(text.to_owned()),
    }
}
