//! Tests that need the whole engine.
//!
//! A test that shows a requirement names it in a line directly above, `// covers: STR-004,
//! STR-007`; `cargo xtask conformance` makes `docs/conformance.md` from these lines.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod adoption;
mod attempts;
mod calls;
mod concurrency;
mod diffs;
mod documents;
mod frozen;
mod headers;
mod lifecycle;
mod model;
mod order;
mod pruning;
mod recorded;
mod reference;
mod refusals;
mod sealing;
mod selectors;
mod sessions;
mod snapshots;
mod structure;
mod support;
mod thread;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
