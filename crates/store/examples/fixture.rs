//! Writes the fixture of the present format: `cargo run -p contextree-store --example fixture -- PATH`.
//!
//! Once published, a fixture is never written again; a new format gets a new one.

use std::path::PathBuf;

use contextree_store::{
    AttemptRow, Backend, Checkpoint, ContentRow, Cycle, NewContext, Pin, Result, Revision,
    SideChange, Sqlite, SqliteOptions, Step, Stretch,
};
use contextree_testkit::suite::{commits, new};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| PathBuf::from("format-4.db"), PathBuf::from);
    let store = Sqlite::open(path, &SqliteOptions::default())?;
    let settings = r#"{"edition":1}"#.to_owned();
    let main = store.create(&NewContext { settings, ..new("main") })?;
    let contents = vec![ContentRow { hash: [5; 32], data: b"shared".to_vec() }];
    let record = r#"{"model":"m"}"#.to_owned();
    let attempts = vec![AttemptRow { id: "attempt:1".to_owned(), record }];
    store.append(
        main.id,
        Revision(1),
        &Step { contents, attempts, key: [3; 16], ..commits([1, 2]) },
    )?;
    store.append(main.id, Revision(2), &commits([3]))?;
    let journal = Some(b"edit".to_vec());
    let side = vec![SideChange {
        kind: "call".to_owned(),
        key: "attempt:1".to_owned(),
        value: Some(b"request".to_vec()),
    }];
    store.append(
        main.id,
        Revision(3),
        &Step { now_ns: 2_000, journal, side, ..Step::default() },
    )?;
    let checkpoint = Checkpoint { cycle: Cycle(2), tree: b"tree 2".to_vec(), bodies: Vec::new() };
    store.add_checkpoint(main.branch, &checkpoint)?;
    store.pin(main.id, &Pin { cycle: Cycle(2), label: "release".to_owned() })?;
    let from = Some(Stretch { branch: main.branch, upto: Cycle(2) });
    let fork = store.create(&NewContext { from, ..new("fork") })?;
    store.append(fork.id, Revision(1), &commits([3]))?;
    Ok(())
}
