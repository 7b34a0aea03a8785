//! Where an import commits.

use std::fmt;
use std::str::FromStr;

use crate::format::Format;

/// What becomes a cycle: one commit, and one snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycles {
    /// The default of the format: [`Cycles::Turn`] for flat logs, otherwise [`Cycles::Call`].
    #[default]
    Auto,
    /// Each model call: the snapshot is what was sent, and the answer opens the next cycle.
    Call,
    /// Each user message, with everything up to the next one.
    Turn,
}

impl Cycles {
    /// Every choice.
    pub const ALL: [Cycles; 3] = [Cycles::Auto, Cycles::Call, Cycles::Turn];

    /// Returns the name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cycles::Auto => "auto",
            Cycles::Call => "call",
            Cycles::Turn => "turn",
        }
    }

    /// Returns whether each call of a log in this format is a cycle.
    pub(crate) fn are_calls(self, format: Format) -> bool {
        match self {
            Cycles::Auto => format != Format::Flat,
            Cycles::Call => true,
            Cycles::Turn => false,
        }
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Cycles {
    type Err = UnknownCycles;

    fn from_str(name: &str) -> Result<Self, UnknownCycles> {
        let found = Cycles::ALL.into_iter().find(|cycles| cycles.name() == name);
        found.ok_or_else(|| UnknownCycles(name.to_owned()))
    }
}

/// Not the name of what becomes a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCycles(
    /// The name.
    pub String,
);

impl fmt::Display for UnknownCycles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown cycles `{}`; expected `call` or `turn`", self.0)
    }
}

impl std::error::Error for UnknownCycles {}
