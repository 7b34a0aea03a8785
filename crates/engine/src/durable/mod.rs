//! What a store needs of a context: records of what happened, and a context made of records again.
//!
//! The engine still does no IO. A store asks with [`Context::take_records`] what happened since it last asked, and puts contexts
//! together with [`Restore`]. A context that was put together may hold only the newest part of its history; the rest is in the
//! store, and an address before it is answered with `E_NOT_LOADED`, never with another snapshot.

mod account;
mod recording;
mod rest;
mod restore;

pub(crate) use recording::Recorder;
pub use recording::{CommitRecord, PendingCall, Records};
pub use rest::Resting;
pub use restore::{Restore, report_of};
