//! What the rows beside the history of a context add up to. The head has it, in the row that every step writes anyway.
//!
//! A row that is missing, repeated, moved or altered changes the count or the sum. The check is made by every reader. It finds damage; it is
//! not a signature.

use contextree_tree::Cycle;

use crate::calls;
use crate::error::{Result, StoreError};
use crate::rows::{ContextId, Revision};

/// Up to how many side records of a context, or contexts of a store, are counted by a reader who asks only for some of them. Beyond it, only
/// readers of all of them count, and `verify`.
pub const COUNTED: u64 = 1_024;

/// The kind of the side record of a running call, which is counted apart from the others.
pub const CALL_KIND: &str = calls::KIND;

/// Rows, counted: how many, and the sum of one CRC-32 for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many there are.
    pub rows: u64,
    /// The sum of the numbers that they add.
    pub sum: u64,
}

impl Count {
    /// Counts a row that adds a number to the sum.
    pub fn add(&mut self, sum: u64) {
        // A count that was damaged must not end in a panic.
        self.rows = self.rows.wrapping_add(1);
        self.sum = self.sum.wrapping_add(sum);
    }

    /// Takes back [`Count::add`].
    pub fn remove(&mut self, sum: u64) {
        self.rows = self.rows.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(sum);
    }

    /// Compares with what was counted from the rows. `record` names them in the error.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if they differ.
    pub fn check(&self, found: &Count, record: &dyn std::fmt::Display) -> Result<()> {
        if self == found {
            return Ok(());
        }
        let message = match self.rows == found.rows {
            true => "a row is not the one that was written".to_owned(),
            false => format!("there are {} rows and should be {}", found.rows, self.rows),
        };
        Err(StoreError::Corrupt { record: record.to_string(), message })
    }
}

/// The rows beside the history of a context, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The entries of the journal; see [`journal_sum`].
    pub journal: Count,
    /// The attempts; see [`attempt_sum`].
    pub attempts: Count,
    /// The running call, a side record that every reader needs; see [`side_entry`].
    pub calls: Count,
    /// All other side records; see [`side_entry`].
    pub side: Count,
    /// The pins; see [`pin_sum`].
    pub pins: Count,
}

impl Tally {
    /// Returns what counts the side records of a kind.
    #[must_use]
    pub fn side_of(&self, kind: &str) -> &Count {
        if kind == calls::KIND { &self.calls } else { &self.side }
    }

    /// Returns what counts the side records of a kind.
    pub fn side_of_mut(&mut self, kind: &str) -> &mut Count {
        if kind == calls::KIND { &mut self.calls } else { &mut self.side }
    }

    /// Compares the side records of a kind, or all, with what was counted from their rows.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if they differ.
    pub fn check_side(&self, context: ContextId, kind: Option<&str>, found: &Tally) -> Result<()> {
        let record = format!("context #{context}, side records");
        if kind.is_none_or(|kind| kind == calls::KIND) {
            self.calls.check(&found.calls, &record)?;
        }
        if kind != Some(calls::KIND) {
            self.side.check(&found.side, &record)?;
        }
        Ok(())
    }
}

/// Returns the number that an entry of the journal adds to the sum.
#[must_use]
pub fn journal_sum(revision: Revision, data: &[u8]) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&revision.get().to_le_bytes());
    hasher.update(data);
    u64::from(hasher.finalize())
}

/// Returns the number that an attempt adds to the sum: its id, and the numbers that decide where it is among the others. Its record has a
/// check of its own, and may be replaced.
#[must_use]
pub fn attempt_sum(id: &str, place: &[i64]) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    for number in place {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(id.as_bytes());
    u64::from(hasher.finalize())
}

/// Returns the check of a side record, stored beside its value: it covers everything that the row says, so that a row is never taken for
/// another one.
#[must_use]
pub fn side_sum(context: ContextId, kind: &str, key: &str, value: &[u8]) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&context.get().to_le_bytes());
    for text in [kind, key] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.update(value);
    u64::from(hasher.finalize())
}

/// Returns the number that a side record adds to the sum. It needs its check instead of its value, so that counting reads no values.
#[must_use]
pub fn side_entry(kind: &str, key: &str, sum: u64) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    for text in [kind, key] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.update(&sum.to_le_bytes());
    u64::from(hasher.finalize())
}

/// Fails if a side record is not the one that was written.
///
/// # Errors
///
/// `E_STORE_CORRUPT`.
pub fn check_side_row(
    context: ContextId,
    (kind, key, value): (&str, &str, &[u8]),
    sum: u64,
) -> Result<()> {
    if side_sum(context, kind, key, value) == sum {
        return Ok(());
    }
    Err(StoreError::Corrupt {
        record: format!("context #{context}, side record {kind}/{key}"),
        message: "it is not what was written".to_owned(),
    })
}

/// Returns the number that a pin adds to the sum.
#[must_use]
pub fn pin_sum(cycle: Cycle, label: &str) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&cycle.get().to_le_bytes());
    hasher.update(label.as_bytes());
    u64::from(hasher.finalize())
}

/// Returns the number that a context adds to the sum of its store.
#[must_use]
pub fn context_sum(id: ContextId, name: &str) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&id.get().to_le_bytes());
    hasher.update(name.as_bytes());
    u64::from(hasher.finalize())
}
