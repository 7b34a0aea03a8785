//! `cargo xtask trials`: the trials of the stores at any size.

use std::path::Path;

use crate::test::cargo;

/// Runs a trial in a release build, with its own options.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let program = ["run", "--release", "--quiet", "--package", "contextree-trials", "--"];
    let trial = arguments.first().copied().unwrap_or("--help");
    cargo(root, trial, &[&program, arguments].concat(), &[])?;
    Ok(format!("{trial}: done"))
}
