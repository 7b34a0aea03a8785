//! What the rows beside the history of a context add up to, in columns of its row. Every reader compares; see [`Tally`].
//!
//! Which contexts there are is counted by their branches: each has, in `named`, the number that its context adds to the sum. So contexts are
//! created without a row that all of them would have to change.

use contextree_store::{
    ContextId, Count, Result, Revision, Tally, attempt_sum, context_sum, journal_sum, pin_sum,
    side_entry, side_sum,
};
use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::Row;

use crate::error::Fault;
use crate::sql::{count_from, cycle_from, revision_from};
use crate::write::{all, execute};

/// The names of the columns: a count and a sum of each.
pub(crate) const NAMES: [&str; 10] = [
    "journal_rows",
    "journal_sum",
    "attempt_rows",
    "attempt_sum",
    "call_rows",
    "call_sum",
    "side_rows",
    "side_sum",
    "pin_rows",
    "pin_sum",
];

/// The columns, in the order that [`read`] wants.
pub(crate) const COLUMNS: &str = "context.journal_rows, context.journal_sum, context.attempt_rows, context.attempt_sum, context.call_rows, context.call_sum, context.side_rows, context.side_sum, context.pin_rows, context.pin_sum";

/// How many contexts, or side records, are counted at once.
const PAGE: i64 = 256;

/// What tables of an older version say already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing.
    Nothing,
    /// The journal and the attempts: since version 3.
    JournalAndAttempts,
}

/// Reads a tally from ten columns.
pub(crate) fn read(row: &Row, first: usize) -> Result<Tally, Fault> {
    let count = |place: usize| -> Result<Count, Fault> {
        let column = first + 2 * place;
        Ok(Count {
            rows: count_from(row.try_get(column)?)?,
            sum: count_from(row.try_get(column + 1)?)?,
        })
    };
    Ok(Tally {
        journal: count(0)?,
        attempts: count(1)?,
        calls: count(2)?,
        side: count(3)?,
        pins: count(4)?,
    })
}

/// Returns a count or a sum as the server has it.
pub(crate) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a tally as the server has it.
pub(crate) fn numbers(tally: &Tally) -> [i64; 10] {
    let Tally { journal, attempts, calls, side, pins } = tally;
    let mut numbers = [0; 10];
    for (place, count) in numbers.chunks_exact_mut(2).zip([journal, attempts, calls, side, pins]) {
        place.copy_from_slice(&[number(count.rows), number(count.sum)]);
    }
    numbers
}

/// Counts the rows of a context and writes the result into its row.
pub(crate) async fn recount(
    client: &Transaction<'_>,
    schema: &str,
    context: ContextId,
) -> Result<(), Fault> {
    recount_but(client, schema, context, Known::Nothing).await
}

async fn recount_but(
    client: &Transaction<'_>,
    schema: &str,
    context: ContextId,
    known: Known,
) -> Result<(), Fault> {
    let id = context.get();
    let mut tally = Tally::default();
    let text = format!("SELECT revision, record FROM {schema}.journal WHERE context = $1");
    for row in all(client, &text, &[&id]).await? {
        let revision: Revision = revision_from(row.try_get(0)?)?;
        tally.journal.add(journal_sum(revision, row.try_get(1)?));
    }
    let text = format!("SELECT id, born, place FROM {schema}.attempt WHERE context = $1");
    for row in all(client, &text, &[&id]).await? {
        let place = [row.try_get(1)?, row.try_get(2)?];
        tally.attempts.add(attempt_sum(row.try_get(0)?, &place));
    }
    let text = format!("SELECT kind, key, sum FROM {schema}.side WHERE context = $1");
    for row in all(client, &text, &[&id]).await? {
        let (kind, key) = (row.try_get(0)?, row.try_get(1)?);
        tally.side_of_mut(kind).add(side_entry(kind, key, count_from(row.try_get(2)?)?));
    }
    let text = format!("SELECT cycle, label FROM {schema}.pin WHERE context = $1");
    for row in all(client, &text, &[&id]).await? {
        tally.pins.add(pin_sum(cycle_from(row.try_get(0)?)?, row.try_get(1)?));
    }
    let first = match known {
        Known::Nothing => 0,
        // Counting again what is counted already would hide that a row is missing.
        Known::JournalAndAttempts => 4,
    };
    let set: Vec<String> = NAMES
        .iter()
        .enumerate()
        .skip(first)
        .map(|(at, name)| format!("{name} = ${}", at + 2 - first))
        .collect();
    let text = format!("UPDATE {schema}.context SET {} WHERE id = $1", set.join(", "));
    let numbers = numbers(&tally);
    let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![&id];
    for number in &numbers[first..] {
        values.push(number);
    }
    execute(client, &text, &values).await?;
    Ok(())
}

/// Counts the rows of every context that has any, and the contexts themselves: tables of an older version do not say.
pub(crate) async fn recount_all(
    client: &Transaction<'_>,
    schema: &str,
    known: Known,
) -> Result<(), Fault> {
    check_side(client, schema).await?;
    let any: Vec<String> = ["journal", "attempt", "side", "pin"]
        .iter()
        .map(|table| {
            format!("EXISTS (SELECT 1 FROM {schema}.{table} WHERE {table}.context = context.id)")
        })
        .collect();
    let text = format!(
        "SELECT id, name, branch, {} FROM {schema}.context WHERE id > $1 ORDER BY id LIMIT {PAGE}",
        any.join(" OR ")
    );
    let mut last = i64::MIN;
    loop {
        let rows = all(client, &text, &[&last]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            last = row.try_get(0)?;
            name_branch(client, schema, ContextId(last), row.try_get(1)?).await?;
            if row.try_get(3)? {
                recount_but(client, schema, ContextId(last), known).await?;
            }
        }
    }
}

/// Gives each side record the check that tables of an older version do not have.
async fn check_side(client: &Transaction<'_>, schema: &str) -> Result<(), Fault> {
    let text = format!(
        "SELECT context, kind, key, value FROM {schema}.side WHERE (context, kind, key) > ($1::bigint, $2::text, $3::text) ORDER BY context, kind, key LIMIT {PAGE}"
    );
    let set = format!(
        "UPDATE {schema}.side SET sum = part.sum, entry = part.entry FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS part (context, kind, key, sum, entry) WHERE side.context = part.context AND side.kind = part.kind AND side.key = part.key"
    );
    let mut last = (i64::MIN, String::new(), String::new());
    loop {
        let rows = all(client, &text, &[&last.0, &last.1, &last.2]).await?;
        let (mut contexts, mut kinds, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sums, mut entries) = (Vec::new(), Vec::new());
        for row in &rows {
            let (context, kind, key) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let sum = side_sum(ContextId(context), kind, key, row.try_get(3)?);
            contexts.push(context);
            kinds.push(kind);
            keys.push(key);
            sums.push(number(sum));
            entries.push(number(side_entry(kind, key, sum)));
        }
        let Some(((context, kind), key)) = contexts.last().zip(kinds.last()).zip(keys.last())
        else {
            return Ok(());
        };
        last = (*context, (*kind).to_owned(), (*key).to_owned());
        execute(client, &set, &[&contexts, &kinds, &keys, &sums, &entries]).await?;
    }
}

/// Notes in the branch of a context that the context exists, under this name.
pub(crate) async fn name_branch(
    client: &impl GenericClient,
    schema: &str,
    context: ContextId,
    name: &str,
) -> Result<(), Fault> {
    let text = format!(
        "UPDATE {schema}.branch SET named = $2 WHERE id = (SELECT branch FROM {schema}.context WHERE id = $1)"
    );
    let named = number(context_sum(context, name));
    execute(client, &text, &[&context.get(), &named]).await?;
    Ok(())
}
