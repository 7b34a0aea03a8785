//! Benchmarks of Contextree.
//!
//! Machines are noisy, so nothing here is an absolute time: every row compares two pieces of work
//! that alternate in one process, and reports the median of the ratios.

pub mod calls;
pub mod command;
pub mod growth;
pub mod heap;
mod judge;
pub mod measure;
pub mod outcome;
pub mod peers;
pub mod provider_rows;
pub mod reads;
pub mod rows;
pub mod scale;
pub mod selectors;
pub mod server;
pub mod sessions;
pub mod store;
pub mod table;
pub mod tokens;
pub mod work;
