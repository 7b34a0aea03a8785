//! `cargo xtask wasm`: checks that the core crates compile for `wasm32-unknown-unknown`, so that
//! none of them does IO or reads the clock.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::test::cargo;

const TARGET: &str = "wasm32-unknown-unknown";

/// The crates without IO. Their dependencies are checked with them.
const CORE: [&str; 6] = [
    "contextree-json",
    "contextree-tree",
    "contextree-canon",
    "contextree-selector",
    "contextree-query",
    "contextree-engine",
];

/// Checks the core crates.
///
/// Fails if the toolchain has no standard library for the target.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    if !is_installed() {
        return Err(format!("the target is not installed: rustup target add {TARGET}"));
    }
    let mut arguments = vec!["check", "--quiet", "--target", TARGET];
    for name in CORE {
        arguments.extend(["--package", name]);
    }
    cargo(root, "core crates for wasm32", &arguments, &[])?;
    Ok(format!("{} core crates compile for {TARGET}", CORE.len()))
}

/// Returns whether the toolchain has a standard library for the target.
pub(crate) fn is_installed() -> bool {
    let output =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| {
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        output.status.success() && folder.is_dir()
    })
}
