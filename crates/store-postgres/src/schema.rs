//! The tables, and how they come about. docs/scale.md says what they mean.
//!
//! Many processes may open a new store at once. The row `format` of the table `meta` is the lock: the process that holds it brings the tables to the
//! newest version, the others wait and find them there. Every statement of a migration may be run twice, because not every engine undoes
//! the making of tables with the transaction.

use std::collections::BTreeMap;

use contextree_store::{Result, StoreError, Tenant};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::error::SqlState;

use crate::error::{Fault, is_missing, text};
use crate::link::{Kind, Link};
use crate::tally::{self, Known};
use crate::tenants;

/// The version of the tables that this program reads and writes.
pub(crate) const FORMAT: u32 = 4;

/// What `meta` says that the schema is.
const APPLICATION: &str = "contextree";

/// The statements that make version n + 1 of version n; `{s}` is the schema.
const MIGRATIONS: [&[&str]; FORMAT as usize] = [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4];

const FORMAT_1: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS {s}.branch (
        id bigint PRIMARY KEY,
        parent bigint REFERENCES {s}.branch (id),
        upto bigint)",
    "CREATE INDEX IF NOT EXISTS branch_parent ON {s}.branch (parent)",
    "CREATE TABLE IF NOT EXISTS {s}.context (
        id bigint PRIMARY KEY,
        name text COLLATE \"C\" NOT NULL,
        branch bigint NOT NULL REFERENCES {s}.branch (id),
        revision bigint NOT NULL,
        head_cycle bigint,
        head_digest bytea,
        snapshots bigint NOT NULL,
        settings text NOT NULL,
        created_ns bigint NOT NULL,
        updated_ns bigint NOT NULL,
        keys bytea NOT NULL)",
    // Ascending, because some engines scatter an index unless it is said; contexts are listed by name.
    "CREATE UNIQUE INDEX IF NOT EXISTS context_name ON {s}.context (name ASC)",
    "CREATE INDEX IF NOT EXISTS context_branch ON {s}.context (branch)",
    "CREATE TABLE IF NOT EXISTS {s}.commits (
        branch bigint NOT NULL,
        cycle bigint NOT NULL,
        effects bytea,
        bodies bytea NOT NULL,
        key bytea,
        PRIMARY KEY (branch, cycle))",
    "CREATE INDEX IF NOT EXISTS commits_without_effects ON {s}.commits (branch, cycle) WHERE effects IS NULL",
    "CREATE TABLE IF NOT EXISTS {s}.checkpoint (
        branch bigint NOT NULL REFERENCES {s}.branch (id),
        cycle bigint NOT NULL,
        tree bytea NOT NULL,
        bodies bytea NOT NULL,
        PRIMARY KEY (branch, cycle))",
    "CREATE TABLE IF NOT EXISTS {s}.journal (
        context bigint NOT NULL,
        revision bigint NOT NULL,
        record bytea NOT NULL,
        PRIMARY KEY (context, revision))",
    "CREATE TABLE IF NOT EXISTS {s}.content (
        hash bytea PRIMARY KEY,
        data bytea NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {s}.uses (
        branch bigint NOT NULL,
        hash bytea NOT NULL REFERENCES {s}.content (hash),
        cycle bigint NOT NULL,
        PRIMARY KEY (branch, hash))",
    "CREATE INDEX IF NOT EXISTS uses_hash ON {s}.uses (hash)",
    "CREATE TABLE IF NOT EXISTS {s}.attempt (
        context bigint NOT NULL,
        id text NOT NULL,
        born bigint NOT NULL,
        place bigint NOT NULL,
        record text NOT NULL,
        PRIMARY KEY (context, id))",
    "CREATE TABLE IF NOT EXISTS {s}.pin (
        context bigint NOT NULL REFERENCES {s}.context (id),
        cycle bigint NOT NULL,
        label text NOT NULL,
        PRIMARY KEY (context, cycle))",
];

const FORMAT_2: &[&str] = &["CREATE TABLE IF NOT EXISTS {s}.side (
        context bigint NOT NULL,
        kind text COLLATE \"C\" NOT NULL,
        key text COLLATE \"C\" NOT NULL,
        value bytea NOT NULL,
        PRIMARY KEY (context, kind, key))"];

/// What the journal and the attempts of a context add up to; see `contextree_store::Tally`.
const FORMAT_3: &[&str] = &["ALTER TABLE {s}.context
        ADD COLUMN IF NOT EXISTS journal_rows bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS journal_sum bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS attempt_rows bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS attempt_sum bigint NOT NULL DEFAULT 0"];

/// What side records and pins add up to, a check for each side record, and which contexts there are, noted in their branches.
const FORMAT_4: &[&str] = &[
    "ALTER TABLE {s}.context
        ADD COLUMN IF NOT EXISTS call_rows bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS call_sum bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS side_rows bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS side_sum bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS pin_rows bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS pin_sum bigint NOT NULL DEFAULT 0",
    "ALTER TABLE {s}.side
        ADD COLUMN IF NOT EXISTS sum bigint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS entry bigint NOT NULL DEFAULT 0",
    "ALTER TABLE {s}.branch ADD COLUMN IF NOT EXISTS named bigint",
    "CREATE INDEX IF NOT EXISTS branch_named ON {s}.branch (id) WHERE named IS NOT NULL",
];

/// A column of `context` that every step names, before and after version 4: an older program that still has the tables open fails, instead of
/// writing without counting.
const RENAMED: [&str; 2] = ["updated_ns", "written_ns"];

/// Settings of the tables that only PostgreSQL itself has: room for updates in place; no second compression of what is compressed or short.
const TUNING: &[&str] = &[
    "ALTER TABLE {s}.context SET (fillfactor = 60)",
    "ALTER TABLE {s}.commits ALTER COLUMN effects SET STORAGE EXTERNAL, ALTER COLUMN bodies SET STORAGE EXTERNAL, ALTER COLUMN effects SET STATISTICS 0, ALTER COLUMN bodies SET STATISTICS 0, SET (toast_tuple_target = 4080)",
    "ALTER TABLE {s}.content ALTER COLUMN data SET STORAGE EXTERNAL",
];

/// What runs below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// PostgreSQL itself.
    Postgres,
    /// Another engine that speaks the same protocol.
    Compatible,
}

/// What to do if there is no store in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// Create the schema and its tables.
    Create,
    /// Refuse: who reads changes nothing.
    Fail,
}

/// Sees to it that the tables are there, in the version that this program knows. Returns the tenant that the account belongs to.
pub(crate) async fn prepare(
    link: &Link,
    schema: &str,
    if_missing: IfMissing,
) -> Result<(Engine, Option<Tenant>)> {
    // Tables may take longer to be made than a statement is allowed to, here or where the lock is held.
    link.run_long(Kind::Read, async |client, _| {
        let engine = engine(client).await?;
        let (found, has_tenants) = match version(client, schema).await {
            Ok(found) => found,
            Err(Fault::Client(error)) if is_missing(&error) => (None, false),
            Err(Fault::Client(error))
                if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
            {
                let message = format!("the account may not read the store: {}", text(&error));
                return Err(StoreError::Backend { message }.into());
            }
            Err(fault) => return Err(fault),
        };
        match found {
            Some(FORMAT) => {}
            Some(found) if found > FORMAT => return Err(too_new(found).into()),
            Some(_) => migrate(client, schema, engine).await?,
            None if if_missing == IfMissing::Fail => {
                return Err(no_store(client, schema).await?.into());
            }
            None => {
                found_store(client, schema).await?;
                migrate(client, schema, engine).await?;
            }
        }
        let tenant = match has_tenants {
            true => tenants::of_account(client, schema).await?,
            false => None,
        };
        Ok((engine, tenant))
    })
    .await
}

async fn engine(client: &Object) -> Result<Engine, Fault> {
    let name: String = client.query_one("SELECT version()", &[]).await?.try_get(0)?;
    let own = name.starts_with("PostgreSQL") && !name.contains("-YB-");
    Ok(if own { Engine::Postgres } else { Engine::Compatible })
}

/// Returns the version in `meta`, `None` if there is none yet; and whether the store has tenants.
async fn version(client: &Object, schema: &str) -> Result<(Option<u32>, bool), Fault> {
    let mut meta: BTreeMap<String, String> = BTreeMap::new();
    for row in client.query(&format!("SELECT key, value FROM {schema}.meta"), &[]).await? {
        meta.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let has_tenants = meta.contains_key(tenants::KEY);
    let Some(application) = meta.get("application") else { return Ok((None, has_tenants)) };
    if application != APPLICATION {
        return Err(foreign(schema, &format!("it belongs to `{application}`")).into());
    }
    let Some(format) = meta.get("format") else { return Ok((None, has_tenants)) };
    let format =
        format.parse().map_err(|_| foreign(schema, &format!("its format is `{format}`")))?;
    Ok((Some(format), has_tenants))
}

/// Returns the error for a schema without our tables.
async fn no_store(client: &Object, schema: &str) -> Result<StoreError, Fault> {
    let text = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1";
    let schemas: i64 = client.query_one(text, &[&schema]).await?.try_get(0)?;
    let message = match schemas {
        0 => "the database has no such schema",
        _ => "the schema has no tables of a store",
    };
    Ok(StoreError::Missing { place: schema.to_owned(), message: message.to_owned() })
}

/// Creates the schema and `meta`, unless another process did.
async fn found_store(client: &Object, schema: &str) -> Result<(), Fault> {
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name <> 'meta'";
    let others: i64 = client.query_one(tables, &[&schema]).await?.try_get(0)?;
    let meta = "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'meta'";
    let ours: i64 = client.query_one(meta, &[&schema]).await?.try_get(0)?;
    if others > 0 && ours == 0 {
        return Err(foreign(schema, "it has tables, but not ours").into());
    }
    for text in [
        "CREATE SCHEMA IF NOT EXISTS {s}",
        "CREATE TABLE IF NOT EXISTS {s}.meta (key text PRIMARY KEY, value text NOT NULL)",
    ] {
        // `IF NOT EXISTS` does not help against another process that does the same at the same moment.
        match client.batch_execute(&text.replace("{s}", schema)).await {
            Err(error) if is_race(&error) => {}
            result => result?,
        }
    }
    let text = format!(
        "INSERT INTO {schema}.meta (key, value) VALUES ('application', $1), ('format', '0') ON CONFLICT (key) DO NOTHING"
    );
    client.execute(&text, &[&APPLICATION]).await?;
    Ok(())
}

/// True if another process created the same thing in between. A table has a type of the same name: if the other one is done after the server
/// looked for the table and before it makes the type, the type is what is there twice.
fn is_race(error: &tokio_postgres::Error) -> bool {
    [
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_OBJECT,
    ]
    .iter()
    .any(|code| error.code() == Some(code))
}

async fn migrate(client: &mut Object, schema: &str, engine: Engine) -> Result<(), Fault> {
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        .await?;
    let text = format!("SELECT value FROM {schema}.meta WHERE key = 'format' FOR UPDATE");
    let value: String = transaction.query_one(&text, &[]).await?.try_get(0)?;
    let found: u32 =
        value.parse().map_err(|_| foreign(schema, &format!("its format is `{value}`")))?;
    if found > FORMAT {
        return Err(too_new(found).into());
    }
    for step in MIGRATIONS.iter().skip(found as usize) {
        for text in *step {
            transaction.batch_execute(&text.replace("{s}", schema)).await?;
        }
    }
    if found < 4 {
        rename_column(&transaction, schema).await?;
    }
    match found {
        1 | 2 => tally::recount_all(&transaction, schema, Known::Nothing).await?,
        3 => tally::recount_all(&transaction, schema, Known::JournalAndAttempts).await?,
        _ => {}
    }
    if engine == Engine::Postgres && found < FORMAT {
        for text in TUNING {
            transaction.batch_execute(&text.replace("{s}", schema)).await?;
        }
    }
    let text = format!("UPDATE {schema}.meta SET value = $1 WHERE key = 'format'");
    transaction.execute(&text, &[&FORMAT.to_string()]).await?;
    transaction.commit().await?;
    Ok(())
}

/// Gives the column its new name, unless it has it: not every engine undoes that with the transaction.
async fn rename_column(client: &Transaction<'_>, schema: &str) -> Result<(), Fault> {
    let [old, new] = RENAMED;
    let text = "SELECT count(*) FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'context' AND column_name = $2";
    let has_old: i64 = client.query_one(text, &[&schema, &old]).await?.try_get(0)?;
    if has_old > 0 {
        let text = format!("ALTER TABLE {schema}.context RENAME COLUMN {old} TO {new}");
        client.batch_execute(&text).await?;
    }
    Ok(())
}

fn too_new(found: u32) -> StoreError {
    StoreError::Version { found, supported: FORMAT }
}

fn foreign(schema: &str, message: &str) -> StoreError {
    StoreError::Foreign { message: format!("the schema `{schema}` is not ours: {message}") }
}
