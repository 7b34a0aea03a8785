//! Runs the command that summarizes what a budget prunes.

use std::io::Write;
use std::process::{Command, Stdio};

use contextree_app::{MOST_OF_A_STREAM, read_within};

use crate::error::Failure;

/// What to do if the command is of no use.
const BY_HAND: &str = "no call has begun; run the command by hand, or leave out --summarize-with";

/// Runs a command in the shell with a text on its standard input; returns what it prints, which is read with a bound. Its messages go to standard error.
pub(super) fn run(command: &str, text: &str) -> Result<String, Failure> {
    let failed = |what: String| {
        Failure::new("E_SUMMARY_FAILED", format!("the summarizer `{command}` {what}"))
            .with_hint(BY_HAND)
    };
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("could not be started: {error}")))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let name = format!("the summarizer `{command}`");
    // A command that prints before it has read everything would otherwise wait for us, and we for it.
    let done = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A command may stop reading early, which is its own business.
            let _ = stdin.map(|mut stdin| stdin.write_all(text.as_bytes()));
        });
        let printed = stdout.map_or(Ok(Vec::new()), |it| read_within(&name, it, MOST_OF_A_STREAM));
        if printed.is_err() {
            // It would print for ever, or never read what is written to it. It may have ended by itself meanwhile.
            let _ = child.kill();
        }
        (printed, child.wait())
    });
    let (printed, status) = done;
    let printed = printed.map_err(|error| error.with_hint(BY_HAND))?;
    let status = status.map_err(|error| failed(format!("could not be read: {error}")))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    let text = String::from_utf8(printed);
    let text = text.map_err(|_| failed("printed something that is not UTF-8".to_owned()))?;
    match text.trim() {
        "" => Err(failed("printed nothing".to_owned())),
        text => Ok(text.to_owned()),
    }
}
