//! The tests of this crate.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod calls;
mod histories;
mod prefixes;
mod reports;
mod requests;
mod support;
