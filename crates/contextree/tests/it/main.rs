//! What the one crate promises: stores by URL, nodes for agents, one error type, and pages that say what the code says.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

#[cfg(feature = "tokens")]
mod budgets;
#[cfg(feature = "tokens")]
mod clearing;
mod errors;
#[cfg(feature = "providers")]
mod nodes;
mod open;
mod pages;
#[cfg(feature = "providers")]
mod results;
