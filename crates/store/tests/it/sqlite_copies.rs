//! Copies of a store that is in use.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use contextree_store::{Backend, Sqlite};
use contextree_testkit::suite::new;

use crate::support::{Home, contents_of, files, grow, open, open_for_reading};

#[test]
fn a_copy_is_the_store_as_it_was() {
    let home = Home::new();
    let row = grow(&*home, home.create(&new("main")).unwrap(), 3_000);
    let copy = home.folder().join("copy.db");
    let mut told = Vec::new();
    home.backup(&copy, &mut |done, all| told.push((done, all))).unwrap();
    assert!(told.len() > 2, "it is told how far it is: {told:?}");
    assert!(told.is_sorted() && told.last().is_some_and(|(done, all)| done == all));
    let before = contents_of(&*home, "main");
    grow(&*home, row, 1);
    let store = open_for_reading(&copy).unwrap();
    assert_eq!(contents_of(&store, "main"), before);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    drop(store);

    let restored = home.folder().join("restored.db");
    Sqlite::restore(&copy, &restored, &mut |_, _| {}).unwrap();
    let store = open(&restored).unwrap();
    assert_eq!(contents_of(&store, "main"), before);
    let row = store.find("main").unwrap().unwrap();
    grow(&store, row, 1);
}

#[test]
fn a_copy_is_sound_though_others_write_meanwhile() {
    let home = Home::new();
    let row = grow(&*home, home.create(&new("main")).unwrap(), 1_500);
    let done = AtomicBool::new(false);
    let copy = home.folder().join("copy.db");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut row = row;
            while !done.load(Ordering::Relaxed) {
                row = grow(&*home, row, 1);
            }
            row
        });
        home.backup(&copy, &mut |_, _| {}).unwrap();
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
    let (row, bodies) = contents_of(&open(&copy).unwrap(), "main");
    assert_eq!(row.snapshots, bodies.len() as u64);
    assert_eq!(row.head.map(|head| head.cycle.get() as usize), Some(bodies.len()));
    let (_, all) = contents_of(&*home, "main");
    assert_eq!(all[..bodies.len()], bodies, "it is the beginning of what is there now");
}

#[test]
fn no_file_is_overwritten_and_no_half_copy_is_left() {
    let home = Home::new();
    home.create(&new("main")).unwrap();
    let there = home.folder().join("there.db");
    fs::write(&there, "something else").unwrap();
    let error = home.backup(&there, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.code(), "E_STORE_EXISTS");
    assert_eq!(fs::read(&there).unwrap(), b"something else");
    let error = Sqlite::restore(&home.path(), &there, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.code(), "E_STORE_EXISTS");
    let error = Sqlite::restore(&there, &home.folder().join("new.db"), &mut |_, _| {});
    assert_eq!(error.unwrap_err().code(), "E_STORE_FOREIGN");
    let error = home.backup(&home.folder().join("no/such/folder.db"), &mut |_, _| {});
    assert_eq!(error.unwrap_err().code(), "E_STORE_IO");
    // The remains of a copy that was killed are no obstacle.
    fs::write(home.folder().join("copy.db.partial"), "half").unwrap();
    home.backup(&home.folder().join("copy.db"), &mut |_, _| {}).unwrap();
    let folder = home.close();
    assert_eq!(files(folder.path()), ["copy.db", "store.db", "there.db"]);
}
