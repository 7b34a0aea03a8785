//! The seal of a head: the tally of the context, and a check of everything that its rows in `heads` and `contexts` say.

use contextree_tree::Cycle;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params};

use super::fault::fault;
use super::read::{Known, OLDER_SEAL};
use super::sql;
use super::totals;
use crate::error::{Result, StoreError};
use crate::rows::{BranchId, ContextId, ContextRow, Revision};
use crate::tally::{Count, Tally, attempt_sum, journal_sum, pin_sum, side_entry, side_sum};

/// Five counts and sums of eight bytes each, then the check.
const LENGTH: usize = 84;

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
        let mut bytes = [0; LENGTH];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers_of(&self.tally)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[LENGTH - 4..].copy_from_slice(&self.check.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Seal> {
        let (numbers, check) = bytes.split_last_chunk::<4>()?;
        let mut numbers = numbers.chunks_exact(8).map(|it| it.try_into().map(u64::from_le_bytes));
        let mut number = || numbers.next()?.ok();
        let mut next = || Some(Count { rows: number()?, sum: number()? });
        let tally = Tally {
            journal: next()?,
            attempts: next()?,
            calls: next()?,
            side: next()?,
            pins: next()?,
        };
        (bytes.len() == LENGTH).then_some(Seal { tally, check: u32::from_le_bytes(*check) })
    }
}

fn numbers_of(tally: &Tally) -> impl Iterator<Item = u64> {
    let Tally { journal, attempts, calls, side, pins } = *tally;
    [journal, attempts, calls, side, pins].into_iter().flat_map(|it| [it.rows, it.sum])
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

/// A seal of format 3, which counts the journal and the attempts only.
struct OldSeal {
    journal: Count,
    attempts: Count,
    check: u32,
}

impl OldSeal {
    fn from_bytes(bytes: &[u8]) -> Option<OldSeal> {
        let (numbers, check) = bytes.split_last_chunk::<4>()?;
        let mut numbers = numbers.chunks_exact(8).map(|it| it.try_into().map(u64::from_le_bytes));
        let mut number = || numbers.next()?.ok();
        let mut next = || Some(Count { rows: number()?, sum: number()? });
        let (journal, attempts) = (next()?, next()?);
        let check = u32::from_le_bytes(*check);
        (bytes.len() == OLDER_SEAL).then_some(OldSeal { journal, attempts, check })
    }

    /// Returns the seal of the same head in the newest format. What is counted already is not counted again: that would hide a missing row.
    fn renewed(&self, found: &Known, counted: Tally) -> Seal {
        let tally = Tally { journal: self.journal, attempts: self.attempts, ..counted };
        let numbers =
            [self.journal, self.attempts].into_iter().flat_map(|count| [count.rows, count.sum]);
        let seal = Seal::of(&found.row, found.key, tally);
        match check_with(&found.row, found.key, numbers) == self.check {
            true => seal,
            // What was damaged before stays damaged.
            false => Seal { check: !seal.check, ..seal },
        }
    }
}

fn check_of(row: &ContextRow, key: Option<[u8; 16]>, tally: &Tally) -> u32 {
    check_with(row, key, numbers_of(tally))
}

fn check_with(row: &ContextRow, key: Option<[u8; 16]>, numbers: impl Iterator<Item = u64>) -> u32 {
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
    let counts = [cycle, row.revision.get(), row.snapshots];
    for number in counts.into_iter().chain(numbers) {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize()
}

/// Returns the check of a row of `branches`.
pub(super) fn branch_check(branch: BranchId, begin: Option<(BranchId, Cycle)>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&branch.get().to_le_bytes());
    if let Some((parent, upto)) = begin {
        hasher.update(&parent.get().to_le_bytes());
        hasher.update(&upto.get().to_le_bytes());
    }
    hasher.finalize()
}

/// Counts the rows beside the history of a context.
pub(super) fn count(connection: &Connection, context: ContextId) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut statement = connection.prepare_cached(sql::JOURNAL_ROWS).map_err(fault)?;
    let mut rows = statement.query(params![context]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let revision: Revision = row.get(0).map_err(fault)?;
        let data = row.get_ref(1).map_err(fault)?;
        let data = data.as_blob().map_err(|error| fault(error.into()))?;
        tally.journal.add(journal_sum(revision, data));
    }
    let mut statement = connection.prepare_cached(sql::ATTEMPT_PLACES).map_err(fault)?;
    let mut rows = statement.query(params![context]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let id: String = row.get(1).map_err(fault)?;
        tally.attempts.add(attempt_sum(&id, &[row.get(0).map_err(fault)?]));
    }
    count_side(connection, context, &mut tally)?;
    let mut statement = connection.prepare_cached(sql::PIN_ROWS).map_err(fault)?;
    let mut rows = statement.query(params![context]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let label: String = row.get(1).map_err(fault)?;
        tally.pins.add(pin_sum(Cycle(row.get(0).map_err(fault)?), &label));
    }
    Ok(tally)
}

/// Counts the side records of a context, without reading their values.
pub(super) fn count_side(
    connection: &Connection,
    context: ContextId,
    tally: &mut Tally,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql::SIDE_SUMS).map_err(fault)?;
    let mut rows = statement.query(params![context]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
        let (kind, key) = (text(0).map_err(fault)?, text(1).map_err(fault)?);
        let sum: u32 = row.get(2).map_err(fault)?;
        let own: ContextId = row.get(3).map_err(fault)?;
        // A row that says another context is between those of this one only because of damage: other ways to it do not find it.
        if own == context {
            tally.side_of_mut(kind).add(side_entry(kind, key, u64::from(sum)));
        }
    }
    Ok(())
}

/// Seals what a file of an older format has without a seal: side records, branches, heads, and the list of contexts. `from` is its format.
pub(super) fn seal_all(connection: &Connection, from: u32) -> Result<()> {
    seal_side(connection)?;
    for branch in super::read::branches(connection)? {
        let check = branch_check(branch.0, branch.1);
        connection.execute(sql::SET_BRANCH_CHECK, params![branch.0, check]).map_err(fault)?;
    }
    let mut heads = connection.prepare(sql::OLD_SEALS).map_err(fault)?;
    let heads = heads.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fault)?;
    let heads: rusqlite::Result<Vec<(ContextId, Option<Vec<u8>>)>> = heads.collect();
    for (id, old) in heads.map_err(fault)? {
        let found = super::read::known_unchecked(connection, sql::CONTEXT_BY_ID, params![id])?;
        let Some(found) = found else { continue };
        let counted = count(connection, id)?;
        let seal = match old.as_deref().map(OldSeal::from_bytes) {
            Some(Some(old)) => Some(old.renewed(&found, counted)),
            None if from < 3 => Some(Seal::of(&found.row, found.key, counted)),
            // It should have one.
            _ => None,
        };
        connection.execute(sql::SET_SEAL, params![id, seal]).map_err(fault)?;
    }
    totals::write(connection, &totals::count(connection)?)
}

/// Moves side records to the table that has a check for each.
fn seal_side(connection: &Connection) -> Result<()> {
    let mut old = connection.prepare(sql::OLD_SIDE).map_err(fault)?;
    let mut rows = old.query([]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let (context, kind): (ContextId, String) =
            (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
        let (key, value): (String, Vec<u8>) =
            (row.get(2).map_err(fault)?, row.get(3).map_err(fault)?);
        let sum = side_sum(context, &kind, &key, &value);
        let values = params![context, kind, key, sum as u32, value];
        connection.execute(sql::PUT_SIDE, values).map_err(fault)?;
    }
    drop(rows);
    drop(old);
    connection.execute_batch(sql::DROP_OLD_SIDE).map_err(fault)
}
