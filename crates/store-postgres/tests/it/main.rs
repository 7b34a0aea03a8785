//! Tests of the store on PostgreSQL, each in a schema of its own on a server of our own.
//!
//! `CONTEXTREE_TEST_POSTGRES` names a server to be used instead; tests that kill servers or want certificates start their own in any case.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod calls;
mod conformance;
mod faults;
mod integrity;
mod lost_answers;
mod notices;
mod opening;
mod processes;
mod support;
mod tenants;
mod tls;
mod upgrades;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
