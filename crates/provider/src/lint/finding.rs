//! One thing that a provider would not like.

use std::fmt;

use crate::Slot;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable code: `orphan_result`.
    pub code: &'static str,
    /// Whether the request would be refused.
    pub severity: Severity,
    /// What is wrong, for people.
    pub message: String,
    /// The node at fault, if it is known.
    pub node: Option<String>,
    /// Where: `messages[9].content[0]`; empty if it is the request as a whole.
    pub path: String,
    /// The same place, to be looked up.
    pub slot: Option<Slot>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Some models, or some settings, refuse it or ignore part of it.
    Warning,
    /// The provider refuses it.
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
