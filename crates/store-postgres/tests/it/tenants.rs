//! Accounts of tenants: the server itself holds them apart, whatever statements they send.

use contextree_store::{Backend, Cycle, Revision, StoreError, Tenant};
use contextree_store_postgres::Postgres;

use crate::support::{commit, create, history, new, schema};

fn tenant(prefix: &str) -> Tenant {
    Tenant::new(prefix).unwrap()
}

fn run(store: &Postgres, text: &str) {
    store.with_connection(async |client| client.batch_execute(text).await).unwrap();
}

/// Makes a store with two tenants. Returns the whole store, the name of its schema, and the URL of each tenant's account; `None` for a server
/// on which tests make no accounts.
fn with_accounts() -> Option<(Postgres, String, [String; 2])> {
    let parameters = schema();
    let name = parameters.strip_prefix("schema=").unwrap().to_owned();
    let server = contextree_testkit::postgres::shared();
    let whole = Postgres::open(&server.url_with(&parameters)).unwrap();
    let mut urls = Vec::new();
    for prefix in ["a", "b"] {
        let role = format!("{prefix}_{name}");
        urls.push(server.url_as(&role, &parameters)?);
        run(&whole, &format!("CREATE ROLE {role} LOGIN"));
        whole.add_tenant(&tenant(&format!("{prefix}/")), &role).unwrap();
    }
    Some((whole, name, urls.try_into().unwrap()))
}

/// Runs a statement of an account of a tenant. Returns how many rows it saw or changed, or the error.
fn rows(store: &Postgres, text: &str) -> Result<u64, StoreError> {
    store.with_connection(async |client| client.execute(text, &[]).await)
}

const TABLES: [&str; 10] = [
    "context",
    "branch",
    "commits",
    "checkpoint",
    "uses",
    "content",
    "journal",
    "attempt",
    "side",
    "pin",
];

/// Fills every table for a context.
fn fill(store: &Postgres, name: &str, hash: Option<[u8; 32]>) {
    use contextree_store::{AttemptRow, Checkpoint, ContentRow, Pin, SideChange, Step};
    let row = create(store, name);
    let attempts = vec![AttemptRow { id: "attempt".to_owned(), record: "{}".to_owned() }];
    let side = vec![SideChange {
        kind: "test.kind".to_owned(),
        key: "key".to_owned(),
        value: Some(name.as_bytes().to_vec()),
    }];
    let contents = hash.map(|hash| ContentRow { hash, data: name.as_bytes().to_vec() });
    let contents = contents.into_iter().collect();
    let step = Step { attempts, side, contents, ..commit(1, name) };
    let row = store.append(row.id, row.revision, &step).unwrap();
    let step = Step { journal: Some(name.as_bytes().to_vec()), ..Step::default() };
    let row = store.append(row.id, row.revision, &step).unwrap();
    let checkpoint = Checkpoint { cycle: Cycle(1), tree: b"tree".to_vec(), bodies: Vec::new() };
    store.add_checkpoint(row.branch, &checkpoint).unwrap();
    store.pin(row.id, &Pin { cycle: Cycle(1), label: "release".to_owned() }).unwrap();
}

fn count(store: &Postgres, schema: &str, table: &str) -> u64 {
    rows(store, &format!("SELECT 1 FROM {schema}.{table}")).unwrap()
}

#[test]
fn an_account_opens_the_store_of_its_tenant_and_works_in_it() {
    let Some((whole, _, [a, b])) = with_accounts() else { return };
    let [a, b] = [a, b].map(|url| Postgres::open(&url).unwrap());
    assert_eq!(a.tenant(), Some(&tenant("a/")));
    assert_eq!(whole.tenant(), None);
    for (store, name) in [(&a, "a/one"), (&b, "b/one")] {
        fill(store, name, None);
        let row = store.find(name).unwrap().unwrap();
        let row = store.append(row.id, row.revision, &commit(2, "two")).unwrap();
        assert_eq!(history(store, &row), [name, "two"]);
        let fork = contextree_store::Stretch { branch: row.branch, upto: Cycle(1) };
        let name = format!("{name} fork");
        let fork = contextree_store::NewContext { from: Some(fork), ..new(&name) };
        let fork = store.create(&fork).unwrap();
        store.append(fork.id, fork.revision, &commit(2, "other")).unwrap();
    }
    let names = |store: &Postgres| -> Vec<String> {
        store.list(None, 9).unwrap().into_iter().map(|row| row.name).collect()
    };
    assert_eq!(names(&a), ["a/one", "a/one fork"]);
    assert_eq!(names(&whole), ["a/one", "a/one fork", "b/one", "b/one fork"]);
    assert_eq!(a.find("b/one").unwrap(), None);
    let row = a.find("a/one").unwrap().unwrap();
    a.delete(row.id, row.revision).unwrap();
    let fork = a.find("a/one fork").unwrap().unwrap();
    assert_eq!(a.lineage(fork.branch).unwrap().len(), 2, "the fork needs it");
    a.delete(fork.id, fork.revision).unwrap();
    assert_eq!(whole.check().unwrap(), Vec::<String>::new());
    assert_eq!(names(&whole), ["b/one", "b/one fork"]);
}

#[test]
fn no_statement_of_an_account_reads_or_changes_a_row_of_others() {
    let Some((whole, schema, [a, b])) = with_accounts() else { return };
    let [a, b] = [a, b].map(|url| Postgres::open(&url).unwrap());
    fill(&b, "b/one", None);
    fill(&whole, "c", Some([5; 32]));
    let all: Vec<u64> = TABLES.iter().map(|table| count(&whole, &schema, table)).collect();
    for table in TABLES {
        assert_eq!(count(&a, &schema, table), 0, "{table} is read");
        assert_eq!(rows(&a, &format!("DELETE FROM {schema}.{table}")).unwrap(), 0, "{table}");
    }
    for change in [
        "context SET name = 'a/mine'",
        "branch SET parent = NULL, upto = NULL",
        "commits SET bodies = ''",
        "journal SET record = ''",
        "side SET value = ''",
        "attempt SET record = ''",
        "pin SET label = ''",
        "content SET data = ''",
        "uses SET cycle = 0",
        "checkpoint SET tree = ''",
    ] {
        assert_eq!(rows(&a, &format!("UPDATE {schema}.{change}")).unwrap(), 0, "{change}");
    }
    // The number of a branch of others, which the account would have to guess.
    let other = b.find("b/one").unwrap().unwrap();
    let branch = other.branch.get();
    fill(&a, "a/one", None);
    let own = a.find("a/one").unwrap().unwrap().id.get();
    for forged in [
        format!("INSERT INTO {schema}.branch (id, parent, upto) VALUES (1, {branch}, 99)"),
        format!("UPDATE {schema}.branch SET parent = {branch}, upto = 99 WHERE id = {own}"),
        format!("UPDATE {schema}.context SET branch = {branch} WHERE id = {own}"),
        format!("UPDATE {schema}.context SET name = 'b/taken' WHERE id = {own}"),
        format!(
            "INSERT INTO {schema}.uses (branch, hash, cycle) VALUES ({own}, decode(repeat('05', 32), 'hex'), 0)"
        ),
        format!(
            "INSERT INTO {schema}.content (hash, data) VALUES (decode(repeat('05', 32), 'hex'), '')"
        ),
        format!("INSERT INTO {schema}.commits (branch, cycle, bodies) VALUES ({branch}, 9, '')"),
        format!(
            "INSERT INTO {schema}.side (context, kind, key, value) VALUES ({branch}, 'x.y', 'k', '')"
        ),
        format!("UPDATE {schema}.commits SET branch = {branch} WHERE branch = {own}"),
        format!("UPDATE {schema}.side SET context = {branch} WHERE context = {own}"),
        format!("INSERT INTO {schema}.tenant (account, prefix) VALUES (current_user, 'b/')"),
        format!("UPDATE {schema}.meta SET value = '0'"),
    ] {
        let refused = rows(&a, &forged).unwrap_err().to_string();
        let held = ["row-level security", "permission denied"];
        assert!(held.iter().any(|held| refused.contains(held)), "{forged}: {refused}");
    }
    assert_eq!(count(&a, &schema, "tenant"), 1, "not the accounts of others");
    whole.find("a/one").unwrap().unwrap();
    let own = a.find("a/one").unwrap().unwrap();
    a.delete(own.id, own.revision).unwrap();
    let now: Vec<u64> = TABLES.iter().map(|table| count(&whole, &schema, table)).collect();
    assert_eq!(now, all);
    assert_eq!(b.find("b/one").unwrap().unwrap().revision, Revision(3));
    assert_eq!(whole.check().unwrap(), Vec::<String>::new());
}

#[test]
fn accounts_that_nothing_would_hold_are_no_tenants() {
    let Some((whole, schema, _)) = with_accounts() else { return };
    let error = whole.add_tenant(&tenant("a/"), "postgres").unwrap_err();
    assert!(error.to_string().contains("does not hold"), "{error}");
    let error = whole.add_tenant(&tenant("a/"), "nobody at all").unwrap_err();
    assert!(error.to_string().contains("no account"), "{error}");
    // An account with rights on the tables and without a prefix sees nothing, and is told so.
    let role = format!("guest_{schema}");
    run(
        &whole,
        &format!(
            "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
        ),
    );
    let server = contextree_testkit::postgres::shared();
    let url = server.url_as(&role, &format!("schema={schema}")).unwrap();
    let error = Postgres::open_existing(&url).unwrap_err();
    assert!(error.to_string().contains("has no prefix"), "{error}");
}
