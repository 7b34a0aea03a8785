//! Side records: values beside the history of a context, under a kind and a key. As stored, each value carries a check.

use std::collections::BTreeMap;

use crate::error::{Result, StoreError};
use crate::reader::Reader;
use crate::rows::{ContextRow, SideChange, SidePage, SideRecord};
use crate::store::Shared;

/// The side records of a context within a step: reads see what is stored and what the step has changed so far.
///
/// What is read belongs to the revision that the step continues: if another process writes meanwhile, the step fails with
/// `E_CONFLICT`.
pub struct Side<'s> {
    shared: &'s Shared,
    row: &'s ContextRow,
    /// What the step changes, by kind and key.
    changes: BTreeMap<(String, String), Option<Vec<u8>>>,
}

impl std::fmt::Debug for Side<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Side").field("changes", &self.changes.len()).finish_non_exhaustive()
    }
}

impl<'s> Side<'s> {
    pub(crate) fn new(shared: &'s Shared, row: &'s ContextRow) -> Side<'s> {
        Side { shared, row, changes: BTreeMap::new() }
    }

    /// Returns the revision that the step continues.
    #[must_use]
    pub fn row(&self) -> &ContextRow {
        self.row
    }

    /// Returns the value of a record; `None` if there is no such record.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn get(&self, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        match self.changes.get(&(kind.to_owned(), key.to_owned())) {
            Some(value) => Ok(value.clone()),
            None => read(self.shared, self.row, kind, key),
        }
    }

    /// Writes a record, in place of one with the same kind and key.
    pub fn put(&mut self, kind: &str, key: &str, value: Vec<u8>) {
        self.changes.insert((kind.to_owned(), key.to_owned()), Some(value));
    }

    /// Deletes a record. It need not exist.
    pub fn delete(&mut self, kind: &str, key: &str) {
        self.changes.insert((kind.to_owned(), key.to_owned()), None);
    }

    pub(crate) fn into_changes(self) -> Vec<SideChange> {
        let change = |((kind, key), value): (_, Option<Vec<u8>>)| SideChange {
            kind,
            key,
            value: value.map(|value| seal(&value)),
        };
        self.changes.into_iter().map(change).collect()
    }
}

impl Reader {
    /// Returns the side records of programs: those whose kind has a dot. They may be newer than this revision if another process writes.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or one is damaged.
    pub fn program_records(&self) -> Result<Vec<SideRecord>> {
        let mut records = self.lease.shared.backend.side_records(self.row().id, None)?;
        records.retain(|record| record.kind.contains('.'));
        for record in &mut records {
            record.value = check(self.name(), record)?.to_vec();
        }
        Ok(records)
    }

    /// Returns the value of a side record. It may be newer than this revision if another process writes.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn side_record(&self, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        read(&self.lease.shared, self.row(), kind, key)
    }

    /// Returns side records of one kind, by key. They may be newer than this revision if another process writes.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or one is damaged.
    pub fn side_records(&self, page: &SidePage<'_>) -> Result<Vec<SideRecord>> {
        let mut records = self.lease.shared.backend.side_page(self.row().id, page)?;
        for record in &mut records {
            record.value = check(self.name(), record)?.to_vec();
        }
        Ok(records)
    }
}

fn read(shared: &Shared, row: &ContextRow, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
    let Some(sealed) = shared.backend.side_record(row.id, kind, key)? else { return Ok(None) };
    Ok(Some(open(&sealed).ok_or_else(|| damaged(&row.name, kind, key))?.to_vec()))
}

/// Returns a value with its check: the CRC-32 of it, little-endian, before it.
pub(crate) fn seal(value: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(4 + value.len());
    sealed.extend_from_slice(&crc32fast::hash(value).to_le_bytes());
    sealed.extend_from_slice(value);
    sealed
}

/// Returns the value, or `None` if it is not what was written.
pub(crate) fn open(sealed: &[u8]) -> Option<&[u8]> {
    let (check, value) = sealed.split_first_chunk::<4>()?;
    (u32::from_le_bytes(*check) == crc32fast::hash(value)).then_some(value)
}

/// Checks a side record of any kind; returns its value.
pub(crate) fn check<'a>(context: &str, record: &'a SideRecord) -> Result<&'a [u8]> {
    open(&record.value).ok_or_else(|| damaged(context, &record.kind, &record.key))
}

pub(crate) fn damaged(context: &str, kind: &str, key: &str) -> StoreError {
    StoreError::Corrupt {
        record: format!("context {context}, side record {kind}/{key}"),
        message: "it is not what was written".to_owned(),
    }
}
