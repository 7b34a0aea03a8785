//! The states that a comparison names: of one context, or of two.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use contextree::selector::{RelativePoint, Snapshot, SnapshotRange, TimeKind, parse_time};
use contextree::{Edition, SnapshotAddress, SnapshotError};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Address;
use crate::Error;

/// A state of a context: `@t0`, `12`, `@`, and with the name of a context `alt@t0`, `alt@c12`, `alt@`, or just `alt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRef {
    /// The context; that of the workspace if it is absent.
    pub context: Option<String>,
    /// The state.
    pub at: Address,
}

impl StateRef {
    /// Returns a state of the workspace's own context.
    #[must_use]
    pub fn own(at: Address) -> Self {
        StateRef { context: None, at }
    }
}

impl fmt::Display for StateRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.context.as_deref().unwrap_or_default())?;
        self.at.fmt(formatter)
    }
}

impl FromStr for StateRef {
    type Err = CompareError;

    fn from_str(text: &str) -> Result<Self, CompareError> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (context, address) = match text.rfind('@') {
            _ if is_number => ("", text),
            Some(at) => text.split_at(at),
            None => (text, "@"),
        };
        if text.is_empty() {
            return Err(CompareError::usage("a state is missing"));
        }
        let at = address.parse().map_err(|error: super::InvalidAddress| error.into_compare())?;
        Ok(StateRef { context: (!context.is_empty()).then(|| context.to_owned()), at })
    }
}

/// One or two states, as they were written: `A..B`, or `A` alone.
///
/// Two snapshots of one context are read as selectors read a range: `@t-5..-1`, `@t-1:@t0`, `@c10..12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The first state.
    pub from: StateRef,
    /// The second state.
    pub to: Option<StateRef>,
}

impl FromStr for Compared {
    type Err = CompareError;

    fn from_str(text: &str) -> Result<Self, CompareError> {
        let Some((from, to)) = halves(text) else {
            return Ok(Compared { from: text.parse()?, to: None });
        };
        let is_atom = |text: &str| text.len() > 1 && text.starts_with('@');
        let is_number = |text: &str| text.parse::<i64>().is_ok();
        if is_atom(from) && (is_atom(to) || is_number(to)) {
            return range(text);
        }
        Ok(Compared { from: from.parse()?, to: Some(to.parse()?) })
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            Some(to) => write!(formatter, "{}..{to}", self.from),
            None => self.from.fmt(formatter),
        }
    }
}

/// Splits `A..B`; after a snapshot also `A:B`.
fn halves(text: &str) -> Option<(&str, &str)> {
    text.split_once("..").or_else(|| {
        let after_atom = text.starts_with("@t") || text.starts_with("@c");
        text.split_once(':').filter(|_| after_atom)
    })
}

/// Reads two snapshots as a selector does.
fn range(text: &str) -> Result<Compared, CompareError> {
    let time = parse_time(text, Edition::V0_3).map_err(|errors| CompareError {
        code: errors.code().as_str(),
        message: errors.to_string(),
    })?;
    let back = |at: i64| match u64::try_from(at.saturating_neg()) {
        Ok(back) => Ok(SnapshotAddress::Back(back)),
        Err(_) => Err(CompareError {
            code: "E_SNAPSHOT_NOT_FOUND",
            message: format!("no snapshot `@t+{at}`: it would be in the future"),
        }),
    };
    let point = |point: RelativePoint| match point {
        RelativePoint::At(at) => back(at),
        RelativePoint::Oldest => {
            Err(CompareError::usage("name the oldest snapshot by its number: `@c1`"))
        }
    };
    let cycle = |cycle: i64| SnapshotAddress::Cycle(u64::try_from(cycle).unwrap_or(0));
    let own = |address| StateRef::own(Address::Snapshot(address));
    let (from, to) = match time.kind {
        TimeKind::Range(SnapshotRange::Relative { from, to }) => (point(from)?, Some(point(to)?)),
        TimeKind::Range(SnapshotRange::Cycles { from, to }) => (cycle(from), Some(cycle(to))),
        TimeKind::At(Snapshot::Relative(at)) => (back(at)?, None),
        TimeKind::At(Snapshot::Cycle(at)) => (cycle(at), None),
        TimeKind::All => return Err(CompareError::usage("`@*` is every snapshot; name two")),
    };
    Ok(Compared { from: own(from), to: to.map(own) })
}

/// A text that does not name states to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareError {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
}

impl CompareError {
    pub(super) fn usage(message: impl Into<String>) -> Self {
        CompareError { code: "E_USAGE", message: message.into() }
    }
}

impl fmt::Display for CompareError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for CompareError {}

impl From<CompareError> for Error {
    fn from(error: CompareError) -> Self {
        Error::new(error.code, error.message).with_hint(
            "a state is `@t0`, `@t-3`, `@c12`, `12` or `@`; of another context `NAME@t0`, or `NAME` as it is now",
        )
    }
}

impl super::InvalidAddress {
    pub(super) fn into_compare(self) -> CompareError {
        let code = match self.cause() {
            SnapshotError::NotFound { .. } => "E_SNAPSHOT_NOT_FOUND",
            _ => "E_USAGE",
        };
        CompareError { code, message: self.to_string() }
    }
}

/// Implements serde's traits and `JsonSchema` for a type that is written as text.
macro_rules! as_text {
    ($($kind:ident $description:literal),*) => {
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
                schemars::json_schema!({ "type": "string", "description": $description })
            }
        })*
    };
}

as_text!(
    StateRef "A state of this context (`@t0`, `12`, `@`) or of another one (`alt@t0`, `alt`).",
    Compared "One state, or two: `@t-3..@t0`, `main..alt`."
);

#[cfg(test)]
mod tests {
    use super::Compared;

    fn check(text: &str, expected: &str) {
        let read = text.parse::<Compared>();
        let read = read.map_or_else(|error| error.code.to_owned(), |read| read.to_string());
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn ranges_are_read_as_selectors_read_them() {
        check("@t-3..@t0", "@t-3..@t0");
        check("@t-1..0", "@t-1..@t0");
        check("@t-5..-1", "@t-5..@t-1");
        check("@t-1:@t0", "@t-1..@t0");
        check("@c10..12", "@c10..@c12");
        check("@t-1..1", "E_SNAPSHOT_NOT_FOUND");
        check("@t-1..@c2", "E_SNAPSHOT_RANGE_KIND_MISMATCH");
        check("@t0..@*", "E_SNAPSHOT_RANGE_WILDCARD");
    }

    #[test]
    fn numbers_and_the_working_state_are_short_to_type() {
        check("12", "@c12");
        check("3..7", "@c3..@c7");
        check("3..@", "@c3..@");
        check("@t-1..@", "@t-1..@");
    }

    #[test]
    fn other_contexts_are_named_before_the_address() {
        check("main..alt", "main@..alt@");
        check("alt", "alt@");
        check("alt@t0..main@t-2", "alt@t0..main@t-2");
        check("alt@c5", "alt@c5");
        for wrong in ["", "1..", "..", "alt@x", "@c"] {
            check(wrong, "E_USAGE");
        }
        check("alt@t5", "E_SNAPSHOT_NOT_FOUND");
    }
}
