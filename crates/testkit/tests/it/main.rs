//! Tests that need the whole engine.
//!
//! A test that shows that a row of the requirements holds says so in a line directly above it, `// covers: STR-004, STR-007`;
//! `cargo xtask conformance` makes `docs/conformance.md` of these lines.

mod conformance;
mod headers;
mod model;
mod order;
mod structure;
mod support;
