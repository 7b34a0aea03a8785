//! The program `ctx`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(contextree_cli::run(std::env::args_os().collect()))
}
