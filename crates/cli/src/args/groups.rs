//! The commands in groups, for the first help page.

use clap::CommandFactory as _;

use super::Cli;

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

/// Returns the template of the first help page.
pub(crate) fn root_template() -> String {
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
            text.push_str(&format!("  \u{1b}[1m{name:<13}\u{1b}[0m{about}\n"));
        }
    }
    text.push_str("\n\u{1b}[1m\u{1b}[4mOptions:\u{1b}[0m\n{options}\n\n");
    text.push_str("`ctx COMMAND --help` has an example of every command, `ctx help selectors` the language.\n");
    text
}
