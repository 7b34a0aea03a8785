//! The tools as a client uses them, over HTTP without a socket.

mod canceling;
mod client;
mod hostile;
mod reading;
mod writing;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
