//! `cargo xtask setup`: installs what the tests need besides a Rust toolchain: a PostgreSQL server, and Chromium for the inspector.
//!
//! Tests themselves never install anything. The chores that need Python environments or npm packages create them.

use std::path::Path;
use std::process::Command;

use contextree_testkit::postgres::{Programs, is_root};

/// Something that must be installed.
struct Need {
    name: &'static str,
    is_there: fn() -> bool,
    /// Packages, by package manager.
    packages: [(&'static str, &'static str); 4],
}

const NEEDS: [Need; 2] = [
    Need {
        name: "a PostgreSQL server",
        is_there: || Programs::find().is_some(),
        packages: [
            ("apt-get", "postgresql"),
            ("dnf", "postgresql-server"),
            ("apk", "postgresql"),
            ("pacman", "postgresql"),
        ],
    },
    Need {
        name: "Chromium",
        is_there: has_chromium,
        packages: [
            ("apt-get", "chromium"),
            ("dnf", "chromium"),
            ("apk", "chromium"),
            ("pacman", "chromium"),
        ],
    },
];

/// Where packages put Chromium; the tests of the inspector look in the same places.
const CHROMIUM: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

fn has_chromium() -> bool {
    std::env::var_os("CHROMIUM").is_some()
        || CHROMIUM.iter().any(|program| Path::new(program).exists())
}

/// Installs what is missing.
pub(crate) fn run() -> Result<String, String> {
    let mut done = Vec::new();
    for need in &NEEDS {
        done.push(provide(need)?);
    }
    Ok(done.join("; "))
}

fn provide(need: &Need) -> Result<String, String> {
    let name = need.name;
    if (need.is_there)() {
        return Ok(format!("{name} is installed"));
    }
    let debian = need.packages[0].1;
    let advice = format!("install {name} (Debian: the package `{debian}`) and try again");
    if !is_root() {
        return Err(format!("only root can install packages; {advice}"));
    }
    let exists = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let (manager, package) = need
        .packages
        .into_iter()
        .find(|(manager, _)| exists(manager))
        .ok_or_else(|| format!("no known package manager; {advice}"))?;
    let mut last = Ok(());
    for arguments in commands(manager) {
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|argument| if *argument == "PACKAGE" { package } else { argument })
            .collect();
        last = install(manager, &arguments, &advice);
    }
    // A failure before the last command, such as an update of the lists, may not matter.
    last?;
    match (need.is_there)() {
        true => Ok(format!("{manager} installed {name}")),
        false => Err(format!("{manager} succeeded, but {name} is not found; {advice}")),
    }
}

/// Returns the commands that install a package.
fn commands(manager: &str) -> &'static [&'static [&'static str]] {
    match manager {
        "apt-get" => &[&["update"], &["install", "--yes", "--no-install-recommends", "PACKAGE"]],
        "dnf" => &[&["install", "--assumeyes", "PACKAGE"]],
        "apk" => &[&["add", "PACKAGE"]],
        _ => &[&["--sync", "--noconfirm", "PACKAGE"]],
    }
}

fn install(manager: &str, arguments: &[&str], advice: &str) -> Result<(), String> {
    let output = Command::new(manager)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        // Prevents Debian's package from starting a server.
        .env("RUNLEVEL", "1")
        .output()
        .map_err(|error| format!("{manager}: {error}; {advice}"))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{manager} {}: {}; {advice}", arguments.join(" "), complaint.trim()))
}
