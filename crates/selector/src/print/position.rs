//! Prints positions, hops and cues.

use std::fmt::{self, Display, Formatter};

use super::List;
use crate::ast::{Class, Cue, Hop, HopKind, Insertion, Position, Test, Within};

impl Display for Position {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})", List(&self.hops, ", "))
    }
}

impl Display for Within {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "within({})", List(&self.hops, ", "))
    }
}

impl Display for Insertion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let hops = List(&self.position.hops, ", ");
        match self.cue {
            None => write!(f, "({hops})"),
            Some(cue) => write!(f, "({hops}, {cue})"),
        }
    }
}

impl Display for Cue {
    /// Writes what follows the last comma; for the start, writes an empty text.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => Ok(()),
            Self::End => f.write_str("end"),
            Self::After(child) => write!(f, "+{child}"),
            Self::Before(child) => write!(f, "-{child}"),
        }
    }
}

impl Display for Hop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            // A mere name is valid in brackets only.
            HopKind::Step if self.filters.iter().any(|filter| filter.test == Test::Present) => {
                f.write_str("?")?;
            }
            HopKind::Step => return write!(f, "? {{ {} }}", List(&self.filters, ", ")),
            HopKind::Depth(depth) => write!(f, "d{depth}")?,
            HopKind::Segment(word) => f.write_str(word.as_str())?,
            HopKind::Child { class, offset } => {
                if let Some(offset) = offset {
                    write!(f, "{offset}")?;
                }
                match (class, offset) {
                    (Some(word), Some(_)) => write!(f, ":{}", word.as_str())?,
                    (Some(word), None) if word.class() == Class::Block => {
                        write!(f, "*:{}", word.as_str())?;
                    }
                    (Some(word), None) => f.write_str(word.as_str())?,
                    (None, _) => {}
                }
            }
        }
        self.filters.iter().try_for_each(|filter| write!(f, "[{filter}]"))
    }
}
