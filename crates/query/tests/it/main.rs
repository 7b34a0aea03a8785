//! Tests of queries: the corpus, planned against naive, ranges, explanations, the reference
//! document.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod corpus;
mod differential;
mod explain;
mod generate;
mod histories;
mod hostile;
mod limits;
mod meaning;
mod ranges;
mod reference;
mod support;

/// Every file of this directory must be a module, or its tests would silently not run.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
