//! Histories of many processes.

use std::path::Path;

use contextree_trials::folder::Folder;
use contextree_trials::histories;

const PROGRAM: &str = env!("CARGO_BIN_EXE_contextree-trials");

fn check(url: &str, operations: u64) {
    let report = histories::run(Path::new(PROGRAM), url, 4, operations, 1);
    let report = report.expect("the history is linearizable");
    assert!(report.writes > operations / 6 && report.kills > 5, "{report:?}");
}

#[test]
fn killed_processes_on_a_file_leave_a_linearizable_history() {
    let folder = Folder::new();
    check(&folder.url("store.db"), 1_000);
}

#[test]
fn killed_processes_on_a_server_leave_a_linearizable_history() {
    let schema = format!("schema=histories_{}", std::process::id());
    check(&contextree_testkit::postgres::shared().url_with(&schema), 600);
}
