//! Runs every command with JSON that is nearly a request: there is an answer or an error, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| contextree_trials::inputs::wire(data));
