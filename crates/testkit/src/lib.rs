//! What the tests and benchmarks of all crates share. Nothing here is published.
//!
//! - [`model`]: a deliberately naive second implementation of `docs/operations.md`; [`generate`] makes random sessions as
//!   [`script`]s, [`drive`] feeds them to the engine, [`compare`] holds both against each other.
//! - [`naive`]: a second, simple evaluator of selectors.
//! - [`suite`]: what every store must do, as one test per promise.
//! - [`postgres`]: a private PostgreSQL server.
//! - [`Rng`]: the one source of random numbers.
//! - [`assert_every_file_is_a_module`]: no test file is left out of its test binary.

pub mod compare;
pub mod drive;
mod files;
pub mod generate;
pub mod model;
pub mod naive;
pub mod postgres;
mod rng;
pub mod script;
#[cfg(feature = "store")]
pub mod suite;

pub use files::assert_every_file_is_a_module;
pub use rng::Rng;
