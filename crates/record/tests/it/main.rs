//! The recording proxy, against a scripted upstream.

mod agent;
mod budget;
mod cache;
mod calls;
mod contexts;
mod credentials;
mod fixture;
mod transport;
mod upstreams;
mod writers;

#[test]
fn every_file_is_a_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    contextree_testkit::assert_every_file_is_a_module(folder, include_str!("main.rs"));
}
