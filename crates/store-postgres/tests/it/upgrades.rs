//! Upgrades: tables of every published version, a migration that is cut off, and programs of two versions on one schema.

use std::sync::Barrier;
use std::thread;

use contextree_store::{Backend, SideChange, Step, Store, StoreOptions};
use contextree_store_postgres::Postgres;

use crate::support::{commit, key, open, schema};

/// Tables as the versions wrote them, with contexts `main` and `work`.
const FIXTURES: [(u32, &str); 3] = [
    (1, include_str!("../fixtures/version-1.sql")),
    (2, include_str!("../fixtures/version-2.sql")),
    (3, include_str!("../fixtures/version-3.sql")),
];

fn run(store: &Postgres, text: &str) {
    store.with_connection(async |client| client.batch_execute(text).await).unwrap();
}

/// Makes the tables of a version. Returns the name of the schema and the URL; `None` on a server that is not PostgreSQL's own.
fn tables(admin: &Postgres, fixture: &str) -> Option<(String, String)> {
    let server = contextree_testkit::postgres::shared();
    let parameters = schema();
    let name = parameters.strip_prefix("schema=").unwrap().to_owned();
    if !server.is_own() {
        return None;
    }
    run(admin, &fixture.replace("{s}", &name));
    Some((name, server.url_with(&parameters)))
}

/// How many side records, calls, journal entries and attempts `main` has.
fn counts(store: &Postgres) -> [usize; 4] {
    let main = store.find("main").unwrap().unwrap();
    let (_, journal) = store.journal(main.id).unwrap();
    let calls = store.side_records(main.id, Some("call")).unwrap();
    let side = store.side_records(main.id, None).unwrap();
    let pins = store.pins(main.id).unwrap();
    assert_eq!(pins.iter().map(|pin| &*pin.label).collect::<Vec<_>>(), ["release"]);
    [side.len(), calls.len(), journal.len(), store.attempts(main.id).unwrap().len()]
}

#[test]
fn tables_of_every_published_version_are_migrated_and_everything_in_them_is_counted() {
    let admin = open();
    for (version, fixture) in FIXTURES {
        let Some((name, url)) = tables(&admin, fixture) else { return };
        let store = Postgres::open(&url).unwrap();
        let names: Vec<String> =
            store.list(None, 9).unwrap().into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["main", "work"], "version {version}");
        let expected = if version == 1 { [0, 0] } else { [10, 1] };
        assert_eq!(counts(&store)[..2], expected, "version {version}");
        assert_eq!(counts(&store)[3], 2, "version {version}");
        let whole = Store::over(std::sync::Arc::new(store), StoreOptions::deterministic());
        let found = whole.verify(&mut |_, _| {}).unwrap();
        assert!(found.is_clean(), "version {version}: {found:?}");
        let sound: u64 = found.contexts.iter().map(|context| context.sound).sum();
        assert_eq!(sound, 5, "version {version}");
        drop(whole);
        let store = Postgres::open_existing(&url).unwrap();
        let row = store.find("work").unwrap().unwrap();
        let change = SideChange { kind: "a.b".into(), key: "1".into(), value: Some(vec![1]) };
        let step = Step { side: vec![change], ..commit(3, "three") };
        store.append(row.id, row.revision, &step).unwrap();
        for sql in [
            "DELETE FROM {s}.pin",
            "DELETE FROM {s}.side WHERE kind = 'a.b'",
            "DELETE FROM {s}.journal",
            "DELETE FROM {s}.attempt WHERE id = 'attempt:3.1'",
        ] {
            run(&admin, &sql.replace("{s}", &name));
        }
        let main = store.find("main").unwrap().unwrap();
        assert_eq!(store.pins(main.id).unwrap_err().code(), "E_STORE_CORRUPT");
        assert_eq!(store.side_records(row.id, None).unwrap_err().code(), "E_STORE_CORRUPT");
        assert_eq!(store.journal(main.id).unwrap_err().code(), "E_STORE_CORRUPT");
        assert_eq!(store.attempts(main.id).unwrap_err().code(), "E_STORE_CORRUPT");
    }
}

#[test]
fn a_row_that_was_missing_before_the_migration_is_missing_after_it() {
    let admin = open();
    let Some((name, url)) = tables(&admin, FIXTURES[2].1) else { return };
    run(&admin, &format!("DELETE FROM {name}.attempt WHERE id = 'attempt:3.1'"));
    let store = Postgres::open(&url).unwrap();
    let main = store.find("main").unwrap().unwrap();
    assert_eq!(store.attempts(main.id).unwrap_err().code(), "E_STORE_CORRUPT");
    store.side_records(main.id, None).unwrap();
}

#[test]
fn many_programs_migrate_the_same_tables_once() {
    let admin = open();
    for (version, fixture) in FIXTURES {
        let Some((_, url)) = tables(&admin, fixture) else { return };
        let start = Barrier::new(4);
        let all: Vec<[usize; 4]> = thread::scope(|scope| {
            let open = || {
                start.wait();
                counts(&Postgres::open(&format!("{url}&pool_max=1&notify=off")).unwrap())
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "version {version}: {all:?}");
    }
}

#[test]
fn a_migration_whose_program_is_killed_leaves_the_old_version_and_is_done_again() {
    let admin = open();
    let Some((name, url)) = tables(&admin, FIXTURES[1].1) else { return };
    let half = format!(
        "BEGIN; SELECT value FROM {name}.meta WHERE key = 'format' FOR UPDATE; ALTER TABLE {name}.context ADD COLUMN journal_rows bigint NOT NULL DEFAULT 0; ALTER TABLE {name}.context RENAME COLUMN updated_ns TO written_ns; UPDATE {name}.meta SET value = '4' WHERE key = 'format'; SELECT pg_terminate_backend(pg_backend_pid())"
    );
    let killed = admin.with_connection(async |client| client.batch_execute(&half).await);
    assert_eq!(killed.unwrap_err().code(), "E_STORE_UNAVAILABLE");
    let store = Postgres::open(&url).unwrap();
    assert_eq!(counts(&store)[..2], [10, 1]);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

/// How programs of version 3 find a context, and how they take a step.
const OLD_STATEMENTS: [&str; 2] = [
    "SELECT id, name, branch, revision, head_cycle, head_digest, snapshots, settings, created_ns, updated_ns FROM {s}.context WHERE name = 'main'",
    "UPDATE {s}.context SET revision = revision + 1, updated_ns = 1, keys = substr(''::bytea || keys, 1, 128) WHERE name = 'main'",
];

#[test]
fn a_program_of_an_older_version_that_has_the_tables_open_fails_instead_of_not_counting() {
    let admin = open();
    let Some((name, url)) = tables(&admin, FIXTURES[2].1) else { return };
    let old = |text: &str| {
        let text = text.replace("{s}", &name);
        admin.with_connection(async |client| client.batch_execute(&text).await)
    };
    OLD_STATEMENTS.iter().for_each(|text| old(text).expect("in its own version it works"));
    let store = Postgres::open(&url).unwrap();
    for text in OLD_STATEMENTS {
        let refused = old(text).unwrap_err();
        assert!(refused.to_string().contains("updated_ns"), "{refused}");
    }
    let row = store.find("main").unwrap().unwrap();
    let step = Step { journal: Some(b"more".to_vec()), key: key(), ..Step::default() };
    assert_eq!(store.append(row.id, row.revision, &step).unwrap().revision, row.revision.next());
    assert!(counts(&store)[2] > 0);
}
