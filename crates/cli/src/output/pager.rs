//! Long output, page by page.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

/// Passes text to the pager and waits until it exits. Returns false, and shows nothing, if the program does not exist.
pub(super) fn page(pager: &str, data: &[u8]) -> io::Result<bool> {
    // A pager is a line for the shell, as everywhere: it may have options and quotes.
    let started = Command::new("sh").args(["-c", pager]).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = started else { return Ok(false) };
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(data) {
            // Leaving the pager early is not an error.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    // 127: the shell has found no such program.
    Ok(child.wait()?.code() != Some(127))
}
