//! Which contexts there are, by their own rows and by their branches: a context that is missing is noticed by those who list them.

use contextree_store::{COUNTED, ContextId, ContextRow, StoreError, context_sum};
use tokio_postgres::Row;

use crate::error::Fault;
use crate::sql;
use crate::tally::number;

/// Where the columns that [`counted`] adds begin: after those of a context.
const ADDED: usize = 10;

/// Adds to a statement that lists contexts what the rows and the branches of all contexts say, unless there are too many of them. It is one
/// statement, so that everything is of one moment.
///
/// Columns: those of a listed context; then, of each context: number and name by its own row, and what its branch says; then how many contexts and
/// how many such branches there are, up to one more than are counted.
pub(crate) fn counted(schema: &str, list: &str) -> String {
    let most = COUNTED + 1;
    let few = format!(
        "(SELECT count(*) FROM contexts) <= {COUNTED} AND (SELECT count(*) FROM branches) <= {COUNTED}"
    );
    format!(
        "WITH listed AS ({list}), contexts AS (SELECT id, name, branch FROM {schema}.context LIMIT {most}), branches AS (SELECT id, named FROM {schema}.branch WHERE named IS NOT NULL LIMIT {most}), known AS (SELECT contexts.id, contexts.name, branches.named FROM contexts FULL JOIN branches ON branches.id = contexts.branch WHERE {few}), size AS (SELECT (SELECT count(*) FROM contexts) AS contexts, (SELECT count(*) FROM branches) AS branches) SELECT listed.*, known.id, known.name, known.named, size.contexts, size.branches FROM size LEFT JOIN (listed FULL JOIN known ON known.id = listed.id) ON true ORDER BY listed.name"
    )
}

/// Returns the listed contexts, after checking that none is missing. `all` says that the list begins with the first context; `limit` is how many
/// it may have.
pub(crate) fn check(rows: &[Row], all: bool, limit: usize) -> Result<Vec<ContextRow>, Fault> {
    let mut listed = Vec::new();
    let mut left_out = false;
    for row in rows {
        let (id, named): (Option<i64>, Option<i64>) =
            (row.try_get(ADDED)?, row.try_get(ADDED + 2)?);
        let sum = match id {
            Some(id) => Some(number(context_sum(ContextId(id), row.try_get(ADDED + 1)?))),
            None => None,
        };
        if sum != named {
            return Err(damaged(
                "a context is missing, or does not have the name that was written",
            ));
        }
        match row.try_get::<_, Option<i64>>(0)? {
            Some(_) => listed.push(sql::context(row)?),
            None => left_out |= id.is_some(),
        }
    }
    if let Some(row) = rows.first() {
        let sizes: [i64; 2] = [row.try_get(ADDED + 3)?, row.try_get(ADDED + 4)?];
        let are_few = sizes.map(|size| u64::try_from(size).is_ok_and(|size| size <= COUNTED));
        if are_few[0] != are_few[1] {
            return Err(damaged("there are not as many contexts as there should be"));
        }
    }
    if left_out && all && listed.len() < limit {
        return Err(damaged("a context is missing from its index"));
    }
    Ok(listed)
}

/// Returns the one context that was asked for by name, after checking that no other row has that name if none was found.
pub(crate) fn check_one(rows: &[Row], name: &str) -> Result<Option<ContextRow>, Fault> {
    let found = check(rows, false, 1)?.pop();
    if found.is_none() {
        for row in rows {
            if row.try_get::<_, Option<&str>>(ADDED + 1)? == Some(name) {
                return Err(damaged("a context is missing from its index"));
            }
        }
    }
    Ok(found)
}

fn damaged(message: &str) -> Fault {
    let record = "the list of contexts".to_owned();
    StoreError::Corrupt { record, message: message.to_owned() }.into()
}
