//! Which state is meant: the specification's addresses, and two that are shorter to type.

use std::fmt;
use std::str::FromStr;

use contextree::SnapshotAddress;

/// A state of a context: `@` the working state, `@t0`, `@t-3`, `@c12` or `12` a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// The working state.
    Working,
    /// A snapshot.
    Snapshot(SnapshotAddress),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Working => formatter.write_str("@"),
            Address::Snapshot(address) => address.fmt(formatter),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "@" {
            return Ok(Address::Working);
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return format!("@c{text}").parse().map(Address::Snapshot).map_err(message);
        }
        text.parse().map(Address::Snapshot).map_err(message)
    }
}

fn message(error: contextree::SnapshotError) -> String {
    match error {
        contextree::SnapshotError::Invalid { text } => {
            format!(
                "`{text}` is no address: write `@t0`, `@t-3`, `@c12`, `12`, or `@` for the working state"
            )
        }
        other => format!("{other}: it would be in the future"),
    }
}

/// Two states, as they were written; what is left out is decided by the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The first.
    pub(crate) from: Address,
    /// The second.
    pub(crate) to: Option<Address>,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once("..") {
            Some((from, to)) => Ok(Range { from: from.parse()?, to: Some(to.parse()?) }),
            None => Ok(Range { from: text.parse()?, to: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Range};

    fn check(text: &str, expected: &str) {
        let read = text.parse::<Range>().map(|range| match range.to {
            Some(to) => format!("{}..{to}", range.from),
            None => range.from.to_string(),
        });
        assert_eq!(read.unwrap_or_else(|_| "error".to_owned()), expected, "{text}");
    }

    #[test]
    fn addresses_are_those_of_selectors_and_two_short_ones() {
        check("@", "@");
        check("12", "@c12");
        check("@t-3..@t0", "@t-3..@t0");
        check("3..@", "@c3..@");
        for wrong in ["", "@t5", "x", "1..", "..", "@c", "-1", "@t0..@t0..@t0"] {
            check(wrong, "error");
        }
        assert_eq!("@".parse(), Ok(Address::Working));
    }
}
