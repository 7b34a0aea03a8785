//! Opening: many at once, tables of a newer version, a schema of somebody else, no server, no connection left.

use std::sync::Barrier;
use std::thread;

use contextree_store::{AttemptRow, Backend, Step, StoreError};
use contextree_store_postgres::Postgres;

use crate::support::{commit, create, key, open, schema};

fn shared(parameters: &str) -> String {
    contextree_testkit::postgres::shared().url_with(parameters)
}

/// Runs a statement in the database, beside the store.
fn run(store: &Postgres, text: &str) {
    store.with_connection(async |client| client.batch_execute(text).await).unwrap();
}

#[test]
fn many_open_a_new_store_at_the_same_moment() {
    let url = shared(&schema());
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for number in 0..8 {
            let (url, start) = (&url, &start);
            scope.spawn(move || {
                start.wait();
                let store = Postgres::open(&format!("{url}&pool_max=1&notify=off")).unwrap();
                create(&store, &format!("context-{number}"));
            });
        }
    });
    assert_eq!(Postgres::open(&url).unwrap().list(None, 100).unwrap().len(), 8);
}

#[test]
fn tables_of_a_newer_version_are_refused() {
    let parameters = schema();
    let url = shared(&parameters);
    let store = Postgres::open(&url).unwrap();
    let name = parameters.strip_prefix("schema=").unwrap();
    run(&store, &format!("UPDATE {name}.meta SET value = '99' WHERE key = 'format'"));
    let error = Postgres::open(&url).unwrap_err();
    assert_eq!(error, StoreError::Version { found: 99, supported: 4 });
}

/// What the journal and the attempts add up to is in the row of the context; tables of format 2 get it when they are migrated.
#[test]
fn a_row_of_the_journal_or_an_attempt_that_is_missing_is_an_error_also_in_migrated_tables() {
    let parameters = schema();
    let url = shared(&parameters);
    let name = parameters.strip_prefix("schema=").unwrap();
    let store = Postgres::open(&url).unwrap();
    let mut row = create(&store, "main");
    let note = |text: &str| Step { journal: Some(text.into()), key: key(), ..Step::default() };
    let attempt = |id: &str| {
        let attempts = vec![AttemptRow { id: id.to_owned(), record: "{}".to_owned() }];
        Step { attempts, key: key(), ..Step::default() }
    };
    let emptied = Step { journal: Some(b"begin".to_vec()), ..commit(1, "one") };
    for step in [note("0"), emptied, note("1"), attempt("a"), attempt("b"), attempt("a"), note("2")]
    {
        row = store.append(row.id, row.revision, &step).unwrap();
    }
    let sound = (store.journal(row.id).unwrap(), store.attempts(row.id).unwrap());
    assert_eq!((sound.0.1.len(), sound.1.len()), (3, 2));
    run(&store, &format!("UPDATE {name}.meta SET value = '2' WHERE key = 'format'"));
    let columns = ["journal_rows", "journal_sum", "attempt_rows", "attempt_sum"];
    for column in columns {
        run(&store, &format!("ALTER TABLE {name}.context DROP COLUMN {column}"));
    }
    let store = Postgres::open(&url).unwrap();
    assert_eq!((store.journal(row.id).unwrap(), store.attempts(row.id).unwrap()), sound);
    let row = store.append(row.id, row.revision, &attempt("c")).unwrap();
    assert_eq!(store.attempts(row.id).unwrap().len(), 3);
    for sql in [
        "DELETE FROM {s}.attempt WHERE id = 'b'",
        "UPDATE {s}.journal SET record = 'x' WHERE revision = 4",
    ] {
        run(&store, &sql.replace("{s}", name));
    }
    assert_eq!(store.attempts(row.id).unwrap_err().code(), "E_STORE_CORRUPT");
    assert_eq!(store.journal(row.id).unwrap_err().code(), "E_STORE_CORRUPT");
}

#[test]
fn who_only_opens_a_store_creates_nothing() {
    let parameters = schema();
    let name = parameters.strip_prefix("schema=").unwrap();
    let admin = open();
    let schemas = || {
        let text = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1";
        let count = async |client: &tokio_postgres::Client| {
            client.query_one(text, &[&name]).await?.try_get::<_, i64>(0)
        };
        admin.with_connection(count).unwrap()
    };
    let error = Postgres::open_existing(&shared(&parameters)).unwrap_err();
    assert_eq!(error.code(), "E_STORE_NOT_FOUND", "{error}");
    assert_eq!(schemas(), 0);
    run(&admin, &format!("CREATE SCHEMA {name}"));
    let error = Postgres::open_existing(&shared(&parameters)).unwrap_err();
    assert_eq!(error.code(), "E_STORE_NOT_FOUND", "{error}");
    Postgres::open(&shared(&parameters)).unwrap();
    Postgres::open_existing(&shared(&parameters)).unwrap();
}

#[test]
fn an_account_without_any_right_is_told_so() {
    let parameters = schema();
    let name = parameters.strip_prefix("schema=").unwrap();
    let store = Postgres::open(&shared(&parameters)).unwrap();
    let role = format!("guest_{name}");
    let server = contextree_testkit::postgres::shared();
    let Some(url) = server.url_as(&role, &parameters) else { return };
    run(&store, &format!("CREATE ROLE {role} LOGIN"));
    let error = Postgres::open_existing(&url).unwrap_err();
    assert_eq!(error.code(), "E_STORE", "{error}");
    assert!(error.to_string().contains("may not read the store"), "{error}");
}

#[test]
fn tables_of_version_1_get_side_records() {
    let parameters = schema();
    let url = shared(&parameters);
    let name = parameters.strip_prefix("schema=").unwrap();
    let store = Postgres::open(&url).unwrap();
    let row = create(&store, "main");
    run(&store, &format!("DROP TABLE {name}.side"));
    run(&store, &format!("UPDATE {name}.meta SET value = '1' WHERE key = 'format'"));
    let store = Postgres::open(&url).unwrap();
    assert_eq!(store.side_records(row.id, None).unwrap(), Vec::new());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_schema_of_somebody_else_is_left_alone() {
    let store = open();
    let parameters = schema();
    let name = parameters.strip_prefix("schema=").unwrap();
    run(&store, &format!("CREATE SCHEMA {name}; CREATE TABLE {name}.context (theirs int)"));
    let error = Postgres::open(&shared(&parameters)).unwrap_err();
    assert_eq!(error.code(), "E_STORE_FOREIGN", "{error}");
}

#[test]
fn names_are_listed_by_their_bytes_whatever_the_locale() {
    let store = open();
    for name in ["b", "a", "B", "é", "a/b", "a b", "Z"] {
        create(&store, name);
    }
    let names = |after: Option<&str>, limit| -> Vec<String> {
        store.list(after, limit).unwrap().into_iter().map(|row| row.name).collect()
    };
    assert_eq!(names(None, 100), ["B", "Z", "a", "a b", "a/b", "b", "é"]);
    assert_eq!(names(Some("a"), 2), ["a b", "a/b"]);
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    // The port is free: it was, a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://nobody@127.0.0.1:{port}/none?patience_ms=20");
    let error = Postgres::open(&url).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { unknown: false, .. }), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn a_database_that_is_not_there_is_no_reason_to_wait() {
    let url = shared("patience_ms=60000").replace("/postgres?", "/no_such_database?");
    let error = Postgres::open(&url).unwrap_err();
    assert_eq!(error.code(), "E_STORE", "{error}");
    assert!(error.to_string().contains("no_such_database"), "{error}");
}

#[test]
fn when_all_connections_are_in_use_the_store_is_busy() {
    let store =
        Postgres::open(&shared(&format!("{}&pool_max=1&pool_wait_ms=20", schema()))).unwrap();
    let (taken, done) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            store
                .with_connection(async |_| {
                    taken.wait();
                    done.wait();
                    Ok(())
                })
                .unwrap();
        });
        taken.wait();
        let error = store.find("main").unwrap_err();
        assert_eq!(error.code(), "E_STORE_BUSY", "{error}");
        done.wait();
    });
    assert_eq!(store.find("main").unwrap(), None, "it works again");
}

#[test]
fn a_statement_that_takes_too_long_is_ended_by_the_server() {
    let store =
        Postgres::open(&shared(&format!("{}&statement_timeout_ms=2000", schema()))).unwrap();
    let error = store
        .with_connection(async |client| client.batch_execute("SELECT pg_sleep(600)").await)
        .unwrap_err();
    assert_eq!(error.code(), "E_STORE_BUSY", "{error}");
    assert!(error.to_string().contains("statement timeout"), "{error}");
}

#[test]
fn what_is_acknowledged_is_on_disk_unless_told_otherwise() {
    let setting = |parameters: &str| {
        let store = Postgres::open(&shared(&format!("{}&{parameters}", schema()))).unwrap();
        store
            .with_connection(async |client| {
                let row = client.query_one("SHOW synchronous_commit", &[]).await?;
                row.try_get::<_, String>(0)
            })
            .unwrap()
    };
    assert_eq!(setting("durability=full"), "on");
    assert_eq!(setting("durability=relaxed"), "off");
    // A server, or an account, that is lax by default.
    assert_eq!(setting("options=-c%20synchronous_commit%3Doff"), "on");
    assert_eq!(setting("options=-c%20synchronous_commit%3Dremote_apply"), "remote_apply");
}
