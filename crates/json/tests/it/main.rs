//! Integration tests: against CPython, against serde_json, and against invalid texts.

mod errors;
mod limits;
mod properties;
mod python;
mod reader;
mod values;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
