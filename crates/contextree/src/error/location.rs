//! Where an error is.

use std::fmt;

/// Where an error is, in whatever the caller passed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A part of a selector, in bytes.
    Span {
        /// The first byte.
        start: usize,
        /// The byte after the last one.
        end: usize,
    },
    /// A line of a text.
    Line {
        /// The line, from 1.
        line: u64,
        /// The column in characters, from 1, where it is known.
        column: Option<u64>,
    },
    /// A value in a JSON document: `messages[2].tool_calls[0]`.
    Path(String),
    /// A node, by id.
    Node(String),
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Span { start, end } => write!(formatter, "bytes {start}..{end}"),
            Location::Line { line, column: Some(column) } => {
                write!(formatter, "line {line}, column {column}")
            }
            Location::Line { line, column: None } => write!(formatter, "line {line}"),
            Location::Path(path) => write!(formatter, "`{path}`"),
            Location::Node(node) => write!(formatter, "node `{node}`"),
        }
    }
}
