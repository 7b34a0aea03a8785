//! The interface for stores: records of what happened, and contexts restored from records.
//!
//! The engine itself does no IO. A store calls [`Context::take_records`] for everything that
//! happened since the last call, and rebuilds contexts with [`Restore`]. A restored context may
//! hold only the newest part of its history; the rest is in the store, and an address before it is
//! answered with `E_NOT_LOADED`, never with another snapshot.

mod account;
mod recording;
mod rest;
mod restore;
mod savepoint;
mod tail;

pub(crate) use recording::Recorder;
pub use recording::{CommitRecord, PendingCall, Records};
pub use rest::Resting;
pub use restore::{Restore, report_of};
pub use savepoint::Savepoint;
pub use tail::Tail;
