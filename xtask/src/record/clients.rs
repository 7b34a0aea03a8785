//! The clients: how they are installed, and how they are led to the upstream without the proxy.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use contextree_testkit::upstream::Upstream;

use super::{Packages, run};
use crate::test::say;

/// The keys that clients send, here and in `crates/record/tests/clients`.
pub(super) const KEYS: [&str; 4] = ["sk-ant-secret", "sk-secret", "google-secret", NO_KEY];

/// The key of the agents.
pub(super) const NO_KEY: &str = "sk-not-a-key";

/// A program that holds conversations and prints what it receives.
pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) command: Vec<OsString>,
}

impl Client {
    /// Runs it without the proxy. Returns what it received.
    pub(super) fn direct(&self, upstream: &Upstream) -> Result<String, String> {
        let at = upstream.address();
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command.env("ANTHROPIC_BASE_URL", format!("http://{at}"));
        command.env("OPENAI_BASE_URL", format!("http://{at}/v1"));
        command.env("GOOGLE_GEMINI_BASE_URL", format!("http://{at}"));
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        self.run(&mut command)
    }

    /// Runs a command that runs it. Returns what it received.
    pub(super) fn run(&self, command: &mut Command) -> Result<String, String> {
        let printed = run(command)?;
        match printed.is_empty() {
            true => Err(format!("{}: nothing was received", self.name)),
            false => Ok(printed),
        }
    }
}

/// Returns the interpreter of an environment with the packages of `requirements.txt` in a folder of the clients.
pub(crate) fn python(place: &Packages, folder: &str) -> Result<PathBuf, String> {
    let requirements = place.clients.join(folder).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let installed = place.work.join(folder);
    let python = installed.join("bin/python");
    let done = installed.join("installed.txt");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    say(&format!("pip install, for {}", place.clients.join(folder).display()));
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&installed))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(&requirements))?;
    fs::write(&done, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

/// Returns a copy of a folder of the clients with the packages of its `package.json`, which names exact versions.
pub(crate) fn node(place: &Packages, folder: &str) -> Result<PathBuf, String> {
    let (from, into) = (place.clients.join(folder), place.work.join(folder));
    fs::create_dir_all(&into).map_err(|error| error.to_string())?;
    for entry in fs::read_dir(&from).map_err(|error| format!("{}: {error}", from.display()))? {
        let file = entry.map_err(|error| error.to_string())?.path();
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, into.join(name)).map_err(|error| error.to_string())?;
    }
    let wanted = fs::read(from.join("package.json")).map_err(|error| error.to_string())?;
    let done = into.join("node_modules/installed.json");
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(into);
    }
    say(&format!("npm install, for {}", place.clients.join(folder).display()));
    let npm = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    run(Command::new("npm").args(npm).current_dir(&into))?;
    fs::write(done, wanted).map_err(|error| error.to_string())?;
    Ok(into)
}
