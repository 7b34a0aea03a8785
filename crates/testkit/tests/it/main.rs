//! Tests that need the whole engine.
//!
//! A test that shows that a row of the requirements holds says so in a line directly above it, `// covers: STR-004, STR-007`;
//! `cargo xtask conformance` makes `docs/conformance.md` of these lines.

mod adoption;
mod attempts;
mod concurrency;
mod conformance;
mod diffs;
mod headers;
mod lifecycle;
mod model;
mod order;
mod pruning;
mod reference;
mod sealing;
mod sessions;
mod snapshots;
mod structure;
mod support;
mod thread;
