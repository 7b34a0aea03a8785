//! The project's own chores: `cargo xtask <chore>`.

mod bench;
mod conformance;
mod example;
mod format;
mod fuzz;
mod map;
mod providers;
mod setup;
mod test;
mod tidy;
mod tokens;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask test              every check and every test
       cargo xtask setup             installs what the tests need, if it is missing: a PostgreSQL server
       cargo xtask bench [--quick]   every bar of our own
       cargo xtask bench --peers [NAME] [--quick]   the same work by other systems, or those with NAME in theirs
       cargo xtask bench --scale [--quick] [PART]   large stores, many commits: contexts, turns, content, sqlite, postgres
       cargo xtask bench page        docs/performance.md from the results in docs/performance.json
       cargo xtask fuzz [TARGET] [--seconds N]   fuzzing; ten minutes each by default
       cargo xtask cli               the pages and pictures of the command line, from the program
       cargo xtask schema            crates/app/schema.json, from the types of requests and responses
       cargo xtask map               the layers of the crates, and that imports point downwards
       cargo xtask format            digests by a reader in another language
       cargo xtask tokens            token counts by another library
       cargo xtask providers         rendered requests, judged by the types of the official SDKs
       cargo xtask example           builds and runs examples/agent, a program outside the workspace
       cargo xtask tidy              what the house style asks of files
       cargo xtask conformance [--check]   the table docs/conformance.md";

#[expect(clippy::print_stderr, reason = "a chore answers on the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["test"] => test::run(&root()),
        ["setup"] => setup::run(),
        ["bench", rest @ ..] => bench::run(&root(), rest),
        ["fuzz"] => fuzz::run(&root(), None, "600"),
        ["fuzz", "--seconds", seconds] => fuzz::run(&root(), None, seconds),
        ["fuzz", target] => fuzz::run(&root(), Some(target), "600"),
        ["fuzz", target, "--seconds", seconds] => fuzz::run(&root(), Some(target), seconds),
        ["cli"] => test::write_cli(&root()),
        ["schema"] => test::write_schema(&root()),
        ["map"] => map::check(&root()),
        ["format"] => format::check(&root()),
        ["tokens"] => tokens::check(&root()),
        ["providers"] => providers::check(&root()),
        ["example"] => example::run(&root()),
        ["tidy"] => tidy::check(&root()),
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
