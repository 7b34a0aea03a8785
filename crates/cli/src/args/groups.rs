//! The commands in groups, for the first help page.

use clap::CommandFactory as _;

use super::Cli;
use crate::output::text::wrap_below;

/// Title and commands. A test holds that every command is in one group.
pub(crate) const GROUPS: [(&str, &[&str]); 11] = [
    ("Begin", &["quickstart", "new", "contexts", "switch", "fork", "rename", "delete"]),
    (
        "Change",
        &["add", "append", "apply", "edit", "remove", "move", "pin", "unpin", "recall", "redact"],
    ),
    ("Go back", &["undo", "redo", "discard", "reset", "operations"]),
    ("Call a model", &["request", "answer", "cancel", "commit", "attempt"]),
    ("Look", &["status", "show", "select", "diff", "log", "explain"]),
    ("In and out", &["import", "export", "render", "lint", "thread"]),
    ("Cost", &["tokens", "budget", "cache"]),
    ("Serve", &["ui", "serve", "mcp", "record"]),
    ("Keep", &["backup", "restore", "verify", "gc"]),
    ("Check", &["conformance", "hash", "canon"]),
    ("Help", &["help", "completions", "man"]),
];

/// The columns of the first help page, where the terminal has more or is not known.
pub(crate) const WIDEST: usize = 100;

/// Returns the template of the first help page, for lines of at most this many columns.
pub(crate) fn root_template(width: usize) -> String {
    let command = Cli::command();
    let mut text = String::from("{about-section}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        text.push_str(&format!("\n\u{1b}[1m\u{1b}[4m{title}:\u{1b}[0m\n"));
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default();
            let line = format!("  \u{1b}[1m{name:<13}\u{1b}[0m{about}");
            text.push_str(&wrap_below(&line, 15, Some(width)));
            text.push('\n');
        }
    }
    text.push_str("\n\u{1b}[1m\u{1b}[4mOptions:\u{1b}[0m\n{options}\n\n");
    let more = "`ctx COMMAND --help` shows examples, `ctx help jobs` common tasks, `ctx help selectors` the language.";
    text.push_str(&wrap_below(more, 0, Some(width)));
    text.push('\n');
    text
}
