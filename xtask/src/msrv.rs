//! `cargo xtask msrv`: checks that the minimum supported Rust version is the same everywhere, and
//! that a lint enforces it.
//!
//! The public workflow builds with that toolchain. Machines with a single toolchain rely on
//! clippy's `incompatible_msrv`, which knows the version that introduced each item of the standard
//! library.

use std::fs;
use std::path::Path;

use crate::packages::{self, Package};

/// Files that repeat the version, with the text around it.
const REPEATED: [(&str, &str, &str); 2] = [
    ("README.md", "A Rust toolchain (", " or later)"),
    (".github/workflows/ci.yml", "dtolnay/rust-toolchain@", "\n"),
];

/// Checks manifests, documents and lints.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let packages = packages::read(root)?;
    let problems = problems(root, &packages)?;
    if problems.is_empty() {
        Ok(format!("Rust {} everywhere, and the lint is on", declared(root)?))
    } else {
        Err(problems.join("\n"))
    }
}

/// Returns what is inconsistent, one message each.
pub(crate) fn problems(root: &Path, packages: &[Package]) -> Result<Vec<String>, String> {
    let version = declared(root)?;
    let mut problems = Vec::new();
    for package in packages {
        if package.rust_version.as_deref() != Some(version.as_str()) {
            problems.push(format!("{}: rust-version is not {version}", package.name));
        }
    }
    for (file, before, after) in REPEATED {
        let text = read(root, file)?;
        if !text.contains(&format!("{before}{version}{after}")) {
            problems.push(format!("{file}: expected `{before}{version}`"));
        }
    }
    let manifest = read(root, "Cargo.toml")?;
    let is_on = |line: &str| line == r#"incompatible_msrv = "warn""#;
    if !manifest.lines().any(is_on) {
        problems.push("Cargo.toml: the lint `incompatible_msrv` is not on".to_owned());
    }
    Ok(problems)
}

/// Returns `rust-version` of the workspace.
fn declared(root: &Path) -> Result<String, String> {
    let manifest = read(root, "Cargo.toml")?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    let version = line.and_then(|line| line.strip_suffix('"'));
    Ok(version.ok_or("Cargo.toml: no rust-version")?.to_owned())
}

fn read(root: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))
}
