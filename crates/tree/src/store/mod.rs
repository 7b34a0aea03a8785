//! Storage of rows and names: append-only, shared by all snapshots, read without locks.

mod brief;
mod keys;
mod log;
mod names;
mod paged;
mod segment;
mod space;

pub(crate) use brief::{Brief, Pattern};
pub use log::Log;
pub(crate) use names::{Names, hash};
pub(crate) use paged::Paged;
pub(crate) use segment::Segment;
pub(crate) use space::{Page, Space};
