//! Histories of many processes.

use std::path::Path;

use contextree_testkit::postgres::Server;
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
fn a_server_that_is_killed_and_started_again_leaves_a_linearizable_history() {
    let server = Server::obtain().unwrap();
    if !server.is_own() {
        return;
    }
    let url = server.url_with("schema=restarts&patience_ms=20000");
    let restart = || server.kill().and_then(|()| server.restart());
    let report = histories::run_with(Path::new(PROGRAM), &url, 4, 600, 1, Some(&restart)).unwrap();
    assert!(report.restarts > 0 && report.writes > 100, "{report:?}");
}

#[test]
fn killed_processes_on_a_server_leave_a_linearizable_history() {
    let schema = format!("schema=histories_{}", std::process::id());
    check(&contextree_testkit::postgres::shared().url_with(&schema), 600);
}
