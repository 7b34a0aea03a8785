//! Checks the files of a test binary.

use std::path::Path;

/// Panics unless every file in a folder of tests is a module of its `main.rs`, whose text is
/// `main`.
///
/// # Panics
///
/// If a file is not declared, or the folder cannot be read.
#[track_caller]
pub fn assert_every_file_is_a_module(folder: impl AsRef<Path>, main: &str) {
    let entries = std::fs::read_dir(folder).expect("the folder of the tests is readable");
    for entry in entries {
        let path = entry.expect("the folder of the tests is readable").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("names are UTF-8");
        let is_known = stem == "main" || main.contains(&format!("mod {stem};"));
        assert!(is_known, "`{stem}` is not a module of the test binary");
    }
}
