//! How a benchmark ends: a file for machines, and an exit code.
#![expect(clippy::print_stdout, reason = "what went wrong, for the terminal")]

use std::process::ExitCode;

use crate::measure::Row;
use crate::table;

/// Returns the value behind an option of the command line.
#[must_use]
pub fn option(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.next()?;
    arguments.next()
}

/// Writes the rows, and further lines of JSON, to the file behind `--json`; fails if a bar is missed.
#[must_use]
pub fn finish(rows: &[Row], further: &[String]) -> ExitCode {
    if let Some(file) = option("--json") {
        let text = table::json(rows) + &further.concat();
        if let Err(error) = std::fs::write(&file, text) {
            println!("cannot write {file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if rows.iter().all(Row::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a remark as a line of JSON, for [`finish`].
#[must_use]
pub fn note(text: &str) -> String {
    format!("{{\"note\":{text:?}}}\n")
}
