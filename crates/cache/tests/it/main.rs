//! The tests of this crate.

mod prefixes;
mod reports;
mod support;
