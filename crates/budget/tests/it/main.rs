//! The tests of this crate.

mod files;
mod keeping;
