//! Everything that reads rows, and the connections for it.
//!
//! Readers never wait for the writer, nor it for them: each sees the file as it was when its statement began.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::{corrupt, fault};
use super::open::Source;
use super::seal::Seal;
use super::sql;
use crate::error::{Result, StoreError};
use crate::rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, Head, Pin, Revision, SidePage,
    SideRecord, Stretch,
};
use crate::tally::Tally;

/// How many connections are kept for later. More are opened when more threads read at once.
const IDLE: usize = 8;

pub(super) struct Readers {
    source: Source,
    idle: Mutex<Vec<Connection>>,
    /// The only connection, in the middle of a transaction: everything is read as it was when that began.
    view: Option<Mutex<Connection>>,
    /// A connection that never writes, to be asked for the version of the file: each connection counts for itself.
    version: Mutex<Option<Connection>>,
}

impl Readers {
    pub(super) fn new(source: Source) -> Readers {
        Readers { source, idle: Mutex::default(), view: None, version: Mutex::default() }
    }

    /// Returns what reads the file as it is now, whatever is written to it later.
    pub(super) fn view(&self) -> Result<Readers> {
        let connection = self.source.reader()?;
        connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema").map_err(fault)?;
        Ok(Readers { view: Some(Mutex::new(connection)), ..Readers::new(self.source.clone()) })
    }

    /// True if all reads are of one moment. Then a visitor must not be called while something is being read.
    pub(super) fn is_view(&self) -> bool {
        self.view.is_some()
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Reads with a connection that no other thread uses meanwhile.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if let Some(view) = &self.view {
            return work(&view.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let connection = match waiting {
            Some(connection) => connection,
            None => self.source.reader()?,
        };
        let done = work(&connection);
        let mut idle = idle();
        if idle.len() < IDLE {
            idle.push(connection);
        }
        done
    }

    /// Returns a number that changes whenever another connection, of any process, has written.
    pub(super) fn version(&self) -> Result<u64> {
        let mut kept = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match kept.take() {
            Some(connection) => connection,
            None => self.source.reader()?,
        };
        let number = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .map_err(fault)?;
        *kept = Some(connection);
        Ok(number.unsigned_abs())
    }
}

/// A context as its rows are.
pub(super) struct Known {
    pub(super) row: ContextRow,
    /// The key of its last step.
    pub(super) key: Option<[u8; 16]>,
    seal: Sealed,
}

/// Whether a head has a seal.
#[derive(Clone, Copy)]
enum Sealed {
    /// The file is of a format that has none.
    Older,
    /// It should have one.
    Missing,
    With(Seal),
}

impl Sealed {
    /// Returns the tally to compare with; `None` if there is nothing to compare.
    fn tally(self, context: ContextId) -> Result<Option<Tally>> {
        match self {
            Sealed::Older => Ok(None),
            Sealed::With(seal) => Ok(Some(seal.tally)),
            Sealed::Missing => Err(StoreError::Corrupt {
                record: format!("context #{context}, head"),
                message: "it has no seal".to_owned(),
            }),
        }
    }
}

impl Known {
    /// Fails if the rows are not what was written.
    fn check(self) -> Result<Known> {
        self.seal.tally(self.row.id)?;
        if let Sealed::With(seal) = &self.seal {
            seal.verify(&self.row, self.key)?;
        }
        Ok(self)
    }

    /// Returns what the journal and the attempts add up to.
    pub(super) fn tally(&self) -> Tally {
        match self.seal {
            Sealed::With(seal) => seal.tally,
            Sealed::Older | Sealed::Missing => Tally::default(),
        }
    }
}

/// Returns a context.
pub(super) fn known(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Option<Known>> {
    known_unchecked(connection, sql, parameters)?.map(Known::check).transpose()
}

/// Like [`known`], but a damaged row is returned as it is.
pub(super) fn known_unchecked(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Option<Known>> {
    let mut statement = connection.prepare_cached(sql).map_err(fault)?;
    statement.query_row(parameters, context_row).optional().map_err(fault)
}

/// Where the columns of `heads` begin, after those of `contexts`.
const HEAD: usize = 4;

/// The number of the column `seal` in `heads`.
const SEAL: usize = 7;

fn context_row(row: &Row<'_>) -> rusqlite::Result<Known> {
    let (cycle, digest): (Option<u32>, Option<[u8; 32]>) = (row.get(HEAD + 4)?, row.get(HEAD + 5)?);
    let head = cycle.zip(digest).map(|(cycle, digest)| Head { cycle, digest });
    let context = ContextRow {
        id: row.get(0)?,
        name: row.get(1)?,
        branch: row.get(0)?,
        revision: row.get(HEAD + 1)?,
        head,
        snapshots: count_at(row, HEAD + 2)?,
        settings: row.get(2)?,
        created_ns: row.get(3)?,
        updated_ns: row.get(HEAD + 3)?,
    };
    Ok(Known { row: context, key: row.get(HEAD + 6)?, seal: seal_at(row, HEAD + SEAL)? })
}

/// Returns the seal in a column.
fn seal_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Sealed> {
    if row.as_ref().column_count() <= column {
        return Ok(Sealed::Older);
    }
    Ok(row.get::<_, Option<Seal>>(column)?.map_or(Sealed::Missing, Sealed::With))
}

fn count_at(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

pub(super) fn list(
    connection: &Connection,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ContextRow>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = all(connection, sql::CONTEXTS, params![after, limit], context_row)?;
    found.into_iter().map(|known| Ok(known.check()?.row)).collect()
}

pub(super) fn lineage(connection: &Connection, branch: BranchId) -> Result<Vec<Stretch>> {
    let mut statement = connection.prepare_cached(sql::BRANCH).map_err(fault)?;
    let mut stretches = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = Some((branch, u32::MAX));
    while let Some((branch, upto)) = next {
        // A damaged number could lead around in a circle. The order of numbers does not tell: undo moves branches to newer ones.
        if !seen.insert(branch) {
            return Err(corrupt(format!("branch {branch} begins in itself")));
        }
        let parent: Option<(Option<BranchId>, Option<u32>)> = statement
            .query_row([branch], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(fault)?;
        let Some((parent, begin)) = parent else {
            return Err(StoreError::NotFound { context: format!("branch {branch}") });
        };
        stretches.push(Stretch { branch, upto });
        next = parent.zip(begin).map(|(parent, begin)| (parent, begin.min(upto)));
    }
    stretches.reverse();
    Ok(stretches)
}

/// True if a history has a snapshot at exactly this cycle.
pub(super) fn has_snapshot(
    connection: &Connection,
    lineage: &[Stretch],
    cycle: u32,
) -> Result<bool> {
    let mut statement = connection.prepare_cached(sql::HAS_SNAPSHOT).map_err(fault)?;
    for stretch in lineage.iter().rev().filter(|stretch| cycle <= stretch.upto) {
        if statement.query_row(params![stretch.branch, cycle], |row| row.get(0)).map_err(fault)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn children(connection: &Connection, branch: BranchId) -> Result<Vec<Stretch>> {
    all(connection, sql::CHILDREN, [branch], |row| {
        Ok(Stretch { branch: row.get(0)?, upto: row.get(1)? })
    })
}

pub(super) fn count(connection: &Connection, branch: BranchId, cycle: u32) -> Result<u64> {
    let mut statement = connection.prepare_cached(sql::COUNT).map_err(fault)?;
    statement.query_row(params![branch, cycle], |row| count_at(row, 0)).map_err(fault)
}

pub(super) fn checkpoint(
    connection: &Connection,
    branch: BranchId,
    cycle: u32,
) -> Result<Option<Checkpoint>> {
    let mut statement = connection.prepare_cached(sql::CHECKPOINT).map_err(fault)?;
    let found = statement.query_row(params![branch, cycle], |row| {
        Ok(Checkpoint { cycle: row.get(0)?, tree: row.get(1)?, bodies: row.get(2)? })
    });
    found.optional().map_err(fault)
}

pub(super) fn commits(
    connection: &Connection,
    branch: BranchId,
    first: u32,
    last: u32,
    visit: &mut dyn FnMut(Commit) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql::COMMITS).map_err(fault)?;
    let mut rows = statement.query(params![branch, first, last]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let commit = || -> rusqlite::Result<Commit> {
            Ok(Commit { cycle: row.get(0)?, effects: row.get(1)?, bodies: row.get(2)? })
        };
        visit(commit().map_err(fault)?)?;
    }
    Ok(())
}

pub(super) fn bodies(
    connection: &Connection,
    branch: BranchId,
    cycles: &[u32],
    visit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>,
) -> Result<()> {
    // Without it, each look takes and gives back a lock of the file, which costs more than the look.
    let once = match connection.is_autocommit() {
        true => Some(connection.unchecked_transaction().map_err(fault)?),
        false => None,
    };
    let mut statement = connection.prepare_cached(sql::BODIES).map_err(fault)?;
    // Cycles without a gap are one statement: the next row of a table is found without a search.
    for run in cycles.chunk_by(|cycle, next| cycle.checked_add(1) == Some(*next)) {
        let bounds = params![branch, run.first(), run.last()];
        let mut rows = statement.query(bounds).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let (cycle, bodies) = (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
            visit(cycle, bodies)?;
        }
    }
    drop(statement);
    once.map_or(Ok(()), |once| once.finish().map_err(fault))
}

/// Returns the blob in the first column of the row, if there is one.
pub(super) fn blob(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached(sql).map_err(fault)?;
    statement.query_row(parameters, |row| row.get(0)).optional().map_err(fault)
}

pub(super) fn journal(
    connection: &Connection,
    context: ContextId,
) -> Result<(Revision, Vec<Vec<u8>>)> {
    let mut statement = connection.prepare_cached(sql::JOURNAL).map_err(fault)?;
    let mut rows = statement.query([context]).map_err(fault)?;
    let (mut entries, mut found) = (Vec::new(), Tally::default());
    let mut head: Option<(Revision, Sealed)> = None;
    while let Some(row) = rows.next().map_err(fault)? {
        let mut read = || -> rusqlite::Result<()> {
            if head.is_none() {
                head = Some((row.get(3)?, seal_at(row, 2 + SEAL)?));
            }
            if let (Some(revision), Some(data)) = (row.get(0)?, row.get::<_, Option<Vec<u8>>>(1)?) {
                found.add_journal(revision, &data);
                entries.push(data);
            }
            Ok(())
        };
        read().map_err(fault)?;
    }
    let Some((revision, seal)) = head else {
        return Err(StoreError::NotFound { context: format!("#{context}") });
    };
    if let Some(tally) = seal.tally(context)? {
        tally.check_journal(format_args!("#{context}"), &found)?;
    }
    Ok((revision, entries))
}

/// True if the file is of a format that has side records.
pub(super) fn has_side(connection: &Connection) -> Result<bool> {
    let mut statement = connection.prepare_cached(sql::HAS_SIDE).map_err(fault)?;
    statement.query_row([], |row| row.get(0)).map_err(fault)
}

pub(super) fn side_records(
    connection: &Connection,
    context: ContextId,
    kind: Option<&str>,
) -> Result<Vec<SideRecord>> {
    all(connection, sql::SIDE, params![context, kind], |row| {
        Ok(SideRecord { kind: row.get(0)?, key: row.get(1)?, value: row.get(2)? })
    })
}

pub(super) fn side_page(
    connection: &Connection,
    context: ContextId,
    page: &SidePage<'_>,
) -> Result<Vec<SideRecord>> {
    let (low, high) = page.bounds();
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let text = match (high.is_some(), page.reverse) {
        (true, false) => sql::SIDE_PAGE,
        (true, true) => sql::SIDE_PAGE_BACK,
        (false, false) => sql::SIDE_REST,
        (false, true) => sql::SIDE_REST_BACK,
    };
    all(connection, text, params![context, page.kind, low, limit, high], |row| {
        Ok(SideRecord { kind: row.get(0)?, key: row.get(1)?, value: row.get(2)? })
    })
}

pub(super) fn attempts(connection: &Connection, context: ContextId) -> Result<Vec<AttemptRow>> {
    let mut statement = connection.prepare_cached(sql::ATTEMPTS).map_err(fault)?;
    let mut rows = statement.query([context]).map_err(fault)?;
    let (mut attempts, mut found, mut seal) = (Vec::new(), Tally::default(), Sealed::Older);
    while let Some(row) = rows.next().map_err(fault)? {
        let mut read = || -> rusqlite::Result<()> {
            seal = seal_at(row, 3 + SEAL)?;
            if let (Some(place), Some(id)) = (row.get(0)?, row.get::<_, Option<String>>(1)?) {
                found.add_attempt(&id, &[place]);
                attempts.push(AttemptRow { id, record: row.get(2)? });
            }
            Ok(())
        };
        read().map_err(fault)?;
    }
    if let Some(tally) = seal.tally(context)? {
        tally.check_attempts(format_args!("#{context}"), &found)?;
    }
    Ok(attempts)
}

pub(super) fn pins(connection: &Connection, context: ContextId) -> Result<Vec<Pin>> {
    all(connection, sql::PINS, [context], |row| Ok(Pin { cycle: row.get(0)?, label: row.get(1)? }))
}

/// Asks SQLite itself for what is wrong with the file.
pub(super) fn faults(connection: &Connection) -> Result<Vec<String>> {
    let text = |row: &Row<'_>| row.get::<_, String>(0);
    let mut found = all(connection, "PRAGMA integrity_check", [], text)?;
    found.retain(|line| line != "ok");
    let loose = all(connection, "PRAGMA foreign_key_check", [], |row| {
        let (table, number): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let parent: String = row.get(2)?;
        let number = number.unwrap_or(0);
        Ok(format!("row {number} of {table} needs a row of {parent} that is not there"))
    })?;
    found.extend(loose);
    Ok(found)
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(fault)?;
    let rows = statement.query_map(parameters, read).map_err(fault)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fault)
}
