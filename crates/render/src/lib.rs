//! Snapshot → output bytes.
//!
//! The **thread** is the provider-neutral form: one JSON array with an object for every block, in document order.
//! [`thread`] renders any tree; a [`ThreadRenderer`] keeps what it rendered and does again only what changed.
//!
//! Rendering is a pure function of the tree: the same snapshot gives the same bytes, everywhere.

mod block;
mod incremental;
mod thread;

pub use block::{default_role, write_block};
pub use incremental::ThreadRenderer;
pub use thread::{blocks, thread, thread_of_turn, thread_positions};
