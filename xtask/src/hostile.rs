//! `cargo xtask hostile`: sends hostile requests to a real server.
//!
//! The requests are made by `crates/server/tests/hostile/hostile.py`, which needs schemathesis; it is installed, in a pinned version,
//! into a virtual environment under `target/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs;
use crate::providers::{environment, run};

/// The folder of the requests.
const SCRIPTS: &str = "crates/server/tests/hostile";

/// The seed of `cargo xtask test`: the same requests in every run.
const SEED: &str = "1";

/// How many requests `cargo xtask test` makes from the description of the routes. They take a minute.
const FEW: &str = "500";

/// How many the chore makes unless told otherwise.
const MANY: &str = "10000";

/// Sends the requests that every test run sends.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    attack(root, FEW, SEED)
}

/// Sends more of them: `[--cases N] [--seed N]`.
pub(crate) fn run_with(root: &Path, arguments: &[&str]) -> Result<String, String> {
    match arguments {
        [] => attack(root, MANY, SEED),
        ["--cases", cases] => attack(root, cases, SEED),
        ["--seed", seed] => attack(root, MANY, seed),
        ["--cases", cases, "--seed", seed] => attack(root, cases, seed),
        _ => Err(crate::USAGE.to_owned()),
    }
}

/// Returns the interpreter of the environment that has schemathesis.
pub(crate) fn install(root: &Path) -> Result<PathBuf, String> {
    let work = root.join("target/hostile");
    fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    environment(&work, &root.join(SCRIPTS))
}

fn attack(root: &Path, cases: &str, seed: &str) -> Result<String, String> {
    let scripts = root.join(SCRIPTS);
    let python = install(root)?;
    let program = programs::binary(root, "ctx")?;
    let mut command = Command::new(python);
    command.arg(scripts.join("hostile.py")).arg(program);
    run(command.args(["--cases", cases, "--seed", seed]))?;
    Ok("hostile requests: no 500, no hang, bounded memory".to_owned())
}
