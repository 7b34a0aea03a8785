//! Two processes with eight threads each write to one context: one linear history.

use std::process::Command;
use std::thread;

use contextree_store::Backend;
use contextree_store_postgres::Postgres;

use crate::support::{create, history, insist, open_on, same_entries};

const THREADS: usize = 8;
const STEPS: usize = 12;
const TOLD: &str = "CONTEXTREE_TEST_WRITER";

#[test]
fn two_processes_with_eight_threads_write_one_history() {
    let (store, url) = open_on(contextree_testkit::postgres::shared(), "");
    create(&store, "main");
    let program = std::env::current_exe().unwrap();
    let mut children = Vec::new();
    for process in 0..2 {
        let mut command = Command::new(&program);
        command.args(["--exact", "processes::the_work_of_one_process"]);
        command.env(TOLD, format!("{process} {url}"));
        children.push(command.spawn().unwrap());
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let row = store.find("main").unwrap().unwrap();
    let texts = history(&store, &row);
    let expected = (0..2).flat_map(|process| {
        (0..THREADS).flat_map(move |thread| {
            (0..STEPS).map(move |step| format!("{process}/{thread}/{step}"))
        })
    });
    same_entries(&texts, expected);
    assert_eq!(row.revision.get() as usize, texts.len() + 1);
    assert_eq!(row.head.unwrap().cycle.get() as usize, texts.len());
}

/// What each process does: nothing, unless it was started by the test above.
#[test]
fn the_work_of_one_process() {
    let Some(told) = std::env::var_os(TOLD) else { return };
    let told = told.into_string().unwrap();
    let (process, url) = told.split_once(' ').unwrap();
    let store = Postgres::open(url).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                for step in 0..STEPS {
                    insist(store, "main", &format!("{process}/{thread}/{step}"), &|error| {
                        panic!("{error}");
                    });
                }
            });
        }
    });
}
