//! Installs what the other systems need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::systems::Program;
use crate::bench::bars::{PROGRAM, say};

/// The paths of the programs.
#[derive(Debug)]
pub(crate) struct Programs {
    ours: PathBuf,
    scripts: PathBuf,
    environments: PathBuf,
    rust: PathBuf,
}

impl Programs {
    /// Returns the command that runs a program.
    pub(crate) fn command(&self, program: Program) -> Command {
        match program {
            Program::Ours => {
                let mut command = Command::new(&self.ours);
                command.arg("peers");
                command
            }
            Program::Python(environment, script) => {
                let mut command =
                    Command::new(self.environments.join(environment).join("bin/python"));
                // Keeps the script's folder free of compiled files.
                command.arg("-B").arg(self.scripts.join(script));
                command
            }
            Program::Rust => Command::new(&self.rust),
        }
    }
}

/// Creates environments and programs that are missing or differ from the pinned versions.
pub(crate) fn programs(root: &Path, own: &Path, folder: &Path) -> Result<Programs, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let scripts = root.join("peers/python");
    for environment in ["langgraph", "egregore"] {
        let wanted = scripts.join(format!("requirements-{environment}.txt"));
        python(&folder.join(environment), &wanted)?;
    }
    say("the Rust crates of others");
    let manifest = root.join("peers/rust/Cargo.toml");
    let target = folder.join("rust");
    // rig requires a newer compiler than it needs.
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--quiet", "--locked", "--ignore-rust-version"]);
    build.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target);
    succeed(&mut build, "the Rust crates of others")?;
    Ok(Programs {
        ours: own.join(PROGRAM),
        scripts,
        environments: folder.to_owned(),
        rust: target.join("release/peers"),
    })
}

/// Creates an environment with the packages of a list. A copy of the list in it marks it as
/// complete.
fn python(environment: &Path, list: &Path) -> Result<(), String> {
    let wanted = fs::read(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let done = environment.join("installed.txt");
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let name = environment.file_name().unwrap_or_default().display().to_string();
    say(&format!("a Python environment: {name}"));
    succeed(
        Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment),
        "python3 -m venv (Debian: install python3-venv)",
    )?;
    let mut install = Command::new(environment.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    install.arg("--requirement").arg(list);
    succeed(&mut install, "pip install")?;
    fs::write(&done, wanted).map_err(|error| error.to_string())
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {what}")) }
}
