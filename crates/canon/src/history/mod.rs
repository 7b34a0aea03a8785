//! A history as JSON Lines, oldest first: a full snapshot, then what each commit changed.
//!
//! Snapshot by snapshot a history of `n` turns would take the square of what was said. A line for a commit therefore holds the nodes that
//! came or changed, whole and flat, and the ids that went; whatever is not mentioned is as it was, its ttl one less. Every line of a commit carries the digest of its
//! snapshot, and reading checks it. A line may also be a full snapshot again, so that foreign histories can be read too.

mod read;
mod write;

pub use read::HistoryReader;
pub use write::{write_delta, write_first};
