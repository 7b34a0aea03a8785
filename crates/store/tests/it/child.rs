//! Other processes: this test program again, with one of its tests as the task.
//!
//! A task is a test that does nothing unless it is called as a task.

use std::path::Path;
use std::process::{Command, Stdio};

const TASK: &str = "CONTEXTREE_TASK";

/// Returns what a task is to work on; nothing if this is an ordinary run of the tests.
#[expect(clippy::disallowed_methods, reason = "so a parent tells its child what to do")]
pub(crate) fn task() -> Option<Vec<String>> {
    let task = std::env::var(TASK).ok()?;
    Some(task.split('\n').map(str::to_owned).collect())
}

/// Returns the command that runs a task, given the name of its test.
pub(crate) fn command(test: &str, task: &[&str]) -> Command {
    command_of(&std::env::current_exe().unwrap(), test, task)
}

/// Does the same with another copy of this program.
pub(crate) fn command_of(program: &Path, test: &str, task: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(TASK, task.join("\n")).stdin(Stdio::null());
    command
}
