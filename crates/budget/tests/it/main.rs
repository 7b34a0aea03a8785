//! The tests of this crate.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod files;
mod keeping;
mod sessions;
