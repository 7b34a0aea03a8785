//! What the journal and the attempts of a context add up to, in columns of its row. Every reader compares; see [`Tally`].

use contextree_store::{ContextId, Count, Result, Revision, Tally, attempt_sum, journal_sum};
use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use crate::error::Fault;
use crate::sql::{count_from, revision_from};
use crate::write::{all, execute};

/// The columns, in the order that [`read`] wants.
pub(crate) const COLUMNS: &str =
    "context.journal_rows, context.journal_sum, context.attempt_rows, context.attempt_sum";

/// How many contexts are counted at once.
const PAGE: i64 = 256;

/// Reads a tally from four columns.
pub(crate) fn read(row: &Row, first: usize) -> Result<Tally, Fault> {
    let count = |first: usize| -> Result<Count, Fault> {
        Ok(Count {
            rows: count_from(row.try_get(first)?)?,
            sum: count_from(row.try_get(first + 1)?)?,
        })
    };
    Ok(Tally { journal: count(first)?, attempts: count(first + 2)?, ..Tally::default() })
}

/// Returns a count or a sum as the server has it.
pub(crate) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Counts the rows of a context and writes the result into its row.
pub(crate) async fn recount(
    client: &Transaction<'_>,
    schema: &str,
    context: ContextId,
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
    let text = format!(
        "UPDATE {schema}.context SET journal_rows = $2, journal_sum = $3, attempt_rows = $4, attempt_sum = $5 WHERE id = $1"
    );
    let [journal, journal_sum, attempts, attempts_sum] =
        [tally.journal.rows, tally.journal.sum, tally.attempts.rows, tally.attempts.sum]
            .map(number);
    execute(client, &text, &[&id, &journal, &journal_sum, &attempts, &attempts_sum]).await?;
    Ok(())
}

/// Counts the rows of every context that has any: tables of an older version do not say.
pub(crate) async fn recount_all(client: &Transaction<'_>, schema: &str) -> Result<(), Fault> {
    let text = format!(
        "SELECT id FROM {schema}.context WHERE id > $1 AND (EXISTS (SELECT 1 FROM {schema}.journal WHERE journal.context = context.id) OR EXISTS (SELECT 1 FROM {schema}.attempt WHERE attempt.context = context.id)) ORDER BY id LIMIT {PAGE}"
    );
    let mut last = i64::MIN;
    loop {
        let rows = all(client, &text, &[&last]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            last = row.try_get(0)?;
            recount(client, schema, ContextId(last)).await?;
        }
    }
}
