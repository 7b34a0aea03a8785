//! Addresses of states: those of the specification, and two that are shorter to type.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use contextree::{SnapshotAddress, SnapshotError};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A state of a context: `@` the working state, `@t0`, `@t-3`, `@c12` or `12` a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
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
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        if text == "@" {
            return Ok(Address::Working);
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return format!("@c{text}").parse().map(Address::Snapshot).map_err(InvalidAddress);
        }
        text.parse().map(Address::Snapshot).map_err(InvalidAddress)
    }
}

/// A text that is not the address of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAddress(SnapshotError);

impl InvalidAddress {
    pub(super) fn cause(&self) -> &SnapshotError {
        &self.0
    }
}

impl fmt::Display for InvalidAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SnapshotError::Invalid { text } => write!(
                formatter,
                "invalid address `{text}`: write `@t0`, `@t-3`, `@c12`, `12`, or `@` for the working state"
            ),
            other => write!(formatter, "{other}: it would be in the future"),
        }
    }
}

impl std::error::Error for InvalidAddress {}

/// Two states as they were written, `A..B`. The command decides what a missing one means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first state.
    pub from: Address,
    /// The second state.
    pub to: Option<Address>,
}

impl FromStr for Range {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        match text.split_once("..") {
            Some((from, to)) => Ok(Range { from: from.parse()?, to: Some(to.parse()?) }),
            None => Ok(Range { from: text.parse()?, to: None }),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) => write!(formatter, "{}..{to}", self.from),
            None => self.from.fmt(formatter),
        }
    }
}

/// Implements serde's traits and `JsonSchema` for a type that is written as text.
macro_rules! as_text {
    ($($kind:ident $pattern:literal),*) => {
        $(impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({ "type": "string", "description": $pattern })
            }
        })*
    };
}

as_text!(
    Address "A state: `@` the working state, `@t0`, `@t-3`, `@c12` or `12` a snapshot.",
    Range "One state, or two: `@t-3..@t0`."
);

#[cfg(test)]
mod tests {
    use super::{Address, Range};

    fn check(text: &str, expected: &str) {
        let read = text.parse::<Range>().map(|range| range.to_string());
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
