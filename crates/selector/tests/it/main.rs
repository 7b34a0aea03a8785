//! Tests of the selector language: the corpus, the printer, hostile texts, errors, requirement
//! rows.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod ast;
mod corpus;
mod drawings;
mod editions;
mod hostile;
mod print;
mod support;
mod syntax;
mod writes;

/// Every file of this directory must be a module, or its tests would silently not run.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
