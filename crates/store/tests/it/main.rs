//! What every store promises, and what is special about each.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod child;
mod faulty;
mod memory;
mod policies;
mod readers;
mod sqlite;
mod sqlite_copies;
mod sqlite_faults;
mod sqlite_files;
mod sqlite_integrity;
mod sqlite_processes;
mod sqlite_upgrades;
mod support;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
