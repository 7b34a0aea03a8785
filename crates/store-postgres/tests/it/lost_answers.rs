//! The answer to a step is lost after it landed. A line between the store and the server that can be told to swallow an answer makes that
//! happen exactly when it is wanted.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use contextree_store::{Backend, ContextRow, Revision, StoreError};
use contextree_store_postgres::Postgres;

use crate::support::{commit, create, history, schema};

const PASS: u8 = 0;
/// The next answer is swallowed and its connection closed; then everything passes again.
const SWALLOW: u8 = 1;
/// The next answer is swallowed, and from then on nobody gets through.
const SWALLOW_AND_CLOSE: u8 = 2;
const CLOSED: u8 = 3;

/// A line to the shared server.
struct Line {
    mode: Arc<AtomicU8>,
    port: u16,
}

impl Line {
    fn new() -> Line {
        let url = contextree_testkit::postgres::shared().url();
        let address = url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mode = Arc::new(AtomicU8::new(PASS));
        let shared = Arc::clone(&mode);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.load(Ordering::SeqCst) == CLOSED {
                    continue;
                }
                let server = TcpStream::connect(&address).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || pump(from, to, None));
                let mode = Arc::clone(&shared);
                thread::spawn(move || pump(server, client, Some(&mode)));
            }
        });
        Line { mode, port }
    }

    fn open(&self, schema: &str, patience: u32) -> Postgres {
        let url = contextree_testkit::postgres::shared().url_with(&format!(
            "{schema}&sslmode=disable&notify=off&pool_max=1&patience_ms={patience}"
        ));
        let (head, tail) = url.split_once('@').unwrap();
        let (_, tail) = tail.split_once('/').unwrap();
        Postgres::open(&format!("{head}@127.0.0.1:{}/{tail}", self.port)).unwrap()
    }

    fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }
}

/// Carries bytes in one direction.
fn pump(mut from: TcpStream, mut to: TcpStream, mode: Option<&AtomicU8>) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if let Some(mode) = mode {
            let swallowed =
                mode.compare_exchange(SWALLOW, PASS, Ordering::SeqCst, Ordering::SeqCst);
            let closed = mode.compare_exchange(
                SWALLOW_AND_CLOSE,
                CLOSED,
                Ordering::SeqCst,
                Ordering::SeqCst,
            );
            if swallowed.is_ok() || closed.is_ok() {
                break;
            }
        }
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Makes a context whose statements are prepared, so that the next answer is that of the step itself.
fn warm(store: &dyn Backend) -> ContextRow {
    let row = create(store, "main");
    store.append(row.id, Revision(1), &commit(1, "first")).unwrap()
}

#[test]
fn a_step_whose_answer_was_lost_is_found_by_its_key() {
    let line = Line::new();
    let store = line.open(&schema(), 20_000);
    let row = warm(&store);
    line.set(SWALLOW);
    let now = store.append(row.id, row.revision, &commit(2, "second")).unwrap();
    assert_eq!(line.mode.load(Ordering::SeqCst), PASS, "an answer was swallowed");
    assert_eq!(now.revision, row.revision.next());
    assert_eq!(history(&store, &now), ["first", "second"]);
}

#[test]
fn a_context_whose_making_was_not_answered_is_made_once() {
    let line = Line::new();
    let store = line.open(&schema(), 20_000);
    create(&store, "main");
    line.set(SWALLOW);
    let row = create(&store, "other");
    assert_eq!(line.mode.load(Ordering::SeqCst), PASS, "an answer was swallowed");
    assert_eq!(row.revision, Revision(1));
    assert_eq!(store.find("other").unwrap(), Some(row));
    assert_eq!(store.list(None, 10).unwrap().len(), 2);
}

#[test]
fn a_deletion_whose_answer_was_lost_is_done() {
    let line = Line::new();
    let store = line.open(&schema(), 20_000);
    let row = warm(&store);
    // The answers to the statements of the transaction are several: whichever is lost, the context is gone in the end.
    line.set(SWALLOW);
    store.delete(row.id, row.revision).unwrap();
    assert_eq!(line.mode.load(Ordering::SeqCst), PASS, "an answer was swallowed");
    assert_eq!(store.find("main").unwrap(), None);
}

#[test]
fn if_nobody_can_tell_the_error_says_so_and_the_step_may_be_given_again() {
    let (line, schema) = (Line::new(), schema());
    let store = line.open(&schema, 50);
    let row = warm(&store);
    let step = commit(2, "second");
    line.set(SWALLOW_AND_CLOSE);
    let error = store.append(row.id, row.revision, &step).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { unknown: true, .. }), "{error:?}");
    let error = store.append(row.id, row.revision, &step).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { unknown: true, .. }), "{error:?}");
    // A step that never got through is a different matter.
    let error = store.append(row.id, row.revision, &commit(2, "another")).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { unknown: false, .. }), "{error:?}");

    // Others go on meanwhile, further than a context remembers keys.
    line.set(PASS);
    let others = Line::new().open(&schema, 20_000);
    let mut now = others.find("main").unwrap().unwrap();
    for cycle in 3..30 {
        now = others.append(now.id, now.revision, &commit(cycle, "theirs")).unwrap();
    }
    let known = store.append(row.id, row.revision, &step).unwrap();
    assert_eq!(known.revision, row.revision.next(), "the revision that the step made");
    let stale = store.append(row.id, row.revision, &commit(2, "another")).unwrap_err();
    assert_eq!(stale.code(), "E_CONFLICT");
    let texts = history(&store, &now);
    assert_eq!(texts.iter().filter(|text| *text == "second").count(), 1);
    assert_eq!(texts.len(), 29);
}
