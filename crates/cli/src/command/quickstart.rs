//! `ctx quickstart`: a guided tour that runs real commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::style::{self, paint};

mod tour;

/// Take a guided tour: an agent's conversation, and what can be done with it
///
/// Every command is shown and then run, on a store of its own that is removed at the end. Nothing else is touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx quickstart
  ctx quickstart --keep tour      keep the store in the folder `tour`, to go on with it")]
pub(crate) struct Args {
    /// Keep the store in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let folder = match &args.keep {
        Some(name) => PathBuf::from(name),
        None => std::env::temp_dir().join(format!("ctx-quickstart-{}", std::process::id())),
    };
    let fail = |error: std::io::Error| Failure::io(&folder.display().to_string(), error);
    if folder.join("contextree.db").exists() {
        return Err(Failure::usage(format!("there is a store in `{}` already", folder.display()))
            .with_hint("name another folder"));
    }
    std::fs::create_dir_all(&folder).map_err(fail)?;
    let done = tour::play(&folder, call);
    if args.keep.is_none() {
        std::fs::remove_dir_all(&folder).map_err(fail)?;
    }
    done?;
    let end = match &args.keep {
        Some(name) => format!("the store is {name}/contextree.db: `cd {name} && ctx show`"),
        None => "the store of the tour is gone; `ctx quickstart --keep tour` keeps it".to_owned(),
    };
    call.output.say(&format!("\n{}", paint(style::DIM, end)));
    Ok(Exit::Ok)
}

/// Runs a command of the tour, in its folder, and prints it with its output.
fn step(folder: &Path, words: &[&str], call: &Call<'_>) -> Result<(), Failure> {
    let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    call.output.say_data(&format!("{} {}", paint(style::TITLE, "$ ctx"), shown.join(" ")))?;
    let program = std::env::current_exe().map_err(|error| Failure::io("ctx", error))?;
    let mut command = Command::new(program);
    command
        .args(words)
        .arg(format!("--color={}", if call.output.has_colour() { "always" } else { "never" }))
        .arg("--no-pager")
        .current_dir(folder)
        .env("CONTEXTREE_STORE", "sqlite:contextree.db")
        .env_remove("CONTEXTREE_CONTEXT");
    if let Some(width) = call.output.width() {
        command.env("COLUMNS", width.to_string());
    }
    let is_raw = words.iter().any(|word| ["thread", "render", "request"].contains(word));
    // In a pipe these commands end without a line break, and what they say besides would follow on the same line.
    let status = if is_raw && !call.output.is_terminal() {
        let output = command.output().map_err(|error| Failure::io("ctx", error))?;
        call.output.say_data(&String::from_utf8_lossy(&output.stdout))?;
        let notes = String::from_utf8_lossy(&output.stderr);
        if !notes.is_empty() {
            call.output.say(notes.trim_end());
        }
        output.status
    } else {
        command.status().map_err(|error| Failure::io("ctx", error))?
    };
    // 1 is an answer, too: `diff` found a difference.
    match status.code() {
        Some(0 | 1) => Ok(()),
        code => Err(Failure::new("E_INTERNAL", format!("the tour stumbled: exit {code:?}"))),
    }
}

/// A word as one would type it.
fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_.:=/@^#+".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.contains('\'') {
        format!("\"{word}\"")
    } else {
        format!("'{word}'")
    }
}
