//! The tests of this crate.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod agreement;
mod breakdowns;
mod counts;
mod data;
mod texts;
