//! Commits that leave a context's history, and those that come back; and other names.

use contextree_store::{
    ContextId, ContextRow, LineChange, Result, Revision, StoreError, context_sum, side_entry,
    side_sum,
};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;

use crate::error::Fault;
use crate::link::{Kind, Link};
use crate::read::no_context;
use crate::remove::hold;
use crate::sql::{self, CONTEXT};
use crate::tally;
use crate::write::{all, execute, one};

/// Moves commits out of a context's branch, to a new context with the number `line`, or back into it. Returns the row of the context.
pub(crate) async fn change(
    client: &Transaction<'_>,
    schema: &str,
    context: &ContextRow,
    (change, line): (&LineChange, ContextId),
    now_ns: i64,
) -> Result<Option<Row>, Fault> {
    let (id, branch) = (context.id.get(), context.branch.get());
    let held = format!("SELECT id FROM {schema}.branch WHERE id = $1 FOR UPDATE");
    one(client, &held, &[&branch]).await?;
    let (head, snapshots) = match change {
        LineChange::Leave { after, head, name, attempts, note } => {
            check_free(client, schema, name).await?;
            let (line, after) = (line.get(), i64::from(*after));
            let text = format!(
                "INSERT INTO {schema}.branch (id, parent, upto, named) VALUES ($1, $2, $3, $4)"
            );
            let named = tally::number(context_sum(ContextId(line), name));
            execute(client, &text, &[&line, &branch, &after, &named]).await?;
            let text = format!(
                "INSERT INTO {schema}.context (id, name, branch, revision, head_cycle, head_digest, snapshots, settings, created_ns, written_ns, keys) SELECT $2, $3, $2, 1, head_cycle, head_digest, snapshots, settings, $4, $4, ''::bytea FROM {schema}.context WHERE id = $1"
            );
            execute(client, &text, &[&id, &line, name, &now_ns]).await?;
            let moved = move_rows(client, schema, (id, branch), after, (line, line)).await?;
            let text = format!(
                "UPDATE {schema}.attempt SET context = $3 WHERE context = $1 AND id = ANY($2)"
            );
            execute(client, &text, &[&id, attempts, &line]).await?;
            let text = format!(
                "INSERT INTO {schema}.side (context, kind, key, value, sum, entry) VALUES ($1, $2, $3, $4, $5, $6)"
            );
            let sum = side_sum(ContextId(line), &note.kind, &note.key, &note.value);
            let entry = tally::number(side_entry(&note.kind, &note.key, sum));
            let sum = tally::number(sum);
            execute(client, &text, &[&line, &note.kind, &note.key, &note.value, &sum, &entry])
                .await?;
            tally::recount(client, schema, ContextId(line)).await?;
            (*head, context.snapshots.saturating_sub(moved))
        }
        LineChange::Rejoin { name } => rejoin(client, schema, context, name).await?,
    };
    let text = format!(
        "UPDATE {schema}.context SET head_cycle = $2, head_digest = $3, snapshots = $4 WHERE id = $1 RETURNING {CONTEXT}"
    );
    let cycle = head.map(|head| i64::from(head.cycle));
    let digest = head.map(|head| head.digest.to_vec());
    let snapshots = i64::try_from(snapshots).unwrap_or(i64::MAX);
    one(client, &text, &[&id, &cycle, &digest, &snapshots]).await
}

async fn rejoin(
    client: &Transaction<'_>,
    schema: &str,
    context: &ContextRow,
    name: &str,
) -> Result<(Option<contextree_store::Head>, u64), Fault> {
    let text = format!("SELECT {CONTEXT} FROM {schema}.context WHERE name = $1 FOR UPDATE");
    let Some(row) = one(client, &text, &[&name]).await? else {
        return Err(StoreError::NotFound { context: name.to_owned() }.into());
    };
    let line = sql::context(&row)?;
    let (from, to) = (line.branch.get(), context.branch.get());
    let text = format!(
        "SELECT 1 FROM {schema}.branch WHERE id = $1 AND parent = $2 AND NOT EXISTS (SELECT 1 FROM {schema}.commits WHERE commits.branch = $2 AND commits.cycle > branch.upto)"
    );
    if line.revision != Revision::FIRST || one(client, &text, &[&from, &to]).await?.is_none() {
        let (expected, found) = (Revision::FIRST, line.revision);
        return Err(
            StoreError::Conflict { context: line.name, expected, found, head: line.head }.into()
        );
    }
    move_rows(client, schema, (line.id.get(), from), -1, (context.id.get(), to)).await?;
    let text = format!(
        "UPDATE {schema}.attempt SET context = $2 WHERE context = $1 AND NOT EXISTS (SELECT 1 FROM {schema}.attempt AS other WHERE other.context = $2 AND other.id = attempt.id)"
    );
    execute(client, &text, &[&line.id.get(), &context.id.get()]).await?;
    for (table, column) in
        [("journal", "context"), ("attempt", "context"), ("side", "context"), ("context", "id")]
    {
        let text = format!("DELETE FROM {schema}.{table} WHERE {column} = $1");
        execute(client, &text, &[&line.id.get()]).await?;
    }
    for (table, column) in [("uses", "branch"), ("branch", "id")] {
        let text = format!("DELETE FROM {schema}.{table} WHERE {column} = $1");
        execute(client, &text, &[&from]).await?;
    }
    Ok((line.head, line.snapshots))
}

/// Moves everything after a cycle from one context and its branch to another; both use the contents then. Returns how many snapshots were moved.
async fn move_rows(
    client: &Transaction<'_>,
    schema: &str,
    (from_context, from): (i64, i64),
    after: i64,
    (to_context, to): (i64, i64),
) -> Result<u64, Fault> {
    let text = format!(
        "UPDATE {schema}.commits SET branch = $3 WHERE branch = $1 AND cycle > $2 RETURNING effects IS NOT NULL"
    );
    let mut moved = 0;
    for row in all(client, &text, &[&from, &after, &to]).await? {
        moved += u64::from(row.try_get::<_, bool>(0)?);
    }
    for text in [
        format!("UPDATE {schema}.checkpoint SET branch = $3 WHERE branch = $1 AND cycle > $2"),
        format!(
            "UPDATE {schema}.branch SET parent = $3 WHERE parent = $1 AND upto > $2 AND id <> $3"
        ),
    ] {
        execute(client, &text, &[&from, &after, &to]).await?;
    }
    let text = format!("UPDATE {schema}.pin SET context = $3 WHERE context = $1 AND cycle > $2");
    execute(client, &text, &[&from_context, &after, &to_context]).await?;
    let text = format!(
        "INSERT INTO {schema}.uses (branch, hash, cycle) SELECT $2::bigint, hash, cycle FROM {schema}.uses WHERE branch = $1 ON CONFLICT (branch, hash) DO NOTHING"
    );
    execute(client, &text, &[&from, &to]).await?;
    Ok(moved)
}

/// Gives a context another name.
pub(crate) async fn rename(
    link: &Link,
    schema: &str,
    context: ContextId,
    name: &str,
) -> Result<ContextRow> {
    let text = format!("UPDATE {schema}.context SET name = $2 WHERE id = $1 RETURNING {CONTEXT}");
    let work = async |client: &mut Object, _| {
        let transaction = client.transaction().await?;
        let row = hold(&transaction, schema, context).await?.ok_or(no_context(context))?;
        if row.name != name {
            check_free(&transaction, schema, name).await?;
        }
        let row = one(&transaction, &text, &[&context.get(), &name]).await?;
        let row = row.as_ref().map(sql::context).transpose()?.ok_or(no_context(context))?;
        tally::name_branch(&transaction, schema, context, name).await?;
        transaction.commit().await?;
        Ok(row)
    };
    // Giving it the same name twice does no harm, so a lost answer does not matter.
    link.run(Kind::Read, work).await
}

async fn check_free(client: &Transaction<'_>, schema: &str, name: &str) -> Result<(), Fault> {
    let text = format!("SELECT id FROM {schema}.context WHERE name = $1");
    match one(client, &text, &[&name]).await? {
        Some(_) => Err(StoreError::Exists { context: name.to_owned() }.into()),
        None => Ok(()),
    }
}
