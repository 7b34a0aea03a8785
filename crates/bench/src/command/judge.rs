//! Judges a folder of logs, and prints the result.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::judge::judge;

/// Options of `judge`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A folder of logs, which may be compressed by gzip
    folder: PathBuf,
    /// Print what is wrong with which log
    #[arg(long)]
    verbose: bool,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let verdict = match judge(&options.folder) {
        Ok(verdict) => verdict,
        Err(error) => {
            println!("{}: {error}", options.folder.display());
            return ExitCode::FAILURE;
        }
    };
    let (table, holds) = verdict.table();
    println!("{table}");
    if options.verbose {
        verdict.remarks().iter().for_each(|remark| println!("{remark}"));
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
