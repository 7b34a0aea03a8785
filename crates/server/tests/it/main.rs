//! The server, called as any client calls it: over a socket.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod access;
mod api;
mod client;
mod corpus;
mod errors;
mod events;
mod hostile;
mod limits;
mod reads;
mod support;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
