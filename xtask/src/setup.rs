//! `cargo xtask setup`: installs what the tests need besides a Rust toolchain: a PostgreSQL server.
//!
//! Tests themselves never install anything. The chores that need Python environments create them.

use std::process::Command;

use contextree_testkit::postgres::{Programs, is_root};

/// Package managers, each with the commands that install the server.
const MANAGERS: [(&str, &[&[&str]]); 4] = [
    ("apt-get", &[&["update"], &["install", "--yes", "--no-install-recommends", "postgresql"]]),
    ("dnf", &[&["install", "--assumeyes", "postgresql-server"]]),
    ("apk", &[&["add", "postgresql"]]),
    ("pacman", &[&["--sync", "--noconfirm", "postgresql"]]),
];

const ADVICE: &str = "install a PostgreSQL server (Debian: the package `postgresql`) and try again";

/// Installs a PostgreSQL server unless there is one.
pub(crate) fn run() -> Result<String, String> {
    if Programs::find().is_some() {
        return Ok("a PostgreSQL server is installed".to_owned());
    }
    if !is_root() {
        return Err(format!("only root can install packages; {ADVICE}"));
    }
    let exists = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let (manager, commands) = MANAGERS
        .into_iter()
        .find(|(manager, _)| exists(manager))
        .ok_or_else(|| format!("no known package manager; {ADVICE}"))?;
    let mut last = Ok(());
    for arguments in commands {
        last = install(manager, arguments);
    }
    // A failure before the last command, such as an update of the lists, may not matter.
    last?;
    match Programs::find() {
        Some(_) => Ok(format!("{manager} installed a PostgreSQL server")),
        None => Err(format!("{manager} succeeded, but there is no `initdb`; {ADVICE}")),
    }
}

fn install(manager: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(manager)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        // Prevents Debian's package from starting a server.
        .env("RUNLEVEL", "1")
        .output()
        .map_err(|error| format!("{manager}: {error}; {ADVICE}"))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{manager} {}: {}; {ADVICE}", arguments.join(" "), complaint.trim()))
}
