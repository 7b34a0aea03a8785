//! The engine of Contextree: operations, commits and history.
//!
//! A [`Context`] is a working tree and the history of its snapshots. Operations ([`Op`]) change the
//! working tree, each checked completely before it takes effect; a commit expires, prunes, seals
//! and creates one immutable snapshot; everything else only reads.
//!
//! ```text
//! Op ─check→ working tree ─commit→ Snapshot ─export · thread · diff→ bytes
//! ```
//!
//! Time and ids are inputs ([`Clock`], [`IdSource`]); the defaults are deterministic. The engine
//! does no IO. The rules are in `docs/operations.md`.

mod attempt;
mod cached;
mod call;
mod clock;
mod commit;
mod context;
mod durable;
mod error;
mod flat_log;
mod history;
mod op;
mod place;
mod policy;
mod refs;
mod report;
mod select;
mod snapshot;
mod work;
mod working;
mod write;

pub use attempt::{Attempt, AttemptError, AttemptStart, AttemptStatus};
pub use cached::Cached;
pub use call::{
    CallError, CallOutcome, CallRequest, CallResponse, CallStart, MAX_PARTIAL_BYTES, RecordedCall,
    RunningCallRef,
};
pub use clock::{Clock, IdRequest, IdRole, IdSource, LogicalClock, ReadableIds};
pub use commit::{CLEARED, ClearedByClient, CommitOptions, Compaction, Summary, prune_order};
pub use context::{Context, ContextOptions, Preview, vocabulary_of};
pub use durable::{
    CommitRecord, PendingCall, Records, Resting, Restore, Savepoint, Tail, report_of,
};
pub use error::{BatchError, CommitError, OpError, Reason};
pub use flat_log::FlatLogError;
pub use history::HistoryError;
pub use op::{Cue, Edit, NewNode, Op, Outcome, Place, PreparedNode, Zone};
pub use policy::{BoundMeasure, Clear, Limit, Measure, MeasureName, Policy, PolicyError};
pub use refs::{Liveness, LivenessProbe, Reference};
pub use report::{Cleared, CommitReport, Deferred, Holder, Operation, Pruned, Unmet, Warning};
pub use select::DiffError;
pub use snapshot::{Snapshot, SnapshotAddress, SnapshotError};
pub use working::Working;
pub use write::{WriteError, Writer};
