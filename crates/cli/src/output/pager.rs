//! Long output, page by page.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

/// Gives text to the pager and waits until it is left. Returns false if there is no such program.
pub(super) fn page(pager: &str, data: &[u8]) -> io::Result<bool> {
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return Ok(false) };
    let started = Command::new(program).args(words).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = started else { return Ok(false) };
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(data) {
            // Somebody who leaves the pager early has seen enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    child.wait()?;
    Ok(true)
}
