//! Defines findings: what a provider would refuse or ignore.

use std::fmt;

use crate::Slot;

/// A problem in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable code: `orphan_result`.
    pub code: &'static str,
    /// Whether the provider would refuse the request.
    pub severity: Severity,
    /// A message for people.
    pub message: String,
    /// The node that causes the problem, if known.
    pub node: Option<String>,
    /// The location: `messages[9].content[0]`; empty for the request as a whole.
    pub path: String,
    /// The same location as a [`Slot`].
    pub slot: Option<Slot>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Some models or settings refuse the request or ignore part of it.
    Warning,
    /// The provider refuses the request.
    Error,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        if !self.path.is_empty() {
            write!(formatter, " at `{}`", self.path)?;
        }
        if let Some(node) = &self.node {
            write!(formatter, " (node `{node}`)")?;
        }
        Ok(())
    }
}
