//! A second, deliberately naive implementation of `docs/operations.md`.
//!
//! It exists to be compared with the engine, so it is written to be read, not to be fast: one map
//! from ids to nodes, parents as plain ids, an order that is sorted on every request, a full copy
//! of the tree for every snapshot, and a full copy of the state before every step. It shares only
//! the JSON values with the engine.
//!
//! The rooms, in reading order: `tree` (nodes and their order), `state` (stamps, ids, one step),
//! `place` (where a node may be), `operations`, `commit`, `prune`, `calls`, `output`, `diff`.

mod calls;
mod clear;
mod commit;
mod diff;
#[cfg(test)]
mod fixture;
mod operations;
mod output;
mod place;
mod prune;
mod state;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

pub use commit::Report;
pub use state::{Model, Outcome};
