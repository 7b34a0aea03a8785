//! Tenants: accounts of the server that see the contexts of one prefix, held apart by row-level security.
//!
//! A row is visible to an account if it belongs to a context of its prefix. A branch has no name; it belongs to the contexts on it and on the
//! branches that begin in it, up to the cycle where they begin. What belongs to no context at all is visible to everyone: that is only so inside
//! of a transaction that makes or removes a context. The owner of the tables sees everything.

use contextree_store::{Result, StoreError, Tenant};
use deadpool_postgres::Object;

use crate::error::Fault;
use crate::link::{Kind, Link};
use crate::schema::Engine;

/// The key in `meta` that says that there are tenants.
pub(crate) const KEY: &str = "tenants";

/// The functions; `{s}` is the schema. `prefix` is that of the account, and null for one that has none: it sees nothing.
const FUNCTIONS: &str = "
CREATE TABLE IF NOT EXISTS {s}.tenant (account text PRIMARY KEY, prefix text NOT NULL);
CREATE OR REPLACE FUNCTION {s}.tenant_prefix() RETURNS text LANGUAGE sql STABLE AS
    'SELECT prefix FROM {s}.tenant WHERE account = current_user';
CREATE OR REPLACE FUNCTION {s}.owns_context(number bigint, prefix text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
    'SELECT NOT EXISTS (SELECT 1 FROM {s}.context WHERE id = $1 AND NOT coalesce(starts_with(name, $2), false))';
CREATE OR REPLACE FUNCTION {s}.owns_branch(number bigint, cycle bigint, prefix text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
    'WITH RECURSIVE line (id) AS (
        SELECT $1 UNION
        SELECT branch.id FROM {s}.branch JOIN line ON branch.parent = line.id WHERE branch.upto >= $2)
     SELECT coalesce(bool_or(coalesce(starts_with(context.name, $3), false)), true)
     FROM line JOIN {s}.context ON context.branch = line.id';
CREATE OR REPLACE FUNCTION {s}.owns_content(hash bytea, prefix text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
    'SELECT NOT EXISTS (SELECT 1 FROM {s}.uses WHERE uses.hash = $1)
     OR EXISTS (SELECT 1 FROM {s}.uses WHERE uses.hash = $1 AND {s}.owns_branch(uses.branch, uses.cycle, $2))';
";

/// The tables with what may be seen of each, and what may be written if that differs. A context can only be on a branch of its own number, so
/// that no account can put one on the branch of another. A branch can only begin where the account may read. No account shares contents.
const POLICIES: [(&str, &str, Option<&str>); 11] = [
    ("tenant", "account = current_user", Some("false")),
    (
        "context",
        "starts_with(name, (SELECT {s}.tenant_prefix()))",
        Some("starts_with(name, (SELECT {s}.tenant_prefix())) AND branch = id"),
    ),
    (
        "branch",
        "{s}.owns_branch(id, 0, (SELECT {s}.tenant_prefix())) OR (parent IS NOT NULL AND {s}.owns_branch(parent, upto, (SELECT {s}.tenant_prefix())))",
        Some("parent IS NULL OR {s}.owns_branch(parent, upto, (SELECT {s}.tenant_prefix()))"),
    ),
    ("commits", "{s}.owns_branch(branch, cycle, (SELECT {s}.tenant_prefix()))", None),
    ("checkpoint", "{s}.owns_branch(branch, cycle, (SELECT {s}.tenant_prefix()))", None),
    (
        "uses",
        "{s}.owns_branch(branch, cycle, (SELECT {s}.tenant_prefix()))",
        Some(
            "{s}.owns_branch(branch, cycle, (SELECT {s}.tenant_prefix())) AND {s}.owns_content(hash, (SELECT {s}.tenant_prefix()))",
        ),
    ),
    ("content", "{s}.owns_content(hash, (SELECT {s}.tenant_prefix()))", Some("false")),
    ("journal", "{s}.owns_context(context, (SELECT {s}.tenant_prefix()))", None),
    ("attempt", "{s}.owns_context(context, (SELECT {s}.tenant_prefix()))", None),
    ("side", "{s}.owns_context(context, (SELECT {s}.tenant_prefix()))", None),
    ("pin", "{s}.owns_context(context, (SELECT {s}.tenant_prefix()))", None),
];

/// Makes an account of the server a tenant. The account must exist, and be held by row-level security.
pub(crate) async fn add(
    link: &Link,
    schema: &str,
    engine: Engine,
    tenant: &Tenant,
    account: &str,
) -> Result<()> {
    if engine != Engine::Postgres {
        return Err(refused("this server has no row-level security that could be relied on"));
    }
    // Doing it twice does no harm, so a lost answer does not matter.
    link.run_long(Kind::Read, async |client, _| {
        let text = "SELECT quote_ident(rolname), rolsuper OR rolbypassrls OR pg_has_role(rolname, (SELECT tableowner FROM pg_tables WHERE schemaname = $2 AND tablename = 'context'), 'MEMBER') FROM pg_roles WHERE rolname = $1";
        let Some(role) = client.query_opt(text, &[&account, &schema]).await? else {
            return Err(refused(&format!("the server has no account `{account}`")).into());
        };
        if role.try_get::<_, Option<bool>>(1)?.unwrap_or(true) {
            let message = format!("row-level security does not hold the account `{account}`: it owns the tables or may bypass it");
            return Err(refused(&message).into());
        }
        let quoted: String = role.try_get(0)?;
        let transaction = client.transaction().await?;
        // The lock of migrations, so that two processes do not make the same policy.
        let lock = format!("SELECT value FROM {schema}.meta WHERE key = 'format' FOR UPDATE");
        transaction.query_opt(&lock, &[]).await?;
        transaction.batch_execute(&FUNCTIONS.replace("{s}", schema)).await?;
        for (table, seen, written) in POLICIES {
            let check = written.unwrap_or(seen);
            let text = format!(
                "ALTER TABLE {{s}}.{table} ENABLE ROW LEVEL SECURITY; DROP POLICY IF EXISTS tenant ON {{s}}.{table}; CREATE POLICY tenant ON {{s}}.{table} USING ({seen}) WITH CHECK ({check})"
            );
            transaction.batch_execute(&text.replace("{s}", schema)).await?;
            let rights = if table == "tenant" { "SELECT" } else { "SELECT, INSERT, UPDATE, DELETE" };
            let text = format!("GRANT {rights} ON {schema}.{table} TO {quoted}");
            transaction.batch_execute(&text).await?;
        }
        let text = format!("GRANT USAGE ON SCHEMA {schema} TO {quoted}; GRANT SELECT ON {schema}.meta TO {quoted}");
        transaction.batch_execute(&text).await?;
        let text = format!("INSERT INTO {schema}.tenant (account, prefix) VALUES ($1, $2) ON CONFLICT (account) DO UPDATE SET prefix = excluded.prefix");
        transaction.execute(&text, &[&account, &tenant.prefix()]).await?;
        let text = format!("INSERT INTO {schema}.meta (key, value) VALUES ('{KEY}', '1') ON CONFLICT (key) DO NOTHING");
        transaction.execute(&text, &[]).await?;
        Ok(transaction.commit().await?)
    })
    .await
}

/// Returns the tenant of the account that the store was opened with; `None` if it sees the whole store.
pub(crate) async fn of_account(client: &Object, schema: &str) -> Result<Option<Tenant>, Fault> {
    let text = format!("SELECT row_security_active('{schema}.context'), {schema}.tenant_prefix()");
    let row = client.query_one(&text, &[]).await?;
    match (row.try_get(0)?, row.try_get::<_, Option<String>>(1)?) {
        (false, _) => Ok(None),
        (true, Some(prefix)) => Ok(Some(Tenant::new(&prefix)?)),
        (true, None) => Err(refused("the store has tenants, and the account has no prefix").into()),
    }
}

fn refused(message: &str) -> StoreError {
    StoreError::Backend { message: message.to_owned() }
}
