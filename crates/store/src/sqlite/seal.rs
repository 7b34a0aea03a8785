//! The seal of a head: the tally of the context, and a check of everything that its rows in `heads` and `contexts` say.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params};

use super::fault::fault;
use super::sql;
use crate::error::{Result, StoreError};
use crate::rows::{ContextId, ContextRow, Revision};
use crate::tally::Tally;

/// Four counts and sums of eight bytes each, then the check.
const LENGTH: usize = 36;

/// A seal as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) tally: Tally,
    check: u32,
}

impl Seal {
    /// Seals what is about to be written. `key` is that of the last step.
    pub(super) fn of(row: &ContextRow, key: Option<[u8; 16]>, tally: Tally) -> Seal {
        Seal { tally, check: check_of(row, key, &tally) }
    }

    /// Fails if the rows do not say what was written.
    pub(super) fn verify(&self, row: &ContextRow, key: Option<[u8; 16]>) -> Result<()> {
        if check_of(row, key, &self.tally) == self.check {
            return Ok(());
        }
        Err(StoreError::Corrupt {
            record: format!("context {}, head", row.name),
            message: "it is not what was written".to_owned(),
        })
    }

    fn to_bytes(self) -> [u8; LENGTH] {
        let Tally { journal, journal_sum, attempts, attempts_sum } = self.tally;
        let mut bytes = [0; LENGTH];
        for (place, number) in
            bytes.chunks_exact_mut(8).zip([journal, journal_sum, attempts, attempts_sum])
        {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[LENGTH - 4..].copy_from_slice(&self.check.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Seal> {
        let (numbers, check) = bytes.split_last_chunk::<4>()?;
        let mut numbers = numbers.chunks_exact(8).map(|it| it.try_into().map(u64::from_le_bytes));
        let mut next = || numbers.next()?.ok();
        let tally = Tally {
            journal: next()?,
            journal_sum: next()?,
            attempts: next()?,
            attempts_sum: next()?,
        };
        (bytes.len() == LENGTH).then_some(Seal { tally, check: u32::from_le_bytes(*check) })
    }
}

impl ToSql for Seal {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.to_bytes().to_vec()))
    }
}

impl FromSql for Seal {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Seal> {
        Seal::from_bytes(value.as_blob()?).ok_or(FromSqlError::InvalidType)
    }
}

fn check_of(row: &ContextRow, key: Option<[u8; 16]>, tally: &Tally) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    let mut text = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    text(row.name.as_bytes());
    text(row.settings.as_bytes());
    text(key.as_ref().map_or(&[][..], |key| &key[..]));
    text(row.head.as_ref().map_or(&[][..], |head| &head.digest[..]));
    let cycle = row.head.map_or(u64::MAX, |head| u64::from(head.cycle));
    for number in [row.id.get(), row.created_ns, row.updated_ns] {
        hasher.update(&number.to_le_bytes());
    }
    let Tally { journal, journal_sum, attempts, attempts_sum } = *tally;
    let counts = [cycle, row.revision.get(), row.snapshots];
    for number in counts.into_iter().chain([journal, journal_sum, attempts, attempts_sum]) {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize()
}

/// Counts the rows of the journal and the attempts of a context.
pub(super) fn count(connection: &Connection, context: ContextId) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut statement = connection.prepare_cached(sql::JOURNAL_ROWS).map_err(fault)?;
    let mut rows = statement.query(params![context]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let revision: Revision = row.get(0).map_err(fault)?;
        let data = row.get_ref(1).map_err(fault)?;
        tally.add_journal(revision, data.as_blob().map_err(|error| fault(error.into()))?);
    }
    let mut statement = connection.prepare_cached(sql::ATTEMPT_PLACES).map_err(fault)?;
    let mut rows = statement.query(params![context]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let id: String = row.get(1).map_err(fault)?;
        tally.add_attempt(&id, &[row.get(0).map_err(fault)?]);
    }
    Ok(tally)
}

/// Seals the heads of a file of an older format, which has none.
pub(super) fn seal_all(connection: &Connection) -> Result<()> {
    let mut ids = connection.prepare("SELECT context FROM heads").map_err(fault)?;
    let ids = ids.query_map([], |row| row.get(0)).map_err(fault)?;
    for id in ids.collect::<rusqlite::Result<Vec<ContextId>>>().map_err(fault)? {
        let found = super::read::known_unchecked(connection, sql::CONTEXT_BY_ID, params![id])?;
        let Some(found) = found else { continue };
        let seal = Seal::of(&found.row, found.key, count(connection, id)?);
        connection.execute(sql::SET_SEAL, params![id, seal]).map_err(fault)?;
    }
    Ok(())
}
