//! Contexts in stores: every test runs on every store, in memory, in a file, on a server.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod calls;
mod crashes;
mod damage;
mod faults;
mod reading;
mod sessions;
mod support;
mod vectors;
