//! Calls: one cycle is one request to a model.
//!
//! [`Context::begin_call`] commits the working state ahead and keeps the snapshot aside: its rendering is the request. Completing the call
//! makes that snapshot part of the history and adds the answer to the new head. Canceling it restores the working state. In between, the
//! working state is the head of the next cycle, so that whatever is added follows the answer.
//!
//! A call that was made elsewhere, and is known from a log, is committed like anything else and then noted with [`Context::record_call`].

mod begin;
mod end;
mod late;
mod record;
mod serves;
mod types;

pub use begin::RunningCallRef;
pub use end::MAX_PARTIAL_BYTES;
pub(crate) use late::{Before, RunningCall};
pub(crate) use serves::newest_user_blocks;
pub use types::{CallError, CallOutcome, CallRequest, CallResponse, CallStart, RecordedCall};
