//! Addresses of states, as they are written on the command line.

use crate::source::{Address, Range};

/// Reads `@`, `@t0`, `@t-3`, `@c12` or `12`.
pub(crate) fn parse_address(text: &str) -> Result<Address, String> {
    text.parse()
}

/// Reads `A..B`, or a single address.
pub(crate) fn parse_range(text: &str) -> Result<Range, String> {
    text.parse()
}
