//! Shared by the tests and benchmarks of all crates. Not published.
//!
//! - [`model`]: a second, deliberately naive implementation of `docs/operations.md`; [`generate`]
//!   makes random sessions as [`script`]s, [`drive`] runs them on the engine, [`compare`] compares
//!   both.
//! - [`naive`]: a second, simple evaluator of selectors.
//! - [`suite`]: the requirements on stores, as one test each.
//! - [`postgres`]: a private PostgreSQL server.
//! - [`upstream`]: a scripted provider of models.
//! - [`Rng`]: the source of random numbers.
//! - [`assert_every_file_is_a_module`]: checks that no test file is left out of its test binary.

pub mod compare;
pub mod drive;
mod files;
pub mod generate;
pub mod model;
pub mod naive;
// The server runs as another account, which only Unix has.
#[cfg(unix)]
pub mod postgres;
mod rng;
pub mod script;
#[cfg(feature = "store")]
pub mod suite;
pub mod upstream;

pub use files::assert_every_file_is_a_module;
pub use rng::Rng;
