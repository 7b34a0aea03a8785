//! Tests of importing logs of agents and logs of requests.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod agents;
mod claude_code;
mod codex;
mod growing;
mod langchain;
mod logs;
mod otel;
mod plain_logs;
mod requests;
mod said;
mod sessions;
mod split;
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
