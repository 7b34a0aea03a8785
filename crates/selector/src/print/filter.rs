//! Prints filters and values.

use std::fmt::{self, Display, Formatter, Write as _};

use super::List;
use crate::ast::{Behavior, BehaviorKind, Filter, Test, Value};
use crate::scan::is_identifier_text;

impl Display for Filter {
    /// Writes the condition without brackets: `role='user'`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Name(self.name.as_str()).fmt(f)?;
        match &self.test {
            Test::Present => Ok(()),
            Test::Compare(operator, value) => write!(f, "{}{value}", operator.as_str()),
            Test::OneOf(values) => write!(f, "=[{}]", List(values, ", ")),
        }
    }
}

/// Writes an attribute's name, in quotes if it is not an identifier.
pub(super) struct Name<'n>(pub(super) &'n str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_identifier_text(self.0) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

impl Display for Behavior {
    /// Writes the condition without brackets: `ttl>0`, `ephemeral`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BehaviorKind::Filter(filter) => filter.fmt(f),
            BehaviorKind::Flag(flag) => f.write_str(flag.as_str()),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => f.write_str(&number.written()),
            Self::Text(text) => Quoted(text).fmt(f),
        }
    }
}

/// Writes a text in single quotes, escaping only what is necessary.
pub(super) struct Quoted<'t>(pub(super) &'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        for piece in self.0.split_inclusive(['\'', '\\']) {
            match piece.strip_suffix(['\'', '\\']) {
                Some(plain) => write!(f, "{plain}\\{}", &piece[plain.len()..])?,
                None => f.write_str(piece)?,
            }
        }
        f.write_char('\'')
    }
}
