//! Ends a benchmark: writes a file for machines, and returns an exit code.
#![expect(clippy::print_stdout, reason = "error messages for the terminal")]

use std::process::ExitCode;

use crate::command::Common;
use crate::measure::Row;
use crate::table;

/// Writes the rows, and further lines of JSON, to the file of `--json`; fails if a bar is missed.
#[must_use]
pub fn finish(common: &Common, rows: &[Row], further: &[String]) -> ExitCode {
    if let Some(file) = &common.json {
        let text = table::json(rows) + &further.concat();
        if let Err(error) = std::fs::write(file, text) {
            println!("cannot write {}: {error}", file.display());
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
