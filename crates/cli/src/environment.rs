//! What the program asks the machine for, in one place: the terminal, the environment, the time.

use std::io::IsTerminal as _;

use contextree::Clock;

use crate::args::Global;

/// What is known of the surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// True if standard output is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// True if standard input is a terminal, so that one can ask.
    pub(crate) stdin_is_terminal: bool,
    /// True if standard error is a terminal.
    pub(crate) stderr_is_terminal: bool,
    /// The columns that a line may take; `None` if its length is not limited.
    pub(crate) width: Option<usize>,
    /// The lines of the terminal.
    pub(crate) height: Option<usize>,
    /// The pager to use, if there is one.
    pub(crate) pager: Option<String>,
    /// The time, in nanoseconds since 1970.
    pub(crate) now: i64,
}

impl Environment {
    /// Looks at the process.
    pub(crate) fn of_process(global: &Global) -> Self {
        let stdout_is_terminal = std::io::stdout().is_terminal();
        let size = stdout_is_terminal.then(terminal_size::terminal_size).flatten();
        let columns = variable("COLUMNS").and_then(|text| text.parse().ok());
        let pager = variable("CONTEXTREE_PAGER").or_else(|| variable("PAGER"));
        Environment {
            stdout_is_terminal,
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            width: columns.or_else(|| size.map(|(width, _)| usize::from(width.0))),
            height: size.map(|(_, height)| usize::from(height.0)),
            pager: (!global.no_pager && stdout_is_terminal)
                .then(|| pager.unwrap_or_else(|| "less -FRX".to_owned())),
            now: global.now.unwrap_or_else(|| contextree::SystemClock.now_ns()),
        }
    }
}

/// Returns a variable of the environment, unless it is empty or no text.
#[expect(clippy::disallowed_methods, reason = "this is the edge where the environment comes in")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
