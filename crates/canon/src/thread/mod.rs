//! The thread: what a model is shown, provider-neutral.
//!
//! One JSON array with an object for every block, in document order.
//! [`thread`] renders any tree; a [`ThreadRenderer`] keeps what it rendered and does again only what changed.
//!
//! Rendering is a pure function of the tree: the same snapshot gives the same bytes, everywhere.

mod block;
mod incremental;
mod whole;

pub use block::{default_role, write_block};
pub use incremental::ThreadRenderer;
pub use whole::{blocks, thread, thread_of_turn, thread_positions};
