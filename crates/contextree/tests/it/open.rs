//! Opening stores by URL and path.

use contextree::{Code, ContextSettings, Error, SnapshotAddress, user};

#[cfg(feature = "sqlite")]
#[test]
fn a_bare_path_is_a_sqlite_file_that_keeps_contexts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let path = path.to_str().unwrap();
    let mut session =
        contextree::open(path).unwrap().create("main", &ContextSettings::default()).unwrap();
    session
        .update(|context| {
            context.add(contextree::Place::head(), user("Hello"))?;
            Ok::<_, Error>(context.commit()?)
        })
        .unwrap();
    drop(session);
    let reopened = contextree::open(&format!("sqlite:{path}")).unwrap();
    let mut session = reopened.session("main").unwrap();
    assert_eq!(session.snapshot(SnapshotAddress::Back(0)).unwrap().cycle(), 1);
}

#[test]
fn stores_use_the_clock_of_the_machine() {
    let store = contextree::open("memory:").unwrap();
    let session = store.create("main", &ContextSettings::default()).unwrap();
    // 2020-09-13 in nanoseconds: no logical clock counts that far.
    assert!(session.row().created_ns > 1_600_000_000_000_000_000);
}

#[test]
fn an_unknown_scheme_is_refused() {
    let error = contextree::open("mysql://host/db").unwrap_err();
    assert_eq!(error.code(), Code::StoreUrl);
    assert!(error.hint().is_some());
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_backend_whose_feature_is_off_is_refused() {
    let error = contextree::open("postgres://host/db").unwrap_err();
    assert_eq!(error.code(), Code::StoreUrl);
}
