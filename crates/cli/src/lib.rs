//! `ctx`: Contextree from a terminal.
//!
//! ```text
//! arguments ─args→ Cli ─command→ request ─app→ response ─view→ text or JSON ─output→ standard output
//!                                            │
//!                                            └─error→ a message with hints on standard error, and an exit code
//! ```
//!
//! | room | what |
//! |---|---|
//! | `args` | every option and command, for clap; the help pages |
//! | `source` | the workspace that the options name; files and standard input |
//! | `command` | one file per command: its options, its request, how its response is printed |
//! | `view` | how trees, nodes and differences are drawn |
//! | `output` | people or programs: colour, width, pager, JSON |
//! | `error` | how errors are printed; exit codes |
//! | `log` | what `CONTEXTREE_LOG` shows |
//!
//! What commands do is in `contextree-app`. This program is a door: it reads the time, the environment and the terminal, and
//! passes all of it on as arguments. What it prints is a function of these.

mod args;
mod command;
mod environment;
mod error;
mod log;
mod manual;
mod output;
mod source;
mod view;

use std::ffi::OsString;

pub use manual::reference;

use args::{Cli, NamedBy};
use clap::{CommandFactory as _, FromArgMatches as _};
use contextree::Code;
use environment::Environment;
use error::{Exit, Failure};
use output::Output;

/// Returns the command with all its subcommands, as clap knows it.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command().help_template(args::root_template(environment::columns_of_help()))
}

/// Runs the program with these arguments, the program's name included. Returns the exit code.
#[must_use]
pub fn run(arguments: &[OsString]) -> u8 {
    let wants_json = arguments.iter().any(|word| word == "--json" || word == "--jsonl");
    if arguments.len() < 2 {
        return error::report_nothing();
    }
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return error::report_usage(&error, arguments, wants_json),
    };
    let mut cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => {
            return error::report_usage(&error.format(&mut command()), arguments, wants_json);
        }
    };
    cli.global.choose_context(matches.value_source("context"), environment::context_of_folder());
    let words = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    cli.global.words = words.collect();
    let environment = Environment::of_process(&cli.global);
    let mut output = Output::new(&cli.global, &environment);
    let done = log::start().and_then(|()| command::run(&cli, &environment, &mut output));
    let done = done.and_then(|exit| output.finish().map(|()| exit).map_err(error::output));
    match done {
        Ok(exit) => exit.code(),
        // The reader has seen enough, as with `| head`. That is not an error.
        Err(failure) if failure.is_broken_pipe() => Exit::Ok.code(),
        Err(failure) => {
            let failure = match cli.global.named_by {
                NamedBy::File if is_missing(&failure, &cli.global.context) => failure
                    .with_hint("the file .contextree names it; `ctx switch NAME` changes that"),
                _ => failure,
            };
            output.failure(&failure);
            error::exit(&failure).code()
        }
    }
}

/// True if the context that was not found is this one, and not another one that an argument names.
fn is_missing(failure: &Failure, context: &str) -> bool {
    failure.code() == Code::ContextNotFound && failure.to_string().contains(&format!("`{context}`"))
}
