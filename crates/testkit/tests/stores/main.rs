//! Tests contexts in stores: every test runs on every store, in memory, in a file, on a server.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod calls;
mod copies;
mod crashes;
mod damage;
mod faults;
mod killed;
mod reading;
mod redact;
mod requests;
mod retired;
mod sessions;
mod support;
mod tenants;
mod undo;
mod vectors;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stores");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
