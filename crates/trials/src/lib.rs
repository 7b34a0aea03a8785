//! Trials of the stores, as the most trusted systems make them. Not published.
//!
//! Each module is one practice, with a function that takes sizes and a seed and returns what it counted, or the first broken promise with
//! what is needed to see it again. The tests run a short tier; `contextree-trials`, through `cargo xtask trials`, any size.
//!
//! - [`faults`]: a fault at every call to the disk.
//! - [`power`]: power loss after any call, with unsynced writes lost, torn or reordered.
//! - [`full`]: a disk with no space left.
//! - [`proxy`]: connections to PostgreSQL that are cut or late at any message.
//! - [`histories`]: what many processes saw, checked for linearizability.
//! - [`simulate`]: clients, faults and models under one seeded scheduler.
//! - [`soak`]: hours of mixed work, with a plot.
//! - [`damage`]: changed bits, pages, rows and records.
//! - [`inputs`]: hostile records, files, command lines and requests.
//! - [`worst`]: the most expensive selectors that can be written.
//! - [`spread`](mod@spread): many units of a trial on several threads.
//! - [`script`]: what these trials write; [`folder`]: where.

#![cfg(unix)]

pub mod damage;
pub mod faults;
pub mod folder;
pub mod full;
pub mod histories;
pub mod inputs;
pub mod power;
pub mod proxy;
pub mod script;
pub mod simulate;
pub mod soak;
pub mod spread;
pub mod worst;
