//! Many processes on one file.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;

use contextree_store::Backend;
use contextree_testkit::suite::new;
use contextree_testkit::suite::threads::{append_against_others, is_a_line};

use crate::child::{command, task};
use crate::support::{Home, contents_of, grow, open, open_for_reading};

const EACH: usize = 15;

/// Eight threads append to one context. Prints what was acknowledged.
#[test]
fn task_append_with_eight_threads() {
    let Some(task) = task() else { return };
    let store = open(&task[0]).unwrap();
    let process: u64 = task[1].parse().unwrap();
    let acknowledged: Vec<u32> = thread::scope(|scope| {
        let work = |writer| {
            let store = &store;
            move || append_against_others(store, "main", process * 100 + writer, EACH)
        };
        let threads: Vec<_> = (0..8).map(|writer| scope.spawn(work(writer))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for cycle in acknowledged {
        println!("acknowledged {cycle}");
    }
}

#[test]
fn two_processes_with_eight_threads_leave_a_line_without_gaps() {
    let home = Home::new();
    home.create(&new("main")).unwrap();
    let path = home.path();
    let children: Vec<_> = ["1", "2"]
        .iter()
        .map(|process| {
            let name = "sqlite_processes::task_append_with_eight_threads";
            let task = [path.to_str().unwrap(), process];
            command(name, &task).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut acknowledged = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        acknowledged.extend(numbers(&String::from_utf8(output.stdout).unwrap()));
    }
    acknowledged.sort_unstable();
    let count = u32::try_from(2 * 8 * EACH).unwrap();
    assert_eq!(acknowledged, (1..=count).collect::<Vec<u32>>());
    is_a_line(&*home, "main", count);
    assert_eq!(home.check().unwrap(), Vec::<String>::new());
}

fn numbers(text: &str) -> Vec<u32> {
    // The first line has the name of the test before it.
    let number = |line: &str| line.split_once("acknowledged ")?.1.parse().ok();
    text.lines().filter_map(number).collect()
}

/// Appends for ever, and says so after each commit.
#[test]
fn task_append_until_killed() {
    let Some(task) = task() else { return };
    let store = open(&task[0]).unwrap();
    let mut row = store.find("main").unwrap().unwrap();
    loop {
        row = grow(&store, row, 1);
        println!("acknowledged {}", row.head.unwrap().cycle);
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_a_reader_sees_it() {
    let home = Home::new();
    home.create(&new("main")).unwrap();
    let path = home.path();
    let folder = home.close();
    let mut last = 0;
    for kill in 0..25 {
        let name = "sqlite_processes::task_append_until_killed";
        let mut child =
            command(name, &[path.to_str().unwrap()]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The moment of the kill is another one each time, and never in step with the commits.
        let mut seen = 0;
        for line in lines.map_while(Result::ok) {
            let Some(&cycle) = numbers(&line).first() else { continue };
            last = cycle;
            seen += 1;
            if seen == 1 + kill * 7 % 40 {
                if kill % 5 == 0 {
                    let reader = open_for_reading(&path).unwrap();
                    assert!(contents_of(&reader, "main").1.len() >= last as usize);
                }
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let store = open(&path).unwrap();
        let (row, bodies) = contents_of(&store, "main");
        let head = row.head.unwrap().cycle.get();
        assert!(head == last || head == last + 1, "{head} is there, {last} was acknowledged");
        assert_eq!((bodies.len(), row.revision.get()), (head as usize, u64::from(head) + 1));
        assert!(bodies.iter().all(|bodies| bodies.len() == 1_000));
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        last = head;
    }
    drop(folder);
}

/// Opens a file that is not there yet, together with others.
#[test]
fn task_make_the_file() {
    let Some(task) = task() else { return };
    let store = open(&task[0]).unwrap();
    store.create(&new(&task[1])).unwrap();
}

#[test]
fn many_processes_may_make_the_file_at_once() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let children: Vec<_> = (0..6)
        .map(|process| {
            let task = [path.to_str().unwrap(), &format!("context {process}")];
            command("sqlite_processes::task_make_the_file", &task)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(open(&path).unwrap().list(None, 10).unwrap().len(), 6);
}
