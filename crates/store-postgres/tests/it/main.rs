//! Tests of the store on PostgreSQL, each in a schema of its own on a server of our own.
//!
//! `CONTEXTREE_TEST_POSTGRES` names a server to be used instead; tests that kill servers or want certificates start their own in any case.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod calls;
mod conformance;
mod faults;
mod lost_answers;
mod notices;
mod opening;
mod processes;
mod support;
mod tls;

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
