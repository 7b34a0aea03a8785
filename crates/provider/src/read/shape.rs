//! Why something cannot be read, and where.

use std::fmt;

/// Something that has another shape than its format says. The place is put together on the way up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Where: `messages[2].tool_calls[0]`; empty for the whole document.
    pub at: String,
    /// What was expected: `a list`.
    pub expected: &'static str,
}

impl Shape {
    /// Returns an error about the value at hand.
    #[must_use]
    pub fn new(expected: &'static str) -> Self {
        Shape { at: String::new(), expected }
    }

    /// Puts a step before the place: a name, or `[3]`.
    #[must_use]
    pub fn within(mut self, step: &str) -> Self {
        let dot = !self.at.is_empty() && !self.at.starts_with('[');
        self.at = format!("{step}{}{}", if dot { "." } else { "" }, self.at);
        self
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "expected {}", self.expected)?;
        if self.at.is_empty() { Ok(()) } else { write!(formatter, " at `{}`", self.at) }
    }
}

impl std::error::Error for Shape {}
