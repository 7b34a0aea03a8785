//! Copies of a store, checked as they are made.

use std::path::Path;

use crate::error::{Result, StoreError};
use crate::sqlite::Sqlite;
use crate::store::Store;
use crate::verify::verify;

impl Store {
    /// Copies the store into a new file while others read and write, and verifies the copy before it gets its name. Returns false if this kind of
    /// store cannot be copied into a file.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if the store is damaged; if there is such a file already, or it cannot be written. Then there is no copy.
    pub fn backup(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<bool> {
        self.backend().backup(path, progress, &demand_sound)
    }

    /// Makes a store of a copy of one, and verifies it before it gets its name. The store must not be there yet.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if the copy is damaged, if it is not a Contextree store, or there is a file at `path` already.
    pub fn restore(backup: &Path, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        Sqlite::restore_checked(backup, path, progress, &demand_sound)
    }
}

fn demand_sound(copy: &Path) -> Result<()> {
    let found = verify(&Sqlite::open_private(copy)?, &mut |_, _| {})?;
    let engine = found.engine.into_iter().map(|message| ("the file".to_owned(), message));
    let problems = found.contexts.into_iter().filter_map(|context| context.problem);
    match engine.chain(problems).next() {
        Some((record, message)) => Err(StoreError::Corrupt { record, message }),
        None => Ok(()),
    }
}
