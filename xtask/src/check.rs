//! `cargo xtask check`: the fast tier, for use while working. `cargo xtask test` runs everything.

use std::path::Path;

use crate::test::{cargo, say};
use crate::{map, msrv, packages, prose, release, tidy, wasm};

/// Packages that only `cargo xtask test` tests: thousands of random sessions, killed processes, a
/// PostgreSQL server.
const SLOW: [&str; 5] = [
    "contextree-bench",
    "contextree-store-postgres",
    "contextree-testkit",
    "contextree-trials",
    "xtask",
];

/// Runs all steps; stops at the first that fails.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    say("tidy: files, names, lengths");
    tidy::check(root)?;
    say("prose: phrases that read like a translation");
    prose::run(root, None)?;
    say("map: what each crate imports");
    map::check(root)?;
    say("minimum Rust version");
    msrv::check(root)?;
    say("manifests of published packages");
    release::check_manifests(root)?;
    cargo(root, "format", &["fmt", "--all", "--check"], &[])?;
    let lints = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    cargo(root, "lints", &lints, &[])?;
    let packages = packages::read(root)?;
    let mut tests = vec!["test", "--quiet", "--lib", "--bins", "--tests"];
    for package in packages.iter().filter(|package| !SLOW.contains(&package.name.as_str())) {
        tests.extend(["--package", &package.name]);
    }
    cargo(root, "fast tests", &tests, &[])?;
    if wasm::is_installed() {
        say(&wasm::check(root)?);
    } else {
        say("core crates for wasm32: skipped, the target is not installed; CI checks it");
    }
    Ok("the fast tier passed; `cargo xtask test` runs everything".to_owned())
}
