//! Prints chains, compounds and depths.

use std::fmt::{self, Display, Formatter};

use super::List;
use super::filter::Quoted;
use crate::ast::{
    Chain, Combinator, Compound, DepthItem, DepthKind, DepthSet, Part, PartKind, Pseudo, TypeTest,
};
use crate::scan::{has_no_reserved_segment, is_identifier};

impl Display for Chain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            match (index, step.combinator) {
                (0, _) => {}
                (_, Combinator::Descendant) => f.write_str(" ")?,
                (_, Combinator::Child) => f.write_str(" > ")?,
            }
            step.compound.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Compound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        List(&self.parts, "").fmt(f)
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PartKind::Root(root) => f.write_str(root.as_str()),
            PartKind::Depth(depths) => write!(f, "depth({depths})"),
            PartKind::Any => f.write_str("*"),
            PartKind::Type(test) => test.fmt(f),
            PartKind::Id(name) | PartKind::Key(name) => {
                let bare = !name.is_empty()
                    && name.bytes().all(is_identifier)
                    && has_no_reserved_segment(name);
                if bare { write!(f, "#{name}") } else { write!(f, "#{}", Quoted(name)) }
            }
            PartKind::Attr(filter) => write!(f, "[{filter}]"),
            PartKind::Pseudo(pseudo) => pseudo.fmt(f),
        }
    }
}

impl Display for TypeTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(word) => write!(f, ".{}", word.as_str()),
            Self::ClassKind { word, kind } => write!(f, ".{}:{kind}", word.as_str()),
            Self::NodeType(name) => write!(f, ".{name}"),
        }
    }
}

impl Display for Pseudo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pre => f.write_str(":pre"),
            Self::Core => f.write_str(":core"),
            Self::Post => f.write_str(":post"),
            Self::First => f.write_str(":first"),
            Self::Last => f.write_str(":last"),
            Self::Nth(number) => write!(f, ":nth({number})"),
            Self::Depth(depths) => write!(f, ":depth({depths})"),
        }
    }
}

impl Display for DepthSet {
    /// Writes the members without parentheses: `1-3,5`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        List(&self.items, ",").fmt(f)
    }
}

impl Display for DepthItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            DepthKind::One(depth) => write!(f, "{depth}"),
            // The notation that every edition parses, including `-3--1`.
            DepthKind::Range(first, last) => write!(f, "{first}-{last}"),
            DepthKind::Below(depth) => write!(f, "<{depth}"),
            DepthKind::AtMost(depth) => write!(f, "<={depth}"),
            DepthKind::Above(depth) => write!(f, ">{depth}"),
            DepthKind::AtLeast(depth) => write!(f, ">={depth}"),
        }
    }
}
