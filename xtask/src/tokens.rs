//! Compares token counts with PyPI `tiktoken`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::programs;

/// The version that counts are compared with.
const TIKTOKEN: &str = "tiktoken==0.14.0";

/// Writes texts and tokens, installs `tiktoken` into a virtual environment of its own, and has it
/// count the texts.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let folder = root.join("target/tokens");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder_name = folder.display().to_string();
    let agreement = programs::example(root, "agreement")?.display().to_string();
    run(&agreement, &[&folder_name])?;
    let python = install(root)?;
    let script = root.join("crates/tokens/examples/agreement.py").display().to_string();
    run(&python, &[&script, &folder_name])
}

/// Returns the interpreter of an environment that has `tiktoken`.
pub(crate) fn install(root: &Path) -> Result<String, String> {
    let environment = root.join("target/tokens/python");
    let python = environment.join("bin/python");
    if !python.exists() {
        run("python3", &["-m", "venv", &environment.display().to_string()])?;
    }
    let python = python.display().to_string();
    let wanted = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", TIKTOKEN];
    run(&python, &wanted)?;
    Ok(python)
}

/// Rewrites the files in `crates/tokens/data`.
pub(crate) fn write(root: &Path) -> Result<String, String> {
    programs::update(root, "tokens", Some("data::"))?;
    Ok("crates/tokens/data is up to date".to_owned())
}

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program} is needed to compare token counts: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return Ok(said);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {said} {}", arguments.join(" "), complaint.trim()))
}
