//! Our side of the comparison with other systems: the same conversations, the same questions, the same answers on standard output.
//!
//! Every system is driven by a program that is given a file with a conversation, follows it step by step, asks for the past, and prints
//! one line of JSON: lists of nanoseconds, sizes, and what it read back, so that it can be checked that all did the same work. The
//! programs of the others are in the folder `peers` of the project.

mod answer;
mod conversation;
mod system;

pub use answer::{Answer, resident};
pub use conversation::{Kind, Line, lines, write};
pub use system::{Place, System};
