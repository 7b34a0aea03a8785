//! Durable homes for contexts.
//!
//! What is stored is what happened: records of effects, one per commit, never commands to be run again. A [`Backend`] keeps
//! rows and decides nothing: it knows no tree, no record format and no rule. What the rows mean is known above it.
//!
//! ```text
//! Session ─engine→ records ─Step→ Backend ─→ a SQLite file · a PostgreSQL server · memory
//! ```

mod attempts;
mod backend;
mod calls;
mod checkpoint;
mod error;
mod load;
mod memory;
mod packed;
mod past;
mod pool;
mod reader;
mod retention;
mod rows;
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
mod url;
mod verify;

pub use backend::Backend;
pub use calls::{RunningCall, StepError};
pub use error::{ReadError, Result, StoreError};
pub use memory::Memory;
pub use reader::Reader;
pub use retention::{Retained, Retention};
pub use rows::{
    AttemptRow, Checkpoint, Commit, ContentRow, ContextRow, Head, NewContext, Pin, Rewrite,
    SideChange, SideRecord, Step, Stretch,
};
pub use session::Session;
pub use settings::ContextSettings;
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, Sqlite, SqliteOptions};
pub use store::{OpenHook, Store, StoreOptions};
pub use url::{Opener, Schemes};
pub use verify::{ContextCheck, Verification};
