//! Parses text into a syntax tree: one function per construct, one file per family.
//!
//! A function that cannot continue reports the error and returns [`Failed`]; its caller skips to a
//! point where parsing can resume. So one selector reports all its errors, and a tree is returned
//! only if there are none. Constructs of a later edition are reported and then parsed as if they
//! were allowed.
//!
//! No function here calls itself, directly or indirectly: the grammar nests at most four levels
//! deep.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic
)]

mod body;
mod chain;
mod compound;
mod control;
mod depth;
mod entry;
mod filter;
mod hop;
mod node_spec;
mod position;
mod pseudo;
mod report;
mod time;
mod value;

pub use entry::{
    parse, parse_node_spec, parse_on_snapshots, parse_position, parse_target, parse_time,
    parse_with,
};

use crate::Edition;
use crate::error::SelectorError;
use crate::scan::Scanner;

/// The state of one parse.
struct Parser<'t> {
    scan: Scanner<'t>,
    edition: Edition,
    nodes_left: usize,
    errors_left: usize,
    errors: Vec<SelectorError>,
}

/// The construct could not be parsed; the error has been reported.
struct Failed;

type Parsed<T> = Result<T, Failed>;
