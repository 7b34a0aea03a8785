//! Appending to a stored context what happened to a copy of it.
//!
//! A program that follows a log keeps its own copy of the context in memory. An [`Appender`] stores what happens to that copy, step by
//! step, without loading the stored context.

use std::sync::Arc;

use contextree_engine::Records;

use crate::error::Result;
use crate::reader::Reader;
use crate::rows::{ContextRow, SideChange};
use crate::side;
use crate::store::{Shared, Store};

/// A note that is kept beside a context: a value under a kind and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'n> {
    /// What it is for: `import`.
    pub kind: &'n str,
    /// Its name; unique within the context and the kind.
    pub key: &'n str,
    /// The value.
    pub value: &'n [u8],
}

impl Note<'_> {
    pub(crate) fn to_change(self) -> SideChange {
        let Note { kind, key, value } = self;
        SideChange { kind: kind.to_owned(), key: key.to_owned(), value: Some(side::seal(value)) }
    }
}

/// Stores what happens to a copy of a context, step by step, without loading the stored context.
pub struct Appender {
    shared: Arc<Shared>,
    row: ContextRow,
}

impl std::fmt::Debug for Appender {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Appender").field("row", &self.row).finish_non_exhaustive()
    }
}

impl Appender {
    /// Returns the row of the context after the last step.
    #[must_use]
    pub fn row(&self) -> &ContextRow {
        &self.row
    }

    /// Stores records and a note in one durable step. The records have to continue the stored history.
    ///
    /// # Errors
    ///
    /// If the store fails; `E_CONFLICT` if another writer changed the context. Nothing was stored.
    pub fn append(&mut self, records: Records, note: Note<'_>) -> Result<()> {
        let mut step = self.shared.step();
        step.add_records(records);
        step.side.push(note.to_change());
        let (id, revision) = (self.row.id, self.row.revision);
        self.row = self.shared.retry_unknown(|backend| backend.append(id, revision, &step))?;
        Ok(())
    }
}

impl Store {
    /// Returns what appends to a context in the state that a reader shows.
    #[must_use]
    pub fn appender(&self, reader: &Reader) -> Appender {
        Appender { shared: Arc::clone(&self.shared), row: reader.row().clone() }
    }
}
