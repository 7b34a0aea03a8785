//! Integration tests: against CPython, against serde_json, and against invalid texts.

mod errors;
mod limits;
mod properties;
mod python;
mod reader;
mod values;

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
