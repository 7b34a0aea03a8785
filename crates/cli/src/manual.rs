//! The reference of all commands as Markdown, made from what clap knows.

use clap::{Arg, Command};

use crate::args::GROUPS;
use crate::command::help::TOPICS;

/// Returns the text of `docs/cli.md`.
#[must_use]
pub fn reference() -> String {
    let mut root = crate::command();
    root.build();
    let mut out = String::from(
        "# `ctx`, command by command\n\nWritten from the program by `cargo xtask cli`; do not edit. A test fails if it is out of date.\n\
         `ctx COMMAND --help` prints the same.\n",
    );
    for (title, names) in GROUPS {
        let links: Vec<String> =
            names.iter().map(|name| format!("[`{name}`](#ctx-{name})")).collect();
        out.push_str(&format!("\n**{title}:** {}\n", links.join(" · ")));
    }
    out.push_str("\n## Options of every command\n\n");
    out.push_str(&options(root.get_arguments().filter(|arg| arg.is_global_set())));
    for (_, names) in GROUPS {
        for name in names {
            if let Some(command) = root.find_subcommand(name) {
                section(&mut out, command, &format!("ctx {name}"));
            }
        }
    }
    for (name, about, text) in TOPICS.iter().filter(|(name, _, _)| *name != "reference") {
        out.push_str(&format!(
            "\n## Topic: {name}\n\n`ctx help {name}`: {about}.\n\n```text\n{}```\n",
            text.trim_start()
        ));
    }
    out
}

fn section(out: &mut String, command: &Command, path: &str) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    out.push_str(&format!("\n## `{path}`\n\n{about}.\n"));
    if let Some(long) = command.get_long_about().map(ToString::to_string) {
        let rest = long.strip_prefix(&about).unwrap_or(&long).trim();
        if !rest.is_empty() {
            out.push_str(&format!("\n{rest}\n"));
        }
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    out.push_str(&format!("\n```text\n{usage}\n```\n"));
    let own = command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help");
    let table = options(own);
    if !table.is_empty() {
        out.push_str(&format!("\n{table}"));
    }
    if let Some(examples) = command.get_after_help().map(ToString::to_string) {
        let lines: Vec<&str> =
            examples.lines().skip(1).map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        out.push_str(&format!("\n```sh\n{}\n```\n", lines.join("\n")));
    }
    for inner in command.get_subcommands() {
        section(out, inner, &format!("{path} {}", inner.get_name()));
    }
}

fn options<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let mut rows = String::new();
    for argument in arguments.filter(|argument| !argument.is_hide_set()) {
        let names: Vec<&str> = argument
            .get_value_names()
            .map(|names| names.iter().map(|name| name.as_str()).collect())
            .unwrap_or_default();
        let takes = argument.get_action().takes_values();
        let value = if takes { names.join(" ") } else { String::new() };
        let mut name = match (argument.get_short(), argument.get_long()) {
            (Some(short), Some(long)) => format!("`-{short}`, `--{long}"),
            (None, Some(long)) => format!("`--{long}"),
            (Some(short), None) => format!("`-{short}"),
            (None, None) => format!("`{value}`"),
        };
        if argument.get_short().is_some() || argument.get_long().is_some() {
            if takes {
                name.push(' ');
                name.push_str(&value);
            }
            name.push('`');
        }
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let mut help = help.replace('\n', " ").replace('|', "\\|");
        if let Some(variable) = argument.get_env() {
            help.push_str(&format!(" [`{}`]", variable.to_string_lossy()));
        }
        let defaults: Vec<String> = argument
            .get_default_values()
            .iter()
            .map(|value| value.to_string_lossy().into_owned())
            .collect();
        if takes && !defaults.is_empty() && !argument.is_hide_default_value_set() {
            help.push_str(&format!(" (default: `{}`)", defaults.join(" ")));
        }
        rows.push_str(&format!("| {name} | {help} |\n"));
    }
    if rows.is_empty() { rows } else { format!("| option | does |\n|---|---|\n{rows}") }
}
