//! Runs a random session chosen by the fuzzer: the engine and the naive model agree on every step
//! and every byte.
#![no_main]

use contextree_testkit::compare::compare_session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|seed: u64| {
    if let Err(difference) = compare_session(seed) {
        panic!("{difference}");
    }
});
