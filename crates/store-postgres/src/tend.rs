//! Maintenance of the tables: space and faults.

use contextree_store::{ContextId, Result, context_sum};
use deadpool_postgres::Object;

use crate::error::{Fault, is_unsupported};
use crate::link::{Kind, Link};
use crate::schema::Engine;
use crate::tally::number;
use crate::write::{all, one};

/// Returns rows that point to nothing. Each statement counts them; the name is what is told.
const ORPHANS: [(&str, &str); 9] = [
    (
        "contexts without a branch",
        "context WHERE NOT EXISTS (SELECT 1 FROM {s}.branch WHERE branch.id = context.branch)",
    ),
    (
        "commits without a branch",
        "commits WHERE NOT EXISTS (SELECT 1 FROM {s}.branch WHERE branch.id = commits.branch)",
    ),
    (
        "uses without a branch",
        "uses WHERE NOT EXISTS (SELECT 1 FROM {s}.branch WHERE branch.id = uses.branch)",
    ),
    (
        "contents that are not used",
        "content WHERE NOT EXISTS (SELECT 1 FROM {s}.uses WHERE uses.hash = content.hash)",
    ),
    (
        "journal records without a context",
        "journal WHERE NOT EXISTS (SELECT 1 FROM {s}.context WHERE context.id = journal.context)",
    ),
    (
        "attempts without a context",
        "attempt WHERE NOT EXISTS (SELECT 1 FROM {s}.context WHERE context.id = attempt.context)",
    ),
    (
        "side records without a context",
        "side WHERE NOT EXISTS (SELECT 1 FROM {s}.context WHERE context.id = side.context)",
    ),
    (
        "pins without a context",
        "pin WHERE NOT EXISTS (SELECT 1 FROM {s}.context WHERE context.id = pin.context)",
    ),
    (
        "contexts that their branch does not name",
        "context WHERE NOT EXISTS (SELECT 1 FROM {s}.branch WHERE branch.id = context.branch AND named IS NOT NULL)",
    ),
];

/// Counts branches that name a context which is missing. An account of a tenant may see a branch, because its own continue it, without its
/// context.
const MISSING: &str = "SELECT count(*) FROM {s}.branch WHERE named IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {s}.context WHERE context.branch = branch.id)";

/// How many contexts are compared at once.
const PAGE: i64 = 1_000;

/// Frees the space of deleted rows without blocking other users; returns the size of all tables.
pub(crate) async fn reclaim(link: &Link, schema: &str, engine: Engine) -> Result<Option<u64>> {
    if engine != Engine::Postgres {
        return Ok(None);
    }
    let names = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = $1 ORDER BY table_name";
    let size = "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'";
    tracing::debug!(schema, "reclaiming space");
    link.run_long(Kind::Read, async |client, _| {
        without_limit(client, async |client| {
            for row in all(client, names, &[&schema]).await? {
                let table: String = row.try_get(0)?;
                client.batch_execute(&format!("VACUUM (ANALYZE) {schema}.{table}")).await?;
            }
            let row = one(client, size, &[&schema]).await?;
            let bytes: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
            Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()))
        })
        .await
    })
    .await
}

/// Looks for rows that point to nothing, and for indexes that the server itself does not trust.
///
/// `whole` says that the account sees the whole store.
pub(crate) async fn check(
    link: &Link,
    schema: &str,
    (engine, whole): (Engine, bool),
) -> Result<Vec<String>> {
    link.run_long(Kind::Read, async |client, _| {
        without_limit(client, async |client| {
            let mut faults = Vec::new();
            if whole {
                names(client, schema, &mut faults).await?;
            }
            for (what, condition) in ORPHANS {
                let condition = condition.replace("{s}", schema);
                let text = format!("SELECT count(*) FROM {schema}.{condition}");
                let number: i64 = client.query_one(&text, &[]).await?.try_get(0)?;
                if number > 0 {
                    faults.push(format!("{number} {what}"));
                }
            }
            if engine == Engine::Postgres {
                indexes(client, schema, &mut faults).await?;
            }
            Ok(faults)
        })
        .await
    })
    .await
}

/// Compares the list of contexts with what their branches say.
async fn names(client: &Object, schema: &str, faults: &mut Vec<String>) -> Result<(), Fault> {
    let missing: i64 = client.query_one(&MISSING.replace("{s}", schema), &[]).await?.try_get(0)?;
    if missing > 0 {
        faults.push(format!("the list of contexts: {missing} are missing"));
    }
    let text = format!(
        "SELECT context.id, name, named FROM {schema}.context JOIN {schema}.branch ON branch.id = context.branch WHERE context.id > $1 AND named IS NOT NULL ORDER BY context.id LIMIT {PAGE}"
    );
    let (mut last, mut wrong) = (i64::MIN, 0);
    loop {
        let rows = all(client, &text, &[&last]).await?;
        for row in &rows {
            last = row.try_get(0)?;
            let named: i64 = row.try_get(2)?;
            wrong += u64::from(named != number(context_sum(ContextId(last), row.try_get(1)?)));
        }
        if rows.is_empty() {
            break;
        }
    }
    if wrong > 0 {
        faults.push(format!("the list of contexts: {wrong} do not have the name that was written"));
    }
    Ok(())
}

/// The checks that the extension `amcheck` brings, if it is there; and indexes that were never finished.
async fn indexes(client: &Object, schema: &str, faults: &mut Vec<String>) -> Result<(), Fault> {
    let text = "SELECT pg_class.oid, relname::text, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 ORDER BY relname";
    let amcheck = "SELECT 1 FROM pg_extension WHERE extname = 'amcheck'";
    let deep = client.query_opt(amcheck, &[]).await?.is_some();
    for row in client.query(text, &[&schema]).await? {
        let (oid, name, valid): (u32, String, bool) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if !valid {
            faults.push(format!("the index {name} is not valid"));
        }
        if deep {
            match client.execute("SELECT bt_index_check($1::oid::regclass)", &[&oid]).await {
                Err(error) if error.as_db_error().is_some() && !is_unsupported(&error) => {
                    faults.push(format!("the index {name}: {}", crate::error::text(&error)));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Runs work that may take long; the limit of the connection is restored afterwards.
async fn without_limit<T>(
    client: &Object,
    work: impl AsyncFnOnce(&Object) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let limit: String = client.query_one("SHOW statement_timeout", &[]).await?.try_get(0)?;
    client.batch_execute("SET statement_timeout = 0").await?;
    let outcome = work(client).await;
    client.batch_execute(&format!("SET statement_timeout = '{limit}'")).await?;
    outcome
}
