//! Describes why a document cannot be read, and where.

use std::fmt;

/// A value that does not have the shape its format requires. The path is assembled while the error
/// propagates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The location: `messages[2].tool_calls[0]`; empty for the whole document.
    pub at: String,
    /// What was expected: `a list`.
    pub expected: &'static str,
}

impl Shape {
    /// Creates an error about the current value.
    #[must_use]
    pub fn new(expected: &'static str) -> Self {
        Shape { at: String::new(), expected }
    }

    /// Prepends a step to the path: a name, or `[3]`.
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
