//! One file per command: its options, and what it does.

pub(crate) mod canon;
pub(crate) mod completions;
pub(crate) mod conformance;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod hash;
pub(crate) mod help;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod select;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod thread;

use crate::args::{Cli, Command, Global};
use crate::environment::Environment;
use crate::error::{Exit, Failure};
use crate::output::Output;

/// What a command is given besides its own options.
pub(crate) struct Call<'c> {
    /// The options that every command has.
    pub(crate) global: &'c Global,
    /// The surroundings.
    pub(crate) environment: &'c Environment,
    /// Where to print.
    pub(crate) output: &'c mut Output,
}

/// Runs a command.
pub(crate) fn run(
    cli: &Cli,
    environment: &Environment,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut call = Call { global: &cli.global, environment, output };
    match &cli.command {
        Command::Status(args) => status::run(args, &mut call),
        Command::Show(args) => show::run(args, &mut call),
        Command::Select(args) => select::run(args, &mut call),
        Command::Diff(args) => diff::run(args, &mut call),
        Command::Log(args) => log::run(args, &mut call),
        Command::Explain(args) => explain::run(args, &mut call),
        Command::Export(args) => export::run(args, &mut call),
        Command::Thread(args) => thread::run(args, &mut call),
        Command::Hash(args) => hash::run(args, &mut call),
        Command::Canon(args) => canon::run(args, &mut call),
        Command::Conformance(args) => conformance::run(args, &mut call),
        Command::Completions(args) => completions::run(args, &mut call),
        Command::Man(args) => man::run(args, &mut call),
        Command::Help(args) => help::run(args, &mut call),
    }
}
