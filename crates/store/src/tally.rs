//! What the journal and the attempts of a context add up to. The head has it, in the row that every step writes anyway.
//!
//! A row of the journal that is missing, repeated, moved or altered changes the count or the sum, and so does an attempt. The check is made by
//! every reader. It finds damage; it is not a signature.

use crate::error::{Result, StoreError};
use crate::rows::Revision;

/// The journal and the attempts of a context, counted. Sums are those of one CRC-32 per row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many entries the journal has.
    pub journal: u64,
    /// The sum of [`journal_sum`] over them.
    pub journal_sum: u64,
    /// How many attempts there are.
    pub attempts: u64,
    /// The sum of [`attempt_sum`] over them.
    pub attempts_sum: u64,
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

impl Tally {
    /// Counts an entry of the journal.
    pub fn add_journal(&mut self, revision: Revision, data: &[u8]) {
        self.journal += 1;
        self.journal_sum += journal_sum(revision, data);
    }

    /// Counts the journal as empty.
    pub fn empty_journal(&mut self) {
        (self.journal, self.journal_sum) = (0, 0);
    }

    /// Counts an attempt; see [`attempt_sum`].
    pub fn add_attempt(&mut self, id: &str, place: &[i64]) {
        self.attempts += 1;
        self.attempts_sum += attempt_sum(id, place);
    }

    /// Compares the journal of a context with what was counted from its rows.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if they differ.
    pub fn check_journal(&self, context: impl std::fmt::Display, found: &Tally) -> Result<()> {
        let same = (self.journal, self.journal_sum) == (found.journal, found.journal_sum);
        check(same, (self.journal, found.journal), &format!("context {context}, journal"))
    }

    /// Compares the attempts of a context with what was counted from their rows.
    ///
    /// # Errors
    ///
    /// `E_STORE_CORRUPT` if they differ.
    pub fn check_attempts(&self, context: impl std::fmt::Display, found: &Tally) -> Result<()> {
        let same = (self.attempts, self.attempts_sum) == (found.attempts, found.attempts_sum);
        check(same, (self.attempts, found.attempts), &format!("context {context}, attempts"))
    }
}

fn check(same: bool, (expected, found): (u64, u64), record: &str) -> Result<()> {
    if same {
        return Ok(());
    }
    let message = match expected == found {
        true => "a row is not the one that was written".to_owned(),
        false => format!("there are {found} rows and should be {expected}"),
    };
    Err(StoreError::Corrupt { record: record.to_owned(), message })
}
