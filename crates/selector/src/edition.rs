//! The three editions of the language, and the rule that an error for a later construct names its
//! edition.

use std::fmt;
use std::str::FromStr;

/// An edition of the selector language.
///
/// Editions are ordered: a construct belongs to the edition that introduced it and to all later
/// ones. The *meaning* of a text may change between editions (`#x` is an id up to 0.2 and a key in
/// 0.3); the syntax tree records the meaning, see [`PartKind`](crate::PartKind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edition {
    /// Edition 0.1 (E1): chains of compounds, snapshots and ranges.
    V0_1,
    /// Edition 0.2 (E2): adds attribute groups, universal depth, positions, insertion cues,
    /// `@mode`.
    V0_2,
    /// Edition 0.3 (E3): adds `{…}`, `?`, `??`, `within`, `+tag`, `@history` and the other
    /// controls.
    #[default]
    V0_3,
}

impl Edition {
    /// All editions, oldest first.
    pub const ALL: [Self; 3] = [Self::V0_1, Self::V0_2, Self::V0_3];

    /// Returns the edition's number as text, for example `0.3`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V0_1 => "0.1",
            Self::V0_2 => "0.2",
            Self::V0_3 => "0.3",
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Edition {
    type Err = UnknownEdition;

    /// Parses `0.1`, `0.2`, `0.3` or `E1`, `E2`, `E3` (either case).
    fn from_str(text: &str) -> Result<Self, UnknownEdition> {
        match text {
            "0.1" | "E1" | "e1" => Ok(Self::V0_1),
            "0.2" | "E2" | "e2" => Ok(Self::V0_2),
            "0.3" | "E3" | "e3" => Ok(Self::V0_3),
            _ => Err(UnknownEdition { found: text.chars().take(32).collect() }),
        }
    }
}

/// The error for an unknown edition, such as `0.4` or `latest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEdition {
    found: Box<str>,
}

impl fmt::Display for UnknownEdition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown edition `{}`; expected `0.1`, `0.2` or `0.3`", self.found)
    }
}

impl std::error::Error for UnknownEdition {}
