//! Whose thread it is does not matter. Contents that come and go at the same time are there when they are needed.

use std::sync::Arc;
use std::thread;

use contextree_store::{Backend, ContentRow, Cycle, NewContext, Revision, Step};

use crate::support::{commit, create, history, key, new, open, schema};

#[test]
fn a_store_may_be_called_from_threads_of_another_runtime() {
    let store = Arc::new(open());
    let row = create(&*store, "main");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let shared = Arc::clone(&store);
    runtime.block_on(async move {
        let (first, second) = (Arc::clone(&shared), Arc::clone(&shared));
        let task = tokio::task::spawn_blocking(move || {
            first.append(row.id, Revision(1), &commit(1, "blocking"))
        });
        task.await.unwrap().unwrap();
        let task =
            tokio::spawn(async move { second.append(row.id, Revision(2), &commit(2, "async")) });
        task.await.unwrap().unwrap();
        shared.append(row.id, Revision(3), &commit(3, "main")).unwrap();
        // To drop the last one here is allowed, too.
        drop(shared);
    });
    let row = store.find("main").unwrap().unwrap();
    assert_eq!(history(&*store, &row), ["blocking", "async", "main"]);
    runtime.block_on(async move { drop(store) });
}

#[test]
fn a_visitor_may_ask_for_more_even_with_one_connection() {
    let url = contextree_testkit::postgres::shared().url_with(&format!("{}&pool_max=1", schema()));
    let store = contextree_store_postgres::Postgres::open(&url).unwrap();
    let row = create(&store, "main");
    store.append(row.id, Revision(1), &commit(1, "first")).unwrap();
    let mut seen = 0;
    store
        .commits(row.branch, Cycle::ZERO, Cycle::MAX, &mut |_| {
            seen += store.count_commits(row.branch, Cycle::MAX)?;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn of_two_that_let_go_of_a_content_at_once_one_removes_it() {
    let parameters = schema();
    let store = contextree_store_postgres::Postgres::open(
        &contextree_testkit::postgres::shared().url_with(&parameters),
    )
    .unwrap();
    let content = ContentRow { hash: [1; 32], data: vec![1; 9_000] };
    let rows = ["one", "two"].map(|name| {
        let contents = vec![content.clone()];
        let first = Step { key: key(), contents, ..Step::default() };
        store.create(&NewContext { first, ..new(name) }).unwrap()
    });
    let table = format!("{}.content", parameters.trim_start_matches("schema="));
    let hold = format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE");
    let waiting =
        format!("SELECT 1 FROM pg_locks WHERE relation = '{table}'::regclass AND NOT granted");
    thread::scope(|scope| {
        store
            .with_connection(async |client| {
                client.batch_execute(&hold).await?;
                for row in &rows {
                    scope.spawn(|| store.delete(row.id, row.revision).unwrap());
                }
                // Both have let go, neither has committed.
                let mut asked = 0;
                while client.query(&waiting, &[]).await?.len() < 2 {
                    asked += 1;
                    assert!(asked < 100_000, "both come to the table");
                }
                client.batch_execute("COMMIT").await
            })
            .unwrap();
    });
    assert_eq!(store.contents(&[content.hash]).unwrap(), [None], "nobody uses it");
}

#[test]
fn a_content_is_there_as_long_as_anybody_uses_it() {
    let store = open();
    let content = |number: u8| ContentRow { hash: [number; 32], data: vec![number; 9_000] };
    let contents: Vec<ContentRow> = (0..4).map(content).collect();
    let hashes: Vec<[u8; 32]> = contents.iter().map(|content| content.hash).collect();
    thread::scope(|scope| {
        for writer in 0..4 {
            let (store, contents, hashes) = (&store, &contents, &hashes);
            scope.spawn(move || {
                for round in 0..25 {
                    // Each writer names them in another order.
                    let mut contents = contents.clone();
                    contents.rotate_left(writer);
                    let first = Step { key: key(), contents, ..Step::default() };
                    let new = NewContext { first, ..new(&format!("{writer}/{round}")) };
                    let row = store.create(&new).unwrap();
                    let found = store.contents(hashes).unwrap();
                    assert!(found.iter().all(Option::is_some), "a content went that is used");
                    store.delete(row.id, row.revision).unwrap();
                }
            });
        }
    });
    assert!(store.contents(&hashes).unwrap().iter().all(Option::is_none), "nobody uses them");
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert!(store.reclaim().unwrap().unwrap() > 0);
}
