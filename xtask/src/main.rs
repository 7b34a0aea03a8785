//! The project's own chores: `cargo xtask <chore>`.

mod conformance;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask conformance [--check]";

#[expect(clippy::print_stderr, reason = "a chore answers on the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["conformance"] => conformance::write(&root()),
        ["conformance", "--check"] => conformance::check(&root()),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(message) => {
            eprintln!("{message}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
