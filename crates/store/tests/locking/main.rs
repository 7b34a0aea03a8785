//! The hand-written locking under shuttle, which runs threads in many orders, each decided by a seed: the group commit and the pool of contexts.
//!
//! The files of the two are compiled here once more, with the locks of shuttle in place of those of the standard library, and stand-ins for what is
//! below them. An order that fails is printed, and `shuttle::replay` runs it again.

#![expect(dead_code, reason = "stand-ins have what the files name, not only what runs here")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod checkpoint;
mod group;
#[path = "../../src/pool.rs"]
mod pool;
mod pools;
#[path = "../../src/sqlite/queue.rs"]
mod queue;
mod slot;
mod state;
mod store;

/// In place of `crate::sync`.
mod sync {
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}

mod error {
    pub(crate) use contextree_store::{Result, StoreError};
}

mod rows {
    pub(crate) use contextree_store::{ContextRow, Stretch};
}

mod settings {
    pub(crate) use contextree_store::ContextSettings;
}

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/locking");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
