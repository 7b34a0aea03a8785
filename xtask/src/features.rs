//! `cargo xtask features`: each feature alone, no default features, and all features of every
//! published package.

use std::path::Path;

use crate::packages;
use crate::test::cargo;

/// Checks all combinations; stops at the first that does not compile.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let packages = packages::read(root)?;
    let mut count = 0;
    for package in packages.iter().filter(|package| package.is_public) {
        if package.features.is_empty() {
            continue;
        }
        let base = ["clippy", "--quiet", "--package", &package.name];
        let mut combinations = vec![vec!["--no-default-features"], vec!["--all-features"]];
        for feature in &package.features {
            combinations.push(vec!["--no-default-features", "--features", feature]);
        }
        for combination in &combinations {
            // Warnings count: code that only another feature uses is dead code here. Denied through
            // clippy, because `RUSTFLAGS` would rebuild every dependency.
            let arguments = [&base[..], combination, &["--", "-D", "warnings"]].concat();
            cargo(root, "features", &arguments, &[])?;
        }
        count += combinations.len();
    }
    Ok(format!("{count} combinations of features compile"))
}
