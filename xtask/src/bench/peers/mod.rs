//! `cargo xtask bench --peers`: runs the same conversations through other systems and through ours.
//!
//! - [`setup`](setup::programs) creates what is needed, in `target/peers`: Python environments, a
//!   program for the Rust crates. All versions are pinned in the folder `peers`.
//! - [`run`] alternates between all systems: for each length one round after the other, in each
//!   round every system once, in a rotating order. Every run is a process of its own that reads the
//!   conversation from the same file.
//! - [`bars`](bars::bars) compares.

pub(crate) mod bars;
pub(crate) mod cell;
mod follow;
pub(crate) mod page;
mod setup;
pub(crate) mod systems;

use std::path::Path;

use contextree_json::{Number, Object, Value};
use contextree_testkit::postgres::Server;

use super::results::Results;
use super::{bars as own, machine};
use follow::{Follow, Limits};
use systems::SYSTEMS;

/// The plan: the lengths of conversations, and the limits of a single run.
struct Plan {
    chats: &'static [u64],
    steps: u64,
    limits: Limits,
}

const FULL: Plan = Plan {
    chats: &[10, 100, 1_000, 10_000],
    steps: 300,
    limits: Limits { repetitions: 5, minutes: (20, 12), bytes: 8e9 },
};

const QUICK: Plan = Plan {
    chats: &[10, 100],
    steps: 30,
    limits: Limits { repetitions: 2, minutes: (1, 1), bytes: 1e9 },
};

/// Runs everything; returns the missed bars. With a pattern, runs only systems whose name contains
/// it, and ours.
pub(crate) fn run(
    root: &Path,
    programs: &Path,
    results: &mut Results,
    quick: bool,
    only: Option<&str>,
) -> Result<Vec<String>, String> {
    let plan = if quick { QUICK } else { FULL };
    own::build(root)?;
    let folder = programs.parent().unwrap_or(programs).join("peers");
    let setup = setup::programs(root, programs, &folder)?;
    own::say("a PostgreSQL server of our own");
    let server = Server::obtain()?;
    let machine = machine::facts();
    let systems: Vec<_> = SYSTEMS
        .iter()
        .filter(|system| only.is_none_or(|only| system.is_ours || system.name.contains(only)))
        .collect();
    let mut follow = Follow::new(setup, &folder, server.url().to_owned(), plan.limits)?;
    for length in plan.chats {
        follow.round(&systems, "chat", *length)?;
    }
    follow.round(&systems, "agent", plan.steps)?;
    let runs = follow.into_value();
    drop(server);
    let bars = bars::bars(&runs, plan.chats);
    let missed = bars.iter().filter(|bar| !own::holds(bar));
    let missed = missed.map(|bar| format!("missed: {}", own::line(bar))).collect();
    bars::print(&bars);
    let mut section = Object::new();
    section.insert("machine", machine);
    section.insert("lengths", Value::Array(plan.chats.iter().map(number).collect()));
    section.insert("steps", number(&plan.steps));
    section.insert("repetitions", number(&(plan.limits.repetitions as u64)));
    section.insert("runs", runs);
    results.set("peers", Value::Object(section))?;
    Ok(missed)
}

fn number(number: &u64) -> Value {
    Value::Number(Number::from_u64(*number))
}
