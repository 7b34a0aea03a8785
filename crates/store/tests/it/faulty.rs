//! The store that fails when it is told to fails as it is told to.

use std::cell::RefCell;

use contextree_store::{Backend, ContextRow, Memory, NewContext, Revision, Step, StoreError};
use contextree_testkit::suite::faulty::{Faulty, When};
use contextree_testkit::suite::{commits, new};

use crate::support::{Home, contents_of, open};

const CYCLES: u32 = 6;

/// Makes a context and appends commits. A write whose answer is an error is given again, once.
fn work(store: &dyn Backend, told: &mut Vec<StoreError>) -> ContextRow {
    let first = Step { key: [255; 16], ..Step::default() };
    let made = NewContext { first, ..new("main") };
    let mut row = store.create(&made).or_else(|error| {
        told.push(error);
        store.create(&made)
    });
    for cycle in 1..=CYCLES {
        let before = row.clone().unwrap();
        let step = Step { key: [u8::try_from(cycle).unwrap(); 16], ..commits([cycle]) };
        row = store.append(before.id, before.revision, &step).or_else(|error| {
            told.push(error);
            store.append(before.id, before.revision, &step)
        });
    }
    row.unwrap()
}

fn check<B: Backend>(make: impl Fn() -> B) {
    let mut untold = Vec::new();
    let expected = work(&make(), &mut untold);
    assert_eq!(untold, []);
    for when in [When::Before, When::After] {
        for number in 1..=u64::from(CYCLES) + 1 {
            let store = Faulty::new(make());
            let error = match when {
                When::Before => StoreError::Io { message: "injected".to_owned() },
                When::After => {
                    StoreError::Unavailable { message: "injected".to_owned(), unknown: true }
                }
            };
            store.fail_once(number, when, error.clone());
            let mut told = Vec::new();
            assert_eq!(work(&store, &mut told), expected, "{when:?} write {number}");
            assert_eq!(told, [error], "{when:?} write {number}");
            let (row, bodies) = contents_of(&store, "main");
            assert_eq!((row, bodies.len()), (expected.clone(), CYCLES as usize));
            assert_eq!(store.writes(), u64::from(CYCLES) + 2, "one was given twice");
        }
    }
}

#[test]
fn a_write_that_failed_or_whose_answer_was_lost_is_given_again_and_lands_once() {
    check(Memory::new);
}

#[test]
fn the_same_on_a_file() {
    let homes: RefCell<Vec<Home>> = RefCell::default();
    check(|| {
        let home = Home::new();
        let store = open(home.path()).unwrap();
        homes.borrow_mut().push(home);
        store
    });
}

#[test]
fn nothing_changes_while_writes_fail_and_reads_can_fail_too() {
    let store = Faulty::new(Memory::new());
    let row = store.create(&new("main")).unwrap();
    let full = StoreError::Full { message: "injected".to_owned() };
    store.fail_writes(When::Before, full.clone());
    for _ in 0..3 {
        assert_eq!(store.append(row.id, Revision(1), &commits([1])), Err(full.clone()));
    }
    assert_eq!(store.delete(row.id, Revision(1)), Err(full.clone()));
    assert_eq!(store.find("main").unwrap(), Some(row.clone()));
    store.fail_reads(full.clone());
    assert_eq!(store.find("main"), Err(full));
    store.heal();
    assert_eq!(store.append(row.id, Revision(1), &commits([1])).unwrap().revision, Revision(2));
}
