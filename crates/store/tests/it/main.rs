//! What every store promises, and what is special about each.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod child;
mod faulty;
mod memory;
mod policies;
mod readers;
mod sqlite;
mod sqlite_copies;
mod sqlite_faults;
mod sqlite_files;
mod sqlite_processes;
mod support;

#[test]
fn no_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let is_known = stem == "main" || main.contains(&format!("mod {stem};"));
        assert!(is_known, "`{stem}` is not a module of the test binary");
    }
}
