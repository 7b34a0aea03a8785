//! Addresses of states, as they are written on the command line.

use contextree_app::{Address, InvalidAddress, Range};

/// Reads `@`, `@t0`, `@t-3`, `@c12` or `12`.
pub(crate) fn parse_address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|error: InvalidAddress| error.to_string())
}

/// Reads `A..B`, or a single address.
pub(crate) fn parse_range(text: &str) -> Result<Range, String> {
    text.parse().map_err(|error: InvalidAddress| error.to_string())
}
