//! Other processes hear of steps. Two stores in one process are two processes here: a store does not hear itself.

use std::sync::{Arc, Mutex};

use contextree_store::{Backend, ContextId, Revision};
use contextree_store_postgres::Postgres;

use crate::support::{commit, create, open_on, until};

/// Listeners may ask the store what is new, even over its only connection.
#[test]
fn a_listener_may_ask_the_store() {
    let (writer, url) = open_on(contextree_testkit::postgres::shared(), "");
    let reader = Arc::new(Postgres::open(&format!("{url}&pool_max=1")).unwrap());
    let row = create(&writer, "main");
    let (answers, weak) = (Arc::new(Mutex::new(Vec::new())), Arc::downgrade(&reader));
    let notes = Arc::clone(&answers);
    let listener = move |_, _| {
        let found = weak.upgrade().map(|store| store.find("main").unwrap().unwrap().revision);
        notes.lock().unwrap().extend(found);
    };
    assert!(reader.subscribe(Box::new(listener)).unwrap());
    writer.append(row.id, Revision(1), &commit(1, "first")).unwrap();
    until("the listener has read the step", || answers.lock().unwrap().contains(&Revision(2)));
}

type Heard = Arc<Mutex<Vec<(ContextId, Revision)>>>;

fn listen(store: &Postgres) -> Heard {
    let heard = Heard::default();
    let notes = Arc::clone(&heard);
    let listener = move |context, revision| notes.lock().unwrap().push((context, revision));
    assert!(store.subscribe(Box::new(listener)).unwrap());
    heard
}

#[test]
fn others_hear_of_steps_and_deletions_and_a_store_does_not_hear_itself() {
    let (writer, url) = open_on(contextree_testkit::postgres::shared(), "");
    let reader = Postgres::open(&url).unwrap();
    let (heard, own) = (listen(&reader), listen(&writer));
    let row = create(&writer, "main");
    let row = writer.append(row.id, Revision(1), &commit(1, "first")).unwrap();
    until("the step is heard of", || heard.lock().unwrap().contains(&(row.id, Revision(2))));
    writer.delete(row.id, Revision(2)).unwrap();
    until("the deletion is heard of", || heard.lock().unwrap().contains(&(row.id, Revision(0))));
    // What the reader writes, the writer hears; by then it would have heard itself.
    let other = create(&reader, "other");
    let other = reader.append(other.id, Revision(1), &commit(1, "first")).unwrap();
    until("the other's step is heard of", || {
        own.lock().unwrap().contains(&(other.id, Revision(2)))
    });
    assert!(own.lock().unwrap().iter().all(|(context, _)| *context == other.id));
}

#[test]
fn after_a_lost_line_anything_may_have_changed() {
    let (writer, url) = open_on(contextree_testkit::postgres::shared(), "application_name=writes");
    let reader = Postgres::open(&url.replace("=writes", "=listens")).unwrap();
    let heard = listen(&reader);
    let row = create(&writer, "main");
    let cut =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listens'";
    writer.with_connection(async |client| client.batch_execute(cut).await).unwrap();
    until("the listener is told", || heard.lock().unwrap().contains(&(ContextId(-1), Revision(0))));
    writer.append(row.id, Revision(1), &commit(1, "first")).unwrap();
    until("notices come again", || heard.lock().unwrap().contains(&(row.id, Revision(2))));
}
