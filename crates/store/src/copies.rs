//! Copies of a store, checked as they are made.

use std::path::Path;

use crate::backend::Backend as _;
use crate::error::{Result, StoreError};
use crate::sqlite::{Sqlite, SqliteOptions};
use crate::store::Store;
use crate::transfer::transfer;
use crate::verify::{Verification, verify};

impl Store {
    /// Copies the store into a new file while others read and write, and verifies the copy before it gets its name. A store that is not a
    /// file itself is copied row by row: without its operation log and the lines that were undone, and with new revisions.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if the store is damaged; if there is such a file already, or it cannot be written. Then there is no copy.
    pub fn backup(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        if self.backend().backup(path, progress, &demand_sound)? {
            return Ok(());
        }
        let fill = &mut |copy: &Sqlite| {
            self.backend().with_view(&mut |view| transfer(view, copy, progress))
        };
        Sqlite::fill_copy(path, fill, &demand_sound)
    }

    /// Copies all contexts of a backup into this store, which must not have any, and verifies the result. If it fails, the store is empty again.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if the copy is damaged; if it is not a Contextree store, or this one has contexts already.
    pub fn restore_into(&self, backup: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        if self.tenant().is_some() {
            let message = "a backup is restored into a whole store, not by a tenant".to_owned();
            return Err(StoreError::Backend { message });
        }
        let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let copy = Sqlite::open(backup, &options)?;
        let to = &**self.backend();
        if let Some(taken) = to.list(None, 1)?.into_iter().next() {
            return Err(StoreError::Exists { context: taken.name });
        }
        let done = copy
            .with_view(&mut |view| transfer(view, to, progress))
            .and_then(|()| demand_clean(verify(to, &mut |_, _| {})?));
        if done.is_err() {
            // The first error is the one to report.
            for row in to.list(None, usize::MAX).unwrap_or_default() {
                to.delete(row.id, row.revision).ok();
            }
        }
        done
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
    demand_clean(verify(&Sqlite::open_private(copy)?, &mut |_, _| {})?)
}

fn demand_clean(found: Verification) -> Result<()> {
    let engine = found.engine.into_iter().map(|message| ("the file".to_owned(), message));
    let problems = found.contexts.into_iter().filter_map(|context| context.problem);
    match engine.chain(problems).next() {
        Some((record, message)) => Err(StoreError::Corrupt { record, message }),
        None => Ok(()),
    }
}
