//! Tests of rendering and linting: round trips, losses, findings.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod answers;
mod anthropic;
mod budgets;
mod crossing;
mod exact;
mod gemini;
mod linting;
mod losses;
mod round_trip;
mod session;
mod streams;
mod support;

/// Every file of this directory must be a module, or its tests would silently not run.
#[test]
fn every_test_file_is_a_module() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        let declared = main.contains(&format!("mod {module};"));
        assert!(module == "main" || declared, "`{name}` is not a module of the test binary");
    }
}
