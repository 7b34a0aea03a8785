//! Durable stores for contexts.
//!
//! A store keeps what happened: records of effects, one per commit, never commands to be run again. A [`Backend`] stores rows
//! and decides nothing: it knows neither trees nor record formats nor rules. What the rows mean is known above it.
//!
//! ```text
//! write   Session ─engine→ records ─Step→ Backend ─→ a SQLite file · a PostgreSQL server · memory
//! read    Reader ← State, one per revision, shared by all threads ← records ← Backend
//! ```
//!
//! [`Store::session`] opens a context to write, [`Store::reader`] to read. Both share what the process has in memory. A write
//! publishes a new immutable state at its end; readers keep the one they have and never wait.

mod append;
mod attempts;
mod backend;
mod calls;
mod checkpoint;
mod clock;
#[cfg(feature = "sqlite")]
mod copies;
mod error;
mod load;
mod mask;
mod memory;
mod names;
mod operations;
mod packed;
mod past;
mod pool;
mod reader;
mod redact;
mod retention;
mod rows;
mod scope;
mod sealed;
mod session;
mod settings;
mod side;
mod slot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod step;
mod store;
mod sync;
mod tally;
mod tenant;
#[cfg(feature = "sqlite")]
mod transfer;
mod undo;
mod url;
mod verify;

pub use append::{Appender, Note};
pub use backend::Backend;
pub use calls::{RunningCall, StepError};
pub use clock::SystemClock;
pub use contextree_tree::Cycle;
pub use error::{ReadError, Result, StoreError};
pub use mask::{display_path, display_url, mask_secrets};
pub use memory::Memory;
pub use operations::{Operation, OperationKind};
pub use reader::Reader;
pub use redact::{ATTRIBUTE, NODE, Redacted, Redaction, RedactionRecord};
pub use retention::{Retained, Retention};
pub use rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContentRow, ContextId, ContextRow, Head, LineChange,
    NewContext, Pin, Revision, Rewrite, SideChange, SidePage, SideRecord, Step, Stretch,
};
pub use session::Session;
pub use settings::ContextSettings;
pub use side::Side;
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, Sqlite, SqliteOptions};
pub use store::{OpenHook, Store, StoreOptions};
pub use tally::{
    CALL_KIND, COUNTED, Count, Tally, attempt_sum, check_side_row, context_sum, journal_sum,
    pin_sum, side_entry, side_sum,
};
pub use tenant::Tenant;
pub use undo::{UNDONE, UndoError, Undone};
pub use url::{Opener, Schemes, scheme_of};
pub use verify::{ContextCheck, Verification};
