//! Makes each write fail in turn: the error is typed, the state is unchanged, and the store works
//! again after the fault.

use std::sync::Arc;

use contextree::Context;
use contextree_store::{
    Backend, ContextSettings, Memory, Session, Sqlite, SqliteOptions, Store, StoreError,
    StoreOptions,
};
use contextree_testkit::suite::faulty::{Faulty, When};

use crate::support::{block, utf8};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const STEPS: u64 = 12;

fn step(context: &mut Context, number: u64) -> Outcome {
    match number % 4 {
        0 => drop(context.commit()?),
        1 => drop(context.add(contextree::Place::head(), block(&format!("short {number}")))?),
        2 => {
            let long = "long ".repeat(300) + &number.to_string();
            context.add(contextree::Place::head(), contextree::NewNode::text(&*long))?;
        }
        _ => {
            context.add(contextree::Place::at("^ah", 1), block(&format!("after {number}")))?;
            context.commit()?;
        }
    }
    Ok(())
}

fn state(session: &Session) -> (String, contextree::Hash) {
    (utf8(&session.working().unwrap().export()).to_owned(), session.history_digest().unwrap())
}

fn fail_in_turn<B: Backend + 'static>(make: &dyn Fn() -> B) {
    let mut plain = Context::new();
    (1..=STEPS).for_each(|number| step(&mut plain, number).unwrap());
    let expected = (utf8(&plain.export_working()).to_owned(), plain.history_digest());
    // Creating the context is the first write.
    for write in 2..=STEPS + 1 {
        for when in [When::Before, When::After] {
            let faulty = Arc::new(Faulty::new(make()));
            let options = StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() };
            let store = Store::over(Arc::clone(&faulty) as Arc<dyn Backend>, options);
            let mut session = store.create("main", &ContextSettings::default()).unwrap();
            let error = match when {
                When::Before => StoreError::Full { message: "injected".to_owned() },
                When::After => {
                    StoreError::Unavailable { message: "injected".to_owned(), unknown: true }
                }
            };
            faulty.fail_once(write, when, error);
            for number in 1..=STEPS {
                let before = state(&session);
                let result = session.write(|context| step(context, number));
                match result {
                    Ok(()) => {}
                    Err(error) => {
                        let error: &StoreError = error.downcast_ref().unwrap();
                        assert_eq!((error.code(), when), ("E_STORE_FULL", When::Before));
                        assert_eq!(state(&session), before, "the state is as before");
                        session.write(|context| step(context, number)).unwrap();
                    }
                }
            }
            assert_eq!(state(&session), expected, "write {write}, {when:?}");
            let again = store.session("main").unwrap();
            assert_eq!(state(&again), expected, "write {write}, {when:?}, opened again");
            assert_eq!(again.row().revision.get(), STEPS + 1, "every step landed once");
        }
    }
}

#[test]
fn every_write_in_turn_fails_in_memory() {
    fail_in_turn(&Memory::new);
}

#[test]
fn every_write_in_turn_fails_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    fail_in_turn(&|| {
        count.set(count.get() + 1);
        let path = folder.path().join(format!("{}.db", count.get()));
        Sqlite::open(path, &SqliteOptions::default()).unwrap()
    });
}
