//! Flips one byte of one record: the damage is detected, and no read gives a wrong answer.

use contextree::SnapshotAddress;
use contextree_store::{ContextSettings, Store, StoreError};
use contextree_testkit::Rng;

use crate::support::{Home, block, commit_stored, turns};

/// Returns every column that holds records, with its table.
fn columns(file: &rusqlite::Connection) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let tables: Vec<String> = file
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for table in tables {
        let mut statement = file.prepare(&format!("PRAGMA table_info({table})")).unwrap();
        let columns = statement
            .query_map([], |row| Ok((row.get::<_, String>(1)?, row.get::<_, String>(2)?)))
            .unwrap();
        for (name, kind) in columns.map(Result::unwrap) {
            // Texts and blobs are records. The numbers next to them are keys and counts of rows.
            if kind == "BLOB" || kind == "TEXT" {
                found.push((table.clone(), name));
            }
        }
    }
    found
}

/// Returns the key of a table's rows, as one number.
fn key_of(file: &rusqlite::Connection, table: &str) -> &'static str {
    match file.prepare(&format!("SELECT rowid FROM {table}")) {
        Ok(_) => "rowid",
        // Tables with a pair as key: the numbers in this test are small.
        Err(_) if table == "journal" => "(context * 1000 + revision)",
        Err(_) if table == "side" => "context",
        Err(_) if table == "pins" => "(context * 1000 + cycle)",
        Err(_) => "(branch * 1000 + content)",
    }
}

/// Returns the answers of every snapshot of a context.
fn answers(store: &Store, name: &str) -> Vec<Result<String, String>> {
    let session = match store.session(name) {
        Ok(session) => session,
        Err(error) => return vec![Err(error.to_string())],
    };
    let mut all = Vec::new();
    for cycle in 1..=24 {
        let found = session.snapshot(SnapshotAddress::Cycle(cycle));
        all.push(
            found
                .map(|snapshot| String::from_utf8_lossy(&snapshot.export()).into_owned())
                .map_err(|error| error.to_string()),
        );
    }
    let working = session.working().map(contextree::Working::export);
    all.push(
        working
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(|error| error.to_string()),
    );
    all.push(Ok(format!("{:?}", session.settings())));
    all
}

fn fill(home: &Home) {
    let store = home.open();
    let mut main = store.adopt("main", turns(20), &ContextSettings::default()).unwrap();
    main.checkpoint().unwrap();
    for _ in 0..3 {
        commit_stored(&mut main);
    }
    store.fork("main", Some(SnapshotAddress::Cycle(9)), "fork").unwrap();
    main.write(|context| -> Result<(), Box<dyn std::error::Error>> {
        context.add(contextree::Place::head(), block("pending"))?;
        context.start_attempt(contextree::AttemptStart {
            provider: "somebody",
            model: "a model",
            params: b"",
            input: b"",
        });
        Ok(())
    })
    .unwrap();
    main.write(|context| -> Result<(), Box<dyn std::error::Error>> {
        let options = contextree::CommitOptions::default();
        context.begin_call(&options, |_| {
            let (params, input) = (contextree::Hash::of(b""), Some(contextree::Hash::of(b"")));
            let (provider, model) = ("a provider".to_owned(), "a model".to_owned());
            let options = String::new();
            Ok::<_, contextree::engine::CallError>((
                contextree::engine::CallStart {
                    provider,
                    model,
                    params,
                    input,
                    serves: None,
                    options,
                },
                (),
            ))
        })?;
        context.add(contextree::Place::head(), block("late"))?;
        Ok(())
    })
    .unwrap();
}

#[test]
fn flipped_byte_is_detected_and_never_gives_a_wrong_answer() {
    let home = Home::file();
    fill(&home);
    let sound: Vec<_> = ["main", "fork"].map(|name| answers(&home.open(), name)).into();
    assert!(home.open().verify(&mut |_, _| {}).unwrap().is_clean());
    let file = rusqlite::Connection::open(home.path()).unwrap();
    let columns = columns(&file);
    assert!(columns.len() >= 6, "{columns:?}");
    let mut random = Rng::new(7);
    for (table, column) in &columns {
        let key = key_of(&file, table);
        let rows: Vec<i64> = file
            .prepare(&format!("SELECT {key} FROM {table} WHERE length({column}) > 0"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for _ in 0..(if rows.is_empty() { 0 } else { 25 }) {
            let row = rows[random.below(rows.len() as u64) as usize];
            let read = format!("SELECT CAST({column} AS BLOB) FROM {table} WHERE {key} = ?");
            let before: Vec<u8> = file.query_row(&read, [row], |row| row.get(0)).unwrap();
            let mut after = before.clone();
            let index = random.below(after.len() as u64) as usize;
            after[index] ^= 1 << random.below(7);
            let is_text = std::str::from_utf8(&after).is_ok();
            let kind = if is_text { "TEXT" } else { "BLOB" };
            let declared = file
                .query_row(
                    &format!("SELECT typeof({column}) FROM {table} WHERE {key} = ?"),
                    [row],
                    |row| row.get::<_, String>(0),
                )
                .unwrap();
            let kind = if declared == "blob" { "BLOB" } else { kind };
            let write = format!("UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE {key} = ?");
            file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
            if file.execute(&write, rusqlite::params![after, row]).is_err() {
                // The table itself refuses invalid text or a name that is taken.
                continue;
            }
            let place = format!("{table}.{column}, row {row}, byte {index}");
            let found = {
                let store = home.open();
                let verified = store.verify(&mut |_, _| {});
                for (name, sound) in ["main", "fork"].into_iter().zip(&sound) {
                    for (now, then) in answers(&store, name).iter().zip(sound) {
                        assert!(now.is_err() || now == then, "{place}: a wrong answer");
                    }
                }
                !matches!(verified, Ok(verification) if verification.is_clean())
                    // A renamed context is not found, and the error says so.
                    || matches!(store.session("main"), Err(StoreError::NotFound { .. }))
                    || matches!(store.session("fork"), Err(StoreError::NotFound { .. }))
            };
            // Labels of pins, and the key of the last step, are not part of any answer.
            assert!(
                found || column == "last_key" || column == "key" || column == "label",
                "{place}: not found"
            );
            let back = format!(
                "UPDATE {table} SET {column} = CAST(? AS {}) WHERE {key} = ?",
                if declared == "blob" { "BLOB" } else { "TEXT" }
            );
            file.execute(&back, rusqlite::params![before, row]).unwrap();
        }
    }
    assert!(home.open().verify(&mut |_, _| {}).unwrap().is_clean());
}

#[test]
fn undamaged_snapshots_are_recovered() {
    let home = Home::file();
    fill(&home);
    let whole = home.open().session("main").unwrap().to_context().unwrap().export_history();
    let file = rusqlite::Connection::open(home.path()).unwrap();
    let table = columns(&file).into_iter().find(|(_, column)| column == "effects").unwrap().0;
    let changed = file
        .execute(
            &format!(
                "UPDATE {table} SET effects = CAST('x' AS BLOB) WHERE cycle = 12 AND branch = 1"
            ),
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
    let store = home.open();
    let check = store.verify(&mut |_, _| {}).unwrap();
    let problem = check.contexts.iter().find(|check| check.name == "main").unwrap();
    assert!(problem.problem.as_ref().unwrap().0.contains("@c12"), "{problem:?}");
    let mut saved = Vec::new();
    let count = store.salvage("main", &mut saved).unwrap();
    // All before the damaged one, and all from the checkpoint at @c20 on.
    assert_eq!(count, 11 + 4);
    let options = contextree::ContextOptions::default();
    let again =
        contextree::Context::import_history(&saved, contextree::Profile::Lenient, options).unwrap();
    let whole = contextree::Context::import_history(
        &whole,
        contextree::Profile::Lenient,
        contextree::ContextOptions::default(),
    )
    .unwrap();
    for cycle in (1..=11).chain(20..=23) {
        let address = SnapshotAddress::Cycle(cycle);
        assert_eq!(
            again.snapshot(address).unwrap().digest(),
            whole.snapshot(address).unwrap().digest()
        );
    }
}

#[test]
fn a_branch_that_begins_in_itself_is_damage_and_not_endless() {
    let home = Home::file();
    fill(&home);
    let file = rusqlite::Connection::open(home.path()).unwrap();
    file.execute("UPDATE branches SET parent = id WHERE parent IS NOT NULL", []).unwrap();
    let error = home.open().session("fork").unwrap_err();
    assert_eq!(error.code(), "E_STORE_CORRUPT", "{error}");
}
