//! Prints snapshot prefixes: the double dot for ranges, `@history` for all of them.

use std::fmt::{self, Display, Formatter};

use crate::ast::{RelativePoint, Snapshot, SnapshotRange, Time, TimeKind};

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TimeKind::At(snapshot) => snapshot.fmt(f),
            TimeKind::All => f.write_str("@*"),
            TimeKind::Range(range) => range.fmt(f),
        }
    }
}

impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(at) => write!(f, "@t{at}"),
            Self::Cycle(cycle) => write!(f, "@c{cycle}"),
        }
    }
}

impl Display for SnapshotRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::HISTORY => f.write_str("@history"),
            Self::Relative { from, to } => write!(f, "{from}..{to}"),
            Self::Cycles { from, to } => write!(f, "@c{from}..@c{to}"),
        }
    }
}

impl Display for RelativePoint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => write!(f, "@t{at}"),
            Self::Oldest => f.write_str("@t-*"),
        }
    }
}
