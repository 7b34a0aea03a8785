//! `cargo xtask providers`: validates rendered requests with the types of the official SDKs.
//!
//! The SDKs are installed, in pinned versions, into a virtual environment under `target/`. Their
//! types first produce samples for the importers; then everything is imported, rendered and
//! validated. Last, their collectors of streams check the samples that ours is tested with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::programs;

/// The folder of the scripts that use the SDKs.
const SCRIPTS: &str = "crates/provider/tests/sdk";

/// Returns the interpreter of the environment that has the SDKs.
pub(crate) fn install(root: &Path) -> Result<PathBuf, String> {
    let work = root.join("target/sdk");
    fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    environment(&work, &root.join(SCRIPTS))
}

/// Installs what is needed, renders, validates.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let scripts = root.join(SCRIPTS);
    let work = root.join("target/sdk");
    let python = install(root)?;
    let produced = work.join("produced.jsonl");
    output(Command::new(&python).arg(scripts.join("produce.py")), &produced)?;
    let rendered = work.join("rendered.jsonl");
    let mut render = Command::new(programs::example(root, "requests")?);
    render.current_dir(root);
    render.arg(root.join("crates/import/tests/samples")).arg(&produced);
    output(&mut render, &rendered)?;
    let input = fs::File::open(&rendered).map_err(|error| error.to_string())?;
    run(Command::new(&python).arg(scripts.join("validate.py")).stdin(input))?;
    let streams = root.join("crates/provider/tests/streams");
    run(Command::new(&python).arg(scripts.join("streams.py")).arg(streams))?;
    Ok("the types of the SDKs accept every request, and their collectors agree".to_owned())
}

/// Returns the interpreter of an environment that has the SDKs; creates it if it is missing or has
/// other versions.
pub(crate) fn environment(work: &Path, scripts: &Path) -> Result<PathBuf, String> {
    let folder = work.join("venv");
    let python = folder.join("bin/python");
    let requirements = scripts.join("requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(&requirements))?;
    fs::write(&installed, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {command:?}")) }
}

/// Runs a command with its output in a file.
fn output(command: &mut Command, file: &Path) -> Result<(), String> {
    let file = fs::File::create(file).map_err(|error| error.to_string())?;
    run(command.stdout(Stdio::from(file)))
}
