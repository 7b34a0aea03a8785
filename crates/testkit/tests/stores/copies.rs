//! Copies of stores of every kind, row by row, into files and back.

use contextree::{Place, SnapshotAddress};
use contextree_store::{ContextSettings, Cycle, Retention, Store, StoreError};

use crate::support::{Home, block, commit_stored, on_every_store, open, turns};

/// Makes contexts with a hole in the history, forks of forks, a fork of a deleted context, pins, attempts, side records, uncommitted work and a
/// running call.
fn fill(store: &Store) {
    let settings = ContextSettings::default();
    let mut main = store.adopt("main", turns(12), &settings).unwrap();
    main.checkpoint().unwrap();
    commit_stored(&mut main);
    let mut fork = store.fork("main", Some(SnapshotAddress::Cycle(4)), "fork").unwrap();
    commit_stored(&mut fork);
    drop(store.fork("fork", Some(SnapshotAddress::Cycle(5)), "fork of fork").unwrap());
    let backend = store.backend();
    let row = backend.find("main").unwrap().unwrap();
    let label = "release".to_owned();
    backend.pin(row.id, &contextree_store::Pin { cycle: Cycle(6), label }).unwrap();
    drop(main);
    let rule = Retention { keep_newest: Some(3), ..Retention::default() };
    assert!(store.retain("main", &rule, false).unwrap().dropped > 0);
    store.adopt("gone", turns(3), &settings).unwrap();
    let mut orphan = store.fork("gone", Some(SnapshotAddress::Cycle(2)), "orphan").unwrap();
    commit_stored(&mut orphan);
    store.delete("gone").unwrap();
    let mut main = store.session("main").unwrap();
    main.update_side(|context, side| {
        side.put("test.kind", "key", b"value".to_vec());
        context.add(Place::head(), block("pending one")).map_err(contextree::Error::from)?;
        Ok::<_, contextree::Error>(())
    })
    .unwrap();
    let mut calling = store.adopt("calling", turns(1), &settings).unwrap();
    calling
        .write(|context| -> Result<(), Box<dyn std::error::Error>> {
            context.add(Place::head(), block("asked"))?;
            let options = contextree::CommitOptions::default();
            context.begin_call(&options, |_| {
                let start = contextree::engine::CallStart {
                    provider: "a provider".to_owned(),
                    model: "a model".to_owned(),
                    params: contextree::Hash::of(b""),
                    input: Some(contextree::Hash::of(b"")),
                    serves: None,
                    options: String::new(),
                };
                Ok::<_, contextree::engine::CallError>((start, ()))
            })?;
            context.add(Place::head(), block("late"))?;
            Ok(())
        })
        .unwrap();
}

/// Returns everything that a reader of a store can see, but for numbers of rows and revisions.
fn everything(store: &Store) -> Vec<(String, String)> {
    let backend = store.backend();
    let mut seen = Vec::new();
    for row in backend.list(None, 99).unwrap() {
        let reader = store.reader(&row.name).unwrap();
        let whole = reader.to_context().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let side: Vec<_> = backend.side_records(row.id, None).unwrap();
        let attempts: Vec<_> = backend.attempts(row.id).unwrap();
        let head = row.head.map(|head| (head.cycle, head.digest));
        let facts = format!(
            "{head:?} {:?} {:?} {side:?} {attempts:?} {:?}\n{}\n{}",
            (row.snapshots, row.created_ns, row.updated_ns, &row.settings),
            backend.pins(row.id).unwrap(),
            whole.history_digest(),
            text(&whole.export_history()),
            text(&reader.working().unwrap().export()),
        );
        seen.push((row.name, facts));
    }
    seen
}

#[test]
fn a_store_of_any_kind_is_copied_into_a_file_and_from_there_into_any_kind() {
    on_every_store(|store| {
        fill(store);
        let before = everything(store);
        assert_eq!(before.len(), 5);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.db");
        store.backup(&path, &mut |_, _| {}).unwrap();
        let copy = open(&format!("sqlite:{}", path.display()));
        assert!(copy.verify(&mut |_, _| {}).unwrap().is_clean());
        assert_eq!(everything(&copy), before);
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(!names.iter().flatten().any(|it| it.path().ends_with("copy.db.partial")));
        for home in [Home::file(), Home::server()] {
            let restored = home.open();
            restored.restore_into(&path, &mut |_, _| {}).unwrap();
            assert_eq!(everything(&restored), before, "{}", home.url);
            let again = restored.restore_into(&path, &mut |_, _| {}).unwrap_err();
            assert!(matches!(again, StoreError::Exists { .. }), "{again}");
            // It can be written: the running call is still there, and ends.
            let mut main = restored.session("main").unwrap();
            commit_stored(&mut main);
            assert!(restored.verify(&mut |_, _| {}).unwrap().is_clean());
        }
    });
}
