//! The short tier of the trials.

#![cfg(unix)]

mod damage;
mod disk;
mod inputs;
mod processes;
mod proxy;
mod simulate;

#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
