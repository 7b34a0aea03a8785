//! The contexts of a store, counted, in a row of their own: a context that a damaged page hides is noticed by those who list them.

use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::{corrupt, fault};
use super::read::{Known, at_once, known};
use super::sql;
use crate::error::{Result, StoreError};
use crate::rows::{ContextId, ContextRow};
use crate::tally::{COUNTED, Count, context_sum};

/// The counts that the list was last found to have.
#[derive(Default)]
pub(super) struct Counted {
    /// By those who list contexts. A process counts the list once and then again only after it changed: otherwise asking for one context after
    /// the other would read all of them each time.
    listed: Last,
    /// By those who look for a name that is not there. What this process adds and removes itself is followed, so that creating one context
    /// after the other does not read all of them each time.
    names: Last,
}

impl Counted {
    /// Returns whether a list needs no counting: the stored count was found to be true, or there are too many contexts to count.
    pub(super) fn covers(&self, stored: Option<&[u8]>) -> bool {
        let is_known = |total: Count| total.rows > COUNTED || self.listed.is(total);
        stored.and_then(from_bytes).is_some_and(is_known)
    }
}

/// A count that was found once.
#[derive(Default)]
struct Last(Mutex<Option<Count>>);

impl Last {
    fn is(&self, total: Count) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) == Some(total)
    }

    fn note(&self, total: Option<Count>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = total;
    }
}

/// A count and a sum of eight bytes each, then a CRC-32 of both.
const LENGTH: usize = 20;

fn to_bytes(total: &Count) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&total.rows.to_le_bytes());
    bytes[8..16].copy_from_slice(&total.sum.to_le_bytes());
    let check = crc32fast::hash(&bytes[..16]);
    bytes[16..].copy_from_slice(&check.to_le_bytes());
    bytes
}

fn from_bytes(bytes: &[u8]) -> Option<Count> {
    let (rows, rest) = bytes.split_first_chunk::<8>()?;
    let (sum, _) = rest.split_first_chunk::<8>()?;
    let total = Count { rows: u64::from_le_bytes(*rows), sum: u64::from_le_bytes(*sum) };
    (to_bytes(&total) == bytes).then_some(total)
}

/// Returns what is stored; `None` if it is not what was written.
fn read(connection: &Connection) -> Result<Option<Count>> {
    let mut statement = connection.prepare_cached(sql::TOTALS).map_err(fault)?;
    let stored: Option<Option<Vec<u8>>> =
        statement.query_row([], |row| row.get(0)).optional().map_err(fault)?;
    Ok(stored.flatten().as_deref().and_then(from_bytes))
}

pub(super) fn write(connection: &Connection, total: &Count) -> Result<()> {
    let mut statement = connection.prepare_cached(sql::SET_TOTALS).map_err(fault)?;
    statement.execute(params![to_bytes(total)]).map(drop).map_err(fault)
}

/// Counts all contexts, by the index that lists them.
pub(super) fn count(connection: &Connection) -> Result<Count> {
    let mut total = Count::default();
    let mut statement = connection.prepare_cached(sql::NAMES).map_err(fault)?;
    let mut rows = statement.query([]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let id: ContextId = row.get(0).map_err(fault)?;
        let name = row.get_ref(1).map_err(fault)?;
        total.add(context_sum(id, name.as_str().map_err(|error| fault(error.into()))?));
    }
    Ok(total)
}

/// Changes the count, as contexts are added and removed.
pub(super) fn change(
    connection: &Connection,
    removed: Option<(ContextId, &str)>,
    added: Option<(ContextId, &str)>,
    counted: &Counted,
) -> Result<()> {
    // What is damaged stays so, and can still be deleted: every list says that it is.
    let Some(mut total) = read(connection)? else { return Ok(()) };
    let was_counted = counted.names.is(total);
    if let Some((id, name)) = removed {
        total.remove(context_sum(id, name));
    }
    if let Some((id, name)) = added {
        total.add(context_sum(id, name));
    }
    if was_counted {
        // If the step is rolled back, the stored count differs, and the list is counted anew.
        counted.names.note(Some(total));
    }
    write(connection, &total)
}

/// Returns a context by its name. If there is none, checks that no damage hides it: otherwise another one of that name would be created.
pub(super) fn find(
    connection: &Connection,
    name: &str,
    counted: &Counted,
) -> Result<Option<Known>> {
    if let Some(found) = known(connection, sql::CONTEXT_BY_NAME, params![name])? {
        return Ok(Some(found));
    }
    at_once(connection, || {
        // Another process may have created it in between.
        if let Some(found) = known(connection, sql::CONTEXT_BY_NAME, params![name])? {
            return Ok(Some(found));
        }
        let mut entry = connection.prepare_cached(sql::ID_BY_NAME).map_err(fault)?;
        let stored = read(connection)?;
        // An entry that leads to no row.
        let is_led_astray = entry.exists(params![name]).map_err(fault)?;
        // A few contexts are counted each time: damage may be newer than the last count.
        let is_counted = || stored.is_some_and(|it| it.rows > COUNTED && counted.names.is(it));
        if is_led_astray || !(is_counted() || stored == Some(count(connection)?)) {
            // Without numbers: a tenant is not told how many contexts there are.
            let message = "a context is missing from it, or has another name".to_owned();
            return Err(StoreError::Corrupt { record: "the list of contexts".to_owned(), message });
        }
        counted.names.note(stored);
        Ok(None)
    })
}

/// Returns what is wrong with the list of contexts, however many there are; `None` if nothing is.
pub(super) fn fault_of(connection: &Connection) -> Result<Option<String>> {
    at_once(connection, || match compare(connection, &count(connection)?) {
        Err(StoreError::Corrupt { record, message }) => Ok(Some(format!("{record}: {message}"))),
        checked => checked.map(|()| None),
    })
}

/// Compares what was counted with what is stored.
fn compare(connection: &Connection, found: &Count) -> Result<()> {
    match read(connection)? {
        Some(total) => total.check(found, &"the list of contexts"),
        None => Err(corrupt("the count of contexts is not what was written".to_owned())),
    }
}

/// Checks that a part of the list does not leave a context out. `rows` are all of them if `all`.
pub(super) fn check(
    connection: &Connection,
    rows: &[ContextRow],
    all: bool,
    counted: &Counted,
) -> Result<()> {
    if all {
        let mut found = Count::default();
        rows.iter().for_each(|row| found.add(context_sum(row.id, &row.name)));
        return compare(connection, &found);
    }
    let stored = read(connection)?;
    match stored {
        Some(total) if total.rows > COUNTED || counted.listed.is(total) => Ok(()),
        _ => {
            compare(connection, &count(connection)?)?;
            counted.listed.note(stored);
            Ok(())
        }
    }
}
