//! Our side of the comparison with other systems: the same conversations, the same questions, the
//! same output format.
//!
//! A program for each system reads a conversation from a file, follows it step by step, reads the
//! past, and prints one line of JSON: lists of nanoseconds, sizes, and what it read back, which
//! shows that all programs did the same work. The programs for the other systems are in the folder
//! `peers` of the project.

mod answer;
mod conversation;
mod system;

pub use answer::{Answer, resident};
pub use conversation::{Kind, Line, lines, write};
pub use system::{Place, System};
