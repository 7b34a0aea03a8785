//! Durable homes for contexts.
//!
//! What is stored is what happened: records of effects, one per commit, never commands to be run again. A [`Backend`] keeps
//! rows and decides nothing: it knows no tree, no record format and no rule. What the rows mean is known above it.
//!
//! ```text
//! Session ─engine→ records ─Step→ Backend ─→ a SQLite file · a PostgreSQL server · memory
//! ```

mod backend;
mod error;
mod memory;
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "suite")]
pub mod suite;

pub use backend::Backend;
pub use error::{Result, StoreError};
pub use memory::Memory;
pub use rows::{
    AttemptRow, Checkpoint, Commit, ContentRow, ContextRow, Head, NewContext, Pin, Rewrite, Step,
    Stretch,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, Sqlite, SqliteOptions};
