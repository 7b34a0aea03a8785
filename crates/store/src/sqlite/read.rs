//! Everything that reads rows, and the connections for it.
//!
//! Readers never wait for the writer, nor it for them: each sees the file as it was when its statement began.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use contextree_tree::Cycle;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::{corrupt, fault};
use super::open::Source;
use super::seal::{Seal, branch_check};
use super::{sql, totals};
use crate::error::{Result, StoreError};
use crate::rows::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, Head, Pin, Revision, SidePage,
    Stretch,
};
use crate::tally::{Count, Tally, attempt_sum, journal_sum, pin_sum};

/// How many connections are kept for later. More are opened when more threads read at once.
const IDLE: usize = 8;

pub(super) struct Readers {
    source: Source,
    idle: Mutex<Vec<Connection>>,
    /// The only connection, in the middle of a transaction: everything is read as it was when that began.
    view: Option<Mutex<Connection>>,
    /// A connection that never writes, to be asked for the version of the file: each connection counts for itself.
    version: Mutex<Option<Connection>>,
    /// What the list of contexts was found to have.
    pub(super) counted: Arc<totals::Counted>,
}

impl Readers {
    pub(super) fn new(source: Source) -> Readers {
        Readers {
            source,
            idle: Mutex::default(),
            view: None,
            version: Mutex::default(),
            counted: Arc::default(),
        }
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

/// Reads several times of one moment.
pub(super) fn at_once<T>(connection: &Connection, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if !connection.is_autocommit() {
        return work();
    }
    let once = connection.unchecked_transaction().map_err(fault)?;
    let done = work();
    once.finish().map_err(fault)?;
    done
}

/// Returns the version of the file's format.
pub(super) fn format(connection: &Connection) -> Result<u32> {
    let mut statement = connection.prepare_cached("PRAGMA user_version").map_err(fault)?;
    statement.query_row([], |row| row.get(0)).map_err(fault)
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

    /// Returns what the rows beside its history add up to.
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

/// Where the count of all contexts is, after the columns of `heads`.
const TOTALS: usize = HEAD + SEAL + 1;

/// From here on a list without a beginning is likely to be that of all contexts.
const MOST_OF_A_PAGE: usize = 100;

/// The length of a seal of format 3, which counted less.
pub(super) const OLDER_SEAL: usize = 36;

fn context_row(row: &Row<'_>) -> rusqlite::Result<Known> {
    let (cycle, digest): (Option<u32>, Option<[u8; 32]>) = (row.get(HEAD + 4)?, row.get(HEAD + 5)?);
    let head = cycle.map(Cycle).zip(digest).map(|(cycle, digest)| Head { cycle, digest });
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
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) if bytes.len() == OLDER_SEAL => Ok(Sealed::Older),
        _ => Ok(row.get::<_, Option<Seal>>(column)?.map_or(Sealed::Missing, Sealed::With)),
    }
}

fn count_at(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Returns contexts by name. With `counted`, none is left out by a damaged page.
pub(super) fn list(
    connection: &Connection,
    after: Option<&str>,
    limit: usize,
    counted: Option<&totals::Counted>,
) -> Result<Vec<ContextRow>> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    if let Some(counted) = counted
        && let Some(rows) = page_as_counted(connection, after, limit, counted)?
    {
        return Ok(rows);
    }
    at_once(connection, || {
        let found = all(connection, sql::CONTEXTS, params![after, most], context_row)?;
        let rows: Result<Vec<ContextRow>> =
            found.into_iter().map(|known| Ok(known.check()?.row)).collect();
        let rows = rows?;
        if let Some(counted) = counted {
            totals::check(connection, &rows, after.is_none() && rows.len() < limit, counted)?;
        }
        Ok(rows)
    })
}

/// Returns a page of contexts with one statement and no transaction; `None` if the contexts have to be counted to know that none is left out.
fn page_as_counted(
    connection: &Connection,
    after: Option<&str>,
    limit: usize,
    counted: &totals::Counted,
) -> Result<Option<Vec<ContextRow>>> {
    // All contexts: what was read is what is counted.
    let may_be_all = after.is_none() && limit > MOST_OF_A_PAGE;
    if may_be_all {
        return Ok(None);
    }
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let read = |row: &Row<'_>| Ok((context_row(row)?, row.get(TOTALS)?));
    let found: Vec<(Known, Option<Vec<u8>>)> =
        all(connection, sql::CONTEXTS_AND_TOTALS, params![after, most], read)?;
    let is_page = after.is_some() || found.len() == limit;
    let is_counted = found.first().is_some_and(|(_, total)| counted.covers(total.as_deref()));
    if !is_page || !is_counted {
        return Ok(None);
    }
    found.into_iter().map(|(known, _)| Ok(known.check()?.row)).collect::<Result<_>>().map(Some)
}

/// A row of `branches`: its number, and where it begins.
type Branch = (BranchId, Option<(BranchId, Cycle)>);

fn branch_row(row: &Row<'_>) -> rusqlite::Result<Branch> {
    let (parent, upto): (Option<BranchId>, Option<u32>) = (row.get(1)?, row.get(2)?);
    Ok((row.get(0)?, parent.zip(upto.map(Cycle))))
}

/// Returns all branches, unchecked.
pub(super) fn branches(connection: &Connection) -> Result<Vec<Branch>> {
    all(connection, sql::BRANCHES, [], branch_row)
}

/// Returns where a branch begins; `None` if there is no such branch.
pub(super) fn begin(
    connection: &Connection,
    branch: BranchId,
) -> Result<Option<Option<(BranchId, Cycle)>>> {
    let mut statement = connection.prepare_cached(sql::BRANCH).map_err(fault)?;
    let found = statement.query_row([branch], |row| {
        let (id, begin) = branch_row(row)?;
        let check = match row.as_ref().column_count() {
            // Of an older format.
            3 => Some(branch_check(branch, begin)),
            _ => row.get::<_, Option<u32>>(3)?,
        };
        Ok((id == branch && check == Some(branch_check(id, begin)), begin))
    });
    match found.optional().map_err(fault)? {
        Some((false, _)) => Err(StoreError::Corrupt {
            record: format!("branch {branch}"),
            message: "it is not what was written".to_owned(),
        }),
        found => Ok(found.map(|(_, begin)| begin)),
    }
}

/// Lists contexts whose names begin with a prefix, and reads no other row.
pub(super) fn list_within(
    connection: &Connection,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ContextRow>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (low, high) = SidePage { prefix, after, ..SidePage::of("") }.bounds();
    // Every text comes before a blob: there is one statement for pages with an end and for those without.
    let high = high.map_or_else(|| Value::Blob(Vec::new()), Value::Text);
    let found = all(connection, sql::CONTEXTS_WITHIN, params![low, high, limit], context_row)?;
    found.into_iter().map(|known| Ok(known.check()?.row)).collect()
}

/// Returns contexts by name, without those whose rows are damaged.
pub(super) fn list_intact(
    connection: &Connection,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ContextRow>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    // What a row cannot be read for is damage of that row.
    let read = |row: &Row<'_>| Ok(context_row(row).map_err(fault).and_then(Known::check).ok());
    let found = all(connection, sql::CONTEXTS, params![after, limit], read)?;
    Ok(found.into_iter().flatten().map(|known| known.row).collect())
}

/// Returns the branches that use a content.
pub(super) fn users(connection: &Connection, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
    all(connection, sql::USERS, [hash], |row| row.get(0))
}

pub(super) fn lineage(connection: &Connection, branch: BranchId) -> Result<Vec<Stretch>> {
    let mut stretches = Vec::new();
    let mut seen = BTreeSet::new();
    let own = branch;
    let mut next = Some((branch, Cycle::MAX));
    while let Some((branch, upto)) = next {
        // A damaged number could lead around in a circle. The order of numbers does not tell: undo moves branches to newer ones.
        if !seen.insert(branch) {
            return Err(corrupt(format!("branch {branch} begins in itself")));
        }
        let Some(begin) = begin(connection, branch)? else {
            // A context is deleted together with its branch.
            let mut context = connection.prepare_cached(sql::CONTEXT_OF_BRANCH).map_err(fault)?;
            if context.exists([own]).map_err(fault)? {
                return Err(corrupt(format!("branch {branch} is missing")));
            }
            return Err(StoreError::NotFound { context: format!("branch {branch}") });
        };
        stretches.push(Stretch { branch, upto });
        next = begin.map(|(parent, begin)| (parent, begin.min(upto)));
    }
    stretches.reverse();
    Ok(stretches)
}

/// True if a history has a snapshot at exactly this cycle.
pub(super) fn has_snapshot(
    connection: &Connection,
    lineage: &[Stretch],
    cycle: Cycle,
) -> Result<bool> {
    let mut statement = connection.prepare_cached(sql::HAS_SNAPSHOT).map_err(fault)?;
    for stretch in lineage.iter().rev().filter(|stretch| cycle <= stretch.upto) {
        if statement
            .query_row(params![stretch.branch, cycle.get()], |row| row.get(0))
            .map_err(fault)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn children(connection: &Connection, branch: BranchId) -> Result<Vec<Stretch>> {
    all(connection, sql::CHILDREN, [branch], |row| {
        Ok(Stretch { branch: row.get(0)?, upto: Cycle(row.get(1)?) })
    })
}

pub(super) fn count(connection: &Connection, branch: BranchId, cycle: Cycle) -> Result<u64> {
    let mut statement = connection.prepare_cached(sql::COUNT).map_err(fault)?;
    statement.query_row(params![branch, cycle.get()], |row| count_at(row, 0)).map_err(fault)
}

/// Fails if the index led to the row of another branch or cycle, or to none. The first columns of the row are the branch, the cycle of
/// the index, and that of the row itself. Returns the cycle.
fn same_place(row: &Row<'_>, branch: BranchId) -> Result<Cycle> {
    let read = || -> rusqlite::Result<(Option<BranchId>, u32, Option<u32>)> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    };
    let (found, cycle, own) = read().map_err(fault)?;
    if (found, own) == (Some(branch), Some(cycle)) {
        return Ok(Cycle(cycle));
    }
    Err(StoreError::Corrupt {
        record: format!("branch {branch}, @c{cycle}"),
        message: "its index leads to another row".to_owned(),
    })
}

pub(super) fn checkpoint(
    connection: &Connection,
    branch: BranchId,
    cycle: Cycle,
) -> Result<Option<Checkpoint>> {
    let mut statement = connection.prepare_cached(sql::CHECKPOINT).map_err(fault)?;
    let mut rows = statement.query(params![branch, cycle.get()]).map_err(fault)?;
    let Some(row) = rows.next().map_err(fault)? else { return Ok(None) };
    let cycle = same_place(row, branch)?;
    let (bodies, tree) = (row.get(3).map_err(fault)?, row.get(4).map_err(fault)?);
    Ok(Some(Checkpoint { cycle, tree, bodies }))
}

pub(super) fn checkpoint_bodies(
    connection: &Connection,
    branch: BranchId,
    cycle: Cycle,
) -> Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached(sql::CHECKPOINT_BODIES).map_err(fault)?;
    let mut rows = statement.query(params![branch, cycle.get()]).map_err(fault)?;
    let Some(row) = rows.next().map_err(fault)? else { return Ok(None) };
    same_place(row, branch)?;
    row.get(3).map(Some).map_err(fault)
}

pub(super) fn commits(
    connection: &Connection,
    branch: BranchId,
    first: Cycle,
    last: Cycle,
    visit: &mut dyn FnMut(Commit) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql::COMMITS).map_err(fault)?;
    let mut rows = statement.query(params![branch, first.get(), last.get()]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let cycle = same_place(row, branch)?;
        let (bodies, effects) = (row.get(3).map_err(fault)?, row.get(4).map_err(fault)?);
        visit(Commit { cycle, effects, bodies })?;
    }
    Ok(())
}

pub(super) fn bodies(
    connection: &Connection,
    branch: BranchId,
    cycles: &[Cycle],
    visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
) -> Result<()> {
    // Without it, each look takes and gives back a lock of the file, which costs more than the look.
    at_once(connection, || {
        let mut statement = connection.prepare_cached(sql::BODIES).map_err(fault)?;
        // Cycles without a gap are one statement: the next row of a table is found without a search.
        for run in cycles.chunk_by(|cycle, next| cycle.next() == *next) {
            let [first, last] =
                [run.first(), run.last()].map(|cycle| cycle.map(|cycle| cycle.get()));
            let bounds = params![branch, first, last];
            let mut rows = statement.query(bounds).map_err(fault)?;
            while let Some(row) = rows.next().map_err(fault)? {
                visit(same_place(row, branch)?, row.get(3).map_err(fault)?)?;
            }
        }
        Ok(())
    })
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
    let (mut entries, mut found) = (Vec::new(), Count::default());
    let mut head: Option<(Revision, Sealed)> = None;
    while let Some(row) = rows.next().map_err(fault)? {
        let mut read = || -> rusqlite::Result<()> {
            if head.is_none() {
                head = Some((row.get(3)?, seal_at(row, 2 + SEAL)?));
            }
            if let (Some(revision), Some(data)) = (row.get(0)?, row.get::<_, Option<Vec<u8>>>(1)?) {
                found.add(journal_sum(revision, &data));
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
        tally.journal.check(&found, &format_args!("context #{context}, journal"))?;
    }
    Ok((revision, entries))
}

/// Returns what the rows beside the history of a context have to add up to; `None` if there is no such context, or the file is of a
/// format that does not say.
pub(super) fn tally(connection: &Connection, context: ContextId) -> Result<Option<Tally>> {
    let mut statement = connection.prepare_cached(sql::HEAD).map_err(fault)?;
    let seal = statement.query_row([context], |row| seal_at(row, SEAL));
    match seal.optional().map_err(fault)? {
        Some(seal) => seal.tally(context),
        None => Ok(None),
    }
}

pub(super) fn attempts(connection: &Connection, context: ContextId) -> Result<Vec<AttemptRow>> {
    let mut statement = connection.prepare_cached(sql::ATTEMPTS).map_err(fault)?;
    let mut rows = statement.query([context]).map_err(fault)?;
    let (mut attempts, mut found, mut seal) = (Vec::new(), Count::default(), Sealed::Older);
    while let Some(row) = rows.next().map_err(fault)? {
        let mut read = || -> rusqlite::Result<()> {
            seal = seal_at(row, 3 + SEAL)?;
            if let (Some(place), Some(id)) = (row.get(0)?, row.get::<_, Option<String>>(1)?) {
                found.add(attempt_sum(&id, &[place]));
                attempts.push(AttemptRow { id, record: row.get(2)? });
            }
            Ok(())
        };
        read().map_err(fault)?;
    }
    if let Some(tally) = seal.tally(context)? {
        tally.attempts.check(&found, &format_args!("context #{context}, attempts"))?;
    }
    Ok(attempts)
}

pub(super) fn pins(connection: &Connection, context: ContextId) -> Result<Vec<Pin>> {
    let mut statement = connection.prepare_cached(sql::PINS).map_err(fault)?;
    let mut rows = statement.query([context]).map_err(fault)?;
    let (mut pins, mut found, mut seal) = (Vec::new(), Count::default(), Sealed::Older);
    while let Some(row) = rows.next().map_err(fault)? {
        let mut read = || -> rusqlite::Result<()> {
            seal = seal_at(row, 2 + SEAL)?;
            if let (Some(cycle), Some(label)) = (row.get(0)?, row.get::<_, Option<String>>(1)?) {
                let cycle = Cycle(cycle);
                found.add(pin_sum(cycle, &label));
                pins.push(Pin { cycle, label });
            }
            Ok(())
        };
        read().map_err(fault)?;
    }
    if let Some(tally) = seal.tally(context)? {
        tally.pins.check(&found, &format_args!("context #{context}, pins"))?;
    }
    Ok(pins)
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

pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(fault)?;
    let rows = statement.query_map(parameters, read).map_err(fault)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fault)
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, params};

    use super::sql;
    use crate::sqlite::schema::migrate;

    #[test]
    fn pages_of_contexts_are_searched_for_and_not_scanned_for() {
        let connection = Connection::open_in_memory().expect("memory");
        migrate(&connection, 0).expect("the schema");
        for statement in [sql::CONTEXTS, sql::CONTEXTS_AND_TOTALS, sql::CONTEXTS_WITHIN] {
            let text = format!("EXPLAIN QUERY PLAN {statement}");
            let mut explained = connection.prepare(&text).expect("it is valid");
            let number = explained.parameter_count();
            let detail = |row: &rusqlite::Row<'_>| row.get::<_, String>(3);
            let plan = match number {
                2 => explained.query_map(params!["a", 1], detail),
                _ => explained.query_map(params!["a", "b", 1], detail),
            };
            let plan: Vec<String> = plan.expect("a plan").map(|it| it.expect("text")).collect();
            assert!(plan.iter().any(|step| step.starts_with("SEARCH c USING")), "{plan:?}");
            assert!(!plan.iter().any(|step| step.starts_with("SCAN c")), "{plan:?}");
        }
    }
}
