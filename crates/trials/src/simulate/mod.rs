//! Deterministic simulation: several clients of one store, under one seeded scheduler, with faults, compared with models.
//!
//! The scheduler picks a client and lets it do one thing: a step of a random session, a fork, retention, a backup, `verify`, a read of an old
//! reader, and so on; some of them while the disk fails. After each thing the model does the same, and both must agree. The same seed gives
//! the same simulation.
//!
//! - `truth`: what every context must be, by the naive model of `testkit` and by the engine in memory.
//! - `world`: the store, its clients and its disk.
//! - `act`: what clients do.

mod act;
mod truth;
mod world;

use std::collections::BTreeMap;

use crate::script::Failure;
pub use world::Where;
use world::World;

/// What a simulation did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Simulations.
    pub seeds: u64,
    /// Things that clients did, by name.
    pub acts: BTreeMap<&'static str, u64>,
    /// Errors that faults caused, by code.
    pub errors: BTreeMap<String, u64>,
}

/// Runs one simulation.
///
/// # Errors
///
/// The first difference, with the seed and what was done before.
pub fn one(seed: u64, place: Where, acts: u64, report: &mut Report) -> Result<(), Failure> {
    let mut world = World::new(seed, place).map_err(|error| error.to_string())?;
    report.seeds += 1;
    for number in 0..acts {
        let done = world.act();
        *report.acts.entry(world.last).or_default() += 1;
        done.map_err(|failure| {
            let last = world.last;
            format!("seed {seed}, {place:?}, act {number} ({last}): {failure}")
        })?;
    }
    let ended = world.check_everything();
    for (code, count) in world.errors {
        *report.errors.entry(code).or_default() += count;
    }
    ended.map_err(|failure| format!("seed {seed}, {place:?}, at the end: {failure}"))
}

/// Runs simulations of a series of seeds, each in memory and in a file.
///
/// # Errors
///
/// Like [`one`].
pub fn run(first: u64, seeds: u64, acts: u64) -> Result<Report, Failure> {
    let mut report = Report::default();
    for seed in first..first + seeds {
        one(seed, Where::Memory, acts, &mut report)?;
        one(seed, Where::File, acts, &mut report)?;
    }
    Ok(report)
}
