//! Removing, and what prevents it: checkpoints, pins, retention, deletion. Each is a transaction of several statements, in
//! which locks are taken from a context to its branch and on to the branches it builds on.

use contextree_store::{
    BranchId, Checkpoint, ContextId, ContextRow, Cycle, Pin, Result, Revision, Rewrite, StoreError,
    Stretch, pin_sum,
};
use deadpool_postgres::{GenericClient, Transaction};

use crate::error::Fault;
use crate::link::{Kind, Link};
use crate::read::{children, no_branch, no_context, pins, stretch};
use crate::sql::{self, CONTEXT, KEYS, cycle_from};
use crate::tally;
use crate::write::{Trace, all, conflict, execute, is_visible, landed, one};

/// Everything that removes, for one schema.
pub(crate) struct Remover<'a> {
    pub(crate) link: &'a Link,
    pub(crate) schema: &'a str,
}

impl Remover<'_> {
    pub(crate) async fn add_checkpoint(
        &self,
        branch: BranchId,
        checkpoint: &Checkpoint,
    ) -> Result<()> {
        let schema = self.schema;
        let known = format!("SELECT id FROM {schema}.branch WHERE id = $1");
        let text = format!(
            "INSERT INTO {schema}.checkpoint (branch, cycle, tree, bodies) VALUES ($1, $2, $3, $4) ON CONFLICT (branch, cycle) DO NOTHING"
        );
        let Checkpoint { cycle, tree, bodies } = checkpoint;
        let cycle = i64::from(*cycle);
        let work = async |client: &mut _, _| {
            if one(&*client, &known, &[&branch.get()]).await?.is_none() {
                return Err(no_branch(branch).into());
            }
            execute(&*client, &text, &[&branch.get(), &cycle, tree, bodies]).await?;
            Ok(())
        };
        // Adding it twice does no harm, so a lost answer does not matter.
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        let schema = self.schema;
        let text = format!(
            "INSERT INTO {schema}.pin (context, cycle, label) VALUES ($1, $2, $3) ON CONFLICT (context, cycle) DO UPDATE SET label = excluded.label"
        );
        let cycle = i64::from(pin.cycle);
        let work = async |client: &mut deadpool_postgres::Object, _| {
            let transaction = client.transaction().await?;
            // Retention looks at the pins while it holds the context: a pin does not slip in between its looking and its dropping.
            let row = hold(&transaction, schema, context).await?.ok_or(no_context(context))?;
            let at = Stretch { branch: row.branch, upto: pin.cycle };
            if !is_visible(&transaction, schema, at).await? {
                let context = format!("{}@c{}", row.name, pin.cycle);
                return Err(StoreError::NotFound { context }.into());
            }
            let before =
                format!("SELECT label FROM {schema}.pin WHERE context = $1 AND cycle = $2");
            let before = one(&transaction, &before, &[&context.get(), &cycle]).await?;
            let mut change = (1, tally::number(pin_sum(pin.cycle, &pin.label)));
            if let Some(row) = before {
                change.0 -= 1;
                change.1 -= tally::number(pin_sum(pin.cycle, row.try_get(0)?));
            }
            execute(&transaction, &text, &[&context.get(), &cycle, &pin.label]).await?;
            count_pins(&transaction, schema, context, change).await?;
            Ok(transaction.commit().await?)
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        let schema = self.schema;
        let text =
            format!("DELETE FROM {schema}.pin WHERE context = $1 AND cycle = $2 RETURNING label");
        let column = i64::from(cycle);
        let work = async |client: &mut deadpool_postgres::Object, before: crate::link::Before| {
            let transaction = client.transaction().await?;
            if hold(&transaction, schema, context).await?.is_none() {
                return Ok(before.lost);
            }
            let removed = one(&transaction, &text, &[&context.get(), &column]).await?;
            if let Some(row) = &removed {
                let sum = tally::number(pin_sum(cycle, row.try_get(0)?));
                count_pins(&transaction, schema, context, (-1, -sum)).await?;
            }
            transaction.commit().await?;
            Ok(removed.is_some() || before.lost)
        };
        self.link.run(Kind::Write, work).await
    }

    pub(crate) async fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
        key: [u8; 16],
    ) -> Result<ContextRow> {
        let schema = self.schema;
        let text = format!(
            "UPDATE {schema}.context SET revision = revision + 1, keys = substr($3 || keys, 1, {}), snapshots = greatest(snapshots - $4, 0) WHERE id = $1 AND revision = $2 RETURNING {CONTEXT}",
            16 * KEYS
        );
        let held = format!("SELECT id FROM {schema}.branch WHERE id = $1 FOR UPDATE");
        let work = async |client: &mut deadpool_postgres::Object, before| {
            let transaction = client.transaction().await?;
            let revision = sql::revision_to(expected);
            let dropped = i64::try_from(rewrite.dropped_snapshots).unwrap_or(i64::MAX);
            let id = context.get();
            let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
                &[&id, &revision, &&key[..], &dropped];
            let Some(row) = one(&transaction, &text, values).await? else {
                let trace = Trace { key: &key, commit: None };
                return landed(&transaction, schema, context, expected, &trace, before).await;
            };
            let row = sql::context(&row)?;
            one(&transaction, &held, &[&row.branch.get()]).await?;
            if !unchanged(&transaction, schema, &row, rewrite).await? {
                return Err(conflict(&ContextRow { revision: expected, ..row }, expected).into());
            }
            replace(&transaction, schema, row.branch, rewrite).await?;
            if rewrite.detach {
                detach(&transaction, schema, row.branch).await?;
            }
            transaction.commit().await?;
            Ok(row)
        };
        self.link.run(Kind::Write, work).await
    }

    pub(crate) async fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        let schema = self.schema;
        let work = async |client: &mut deadpool_postgres::Object, before: crate::link::Before| {
            let transaction = client.transaction().await?;
            let row = match hold(&transaction, schema, context).await? {
                Some(row) => row,
                None if before.lost => return Ok(()),
                None => return Err(no_context(context).into()),
            };
            if row.revision != expected {
                return Err(conflict(&row, expected).into());
            }
            for table in ["journal", "attempt", "side", "pin"] {
                let text = format!("DELETE FROM {schema}.{table} WHERE context = $1");
                execute(&transaction, &text, &[&context.get()]).await?;
            }
            // If others continue the branch, it stays, without a context.
            let text = format!("UPDATE {schema}.branch SET named = NULL WHERE id = $1");
            execute(&transaction, &text, &[&row.branch.get()]).await?;
            let text = format!("DELETE FROM {schema}.context WHERE id = $1");
            execute(&transaction, &text, &[&context.get()]).await?;
            let mut released = Vec::new();
            let mut branch = Some(row.branch);
            while let Some(id) = branch {
                branch = release(&transaction, schema, id, &mut released).await?;
            }
            sweep(&transaction, schema, &released).await?;
            Ok(transaction.commit().await?)
        };
        self.link.run(Kind::Write, work).await
    }
}

/// Locks a context and returns it.
pub(crate) async fn hold(
    client: &impl GenericClient,
    schema: &str,
    context: ContextId,
) -> Result<Option<ContextRow>, Fault> {
    let text = format!("SELECT {CONTEXT} FROM {schema}.context WHERE id = $1 FOR UPDATE");
    one(client, &text, &[&context.get()]).await?.as_ref().map(sql::context).transpose()
}

/// Adds to the number of pins of a context, and to their sum.
async fn count_pins(
    client: &Transaction<'_>,
    schema: &str,
    context: ContextId,
    (rows, sum): (i64, i64),
) -> Result<(), Fault> {
    let text = format!(
        "UPDATE {schema}.context SET pin_rows = pin_rows + $2, pin_sum = pin_sum + $3 WHERE id = $1"
    );
    execute(client, &text, &[&context.get(), &rows, &sum]).await?;
    Ok(())
}

/// Returns true if forks and pins are those that the caller of a rewrite knew.
async fn unchanged(
    client: &impl GenericClient,
    schema: &str,
    row: &ContextRow,
    rewrite: &Rewrite,
) -> Result<bool, Fault> {
    let order = |stretch: &Stretch| (stretch.branch, stretch.upto);
    let mut known = rewrite.children.clone();
    known.sort_by_key(order);
    let rows = all(client, &children(schema), &[&row.branch.get()]).await?;
    let mut found = rows.iter().map(stretch).collect::<Result<Vec<_>, Fault>>()?;
    found.sort_by_key(order);
    let mut known_pins = rewrite.pinned.clone();
    known_pins.sort_unstable();
    let rows = all(client, &pins(schema), &[&row.id.get()]).await?;
    let found_pins =
        rows.iter().map(|row| cycle_from(row.try_get(0)?)).collect::<Result<Vec<_>, Fault>>()?;
    Ok(known == found && known_pins == found_pins)
}

/// Changes the rows of a branch.
async fn replace(
    client: &Transaction<'_>,
    schema: &str,
    branch: BranchId,
    rewrite: &Rewrite,
) -> Result<(), Fault> {
    for (table, cycles) in
        [("commits", &rewrite.dropped_commits), ("checkpoint", &rewrite.dropped_checkpoints)]
    {
        let cycles: Vec<i64> = cycles.iter().map(|cycle| i64::from(*cycle)).collect();
        let text = format!("DELETE FROM {schema}.{table} WHERE branch = $1 AND cycle = ANY($2)");
        execute(client, &text, &[&branch.get(), &cycles]).await?;
    }
    let text = format!(
        "INSERT INTO {schema}.commits (branch, cycle, effects, bodies) VALUES ($1, $2, $3, $4) ON CONFLICT (branch, cycle) DO UPDATE SET effects = excluded.effects, bodies = excluded.bodies"
    );
    for commit in &rewrite.commits {
        let cycle = i64::from(commit.cycle);
        execute(client, &text, &[&branch.get(), &cycle, &commit.effects, &commit.bodies]).await?;
    }
    let text = format!(
        "INSERT INTO {schema}.checkpoint (branch, cycle, tree, bodies) VALUES ($1, $2, $3, $4) ON CONFLICT (branch, cycle) DO UPDATE SET tree = excluded.tree, bodies = excluded.bodies"
    );
    for checkpoint in &rewrite.checkpoints {
        let cycle = i64::from(checkpoint.cycle);
        execute(client, &text, &[&branch.get(), &cycle, &checkpoint.tree, &checkpoint.bodies])
            .await?;
    }
    let contents: Vec<&[u8]> = rewrite.contents.iter().map(|hash| &hash[..]).collect();
    let text = format!(
        "DELETE FROM {schema}.uses WHERE branch = $1 AND NOT (hash = ANY($2)) RETURNING hash"
    );
    let mut released = Vec::new();
    for row in all(client, &text, &[&branch.get(), &contents]).await? {
        released.push(row.try_get(0)?);
    }
    let text = format!(
        "INSERT INTO {schema}.uses (branch, hash, cycle) SELECT $1::bigint, hash, 0::bigint FROM {schema}.content WHERE hash = ANY($2) ON CONFLICT (branch, hash) DO NOTHING"
    );
    execute(client, &text, &[&branch.get(), &contents]).await?;
    sweep(client, schema, &released).await
}

/// Separates a branch from the one that it begins in, and removes that one if nothing else needs it.
async fn detach(client: &Transaction<'_>, schema: &str, branch: BranchId) -> Result<(), Fault> {
    let text = format!("SELECT parent FROM {schema}.branch WHERE id = $1");
    let parent = match one(client, &text, &[&branch.get()]).await? {
        Some(row) => row.try_get::<_, Option<i64>>(0)?,
        None => None,
    };
    let text = format!("UPDATE {schema}.branch SET parent = NULL, upto = NULL WHERE id = $1");
    execute(client, &text, &[&branch.get()]).await?;
    let mut released = Vec::new();
    let mut next = parent.map(BranchId);
    while let Some(id) = next {
        next = release(client, schema, id, &mut released).await?;
    }
    sweep(client, schema, &released).await
}

/// Removes what is no longer needed of a branch: all of it if no other begins in it; then returns its parent, which is next.
async fn release(
    client: &Transaction<'_>,
    schema: &str,
    branch: BranchId,
    released: &mut Vec<Vec<u8>>,
) -> Result<Option<BranchId>, Fault> {
    let text = format!("SELECT parent FROM {schema}.branch WHERE id = $1 FOR UPDATE");
    let Some(row) = one(client, &text, &[&branch.get()]).await? else { return Ok(None) };
    let parent: Option<i64> = row.try_get(0)?;
    let text = format!("SELECT id FROM {schema}.context WHERE branch = $1");
    if !all(client, &text, &[&branch.get()]).await?.is_empty() {
        return Ok(None);
    }
    let text = format!("SELECT max(upto) FROM {schema}.branch WHERE parent = $1");
    let needed: Option<i64> = match one(client, &text, &[&branch.get()]).await? {
        Some(row) => row.try_get(0)?,
        None => None,
    };
    // Cycles count from zero, where a base may be.
    let above = needed.unwrap_or(-1);
    for table in ["commits", "checkpoint"] {
        let text = format!("DELETE FROM {schema}.{table} WHERE branch = $1 AND cycle > $2");
        execute(client, &text, &[&branch.get(), &above]).await?;
    }
    let text = format!("DELETE FROM {schema}.uses WHERE branch = $1 AND cycle > $2 RETURNING hash");
    for row in all(client, &text, &[&branch.get(), &above]).await? {
        released.push(row.try_get(0)?);
    }
    if needed.is_some() {
        return Ok(None);
    }
    let text = format!("DELETE FROM {schema}.branch WHERE id = $1");
    execute(client, &text, &[&branch.get()]).await?;
    Ok(parent.map(BranchId))
}

/// Removes those of the contents that no branch uses any more. If another process begins to use one at this moment, a foreign key prevents it.
///
/// They are locked before their uses are counted: of two transactions that release the same content, each would else see the other's use, which is not
/// gone before it commits, and neither would remove it. Who begins to use one need not wait for that lock.
async fn sweep(client: &Transaction<'_>, schema: &str, released: &[Vec<u8>]) -> Result<(), Fault> {
    if released.is_empty() {
        return Ok(());
    }
    let mut hashes: Vec<&[u8]> = released.iter().map(|hash| &hash[..]).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let text = format!(
        "SELECT 1 FROM {schema}.content WHERE hash = ANY($1) ORDER BY hash FOR NO KEY UPDATE"
    );
    all(client, &text, &[&hashes]).await?;
    let text = format!(
        "DELETE FROM {schema}.content WHERE hash = ANY($1) AND NOT EXISTS (SELECT 1 FROM {schema}.uses WHERE uses.hash = content.hash)"
    );
    execute(client, &text, &[&hashes]).await?;
    Ok(())
}
