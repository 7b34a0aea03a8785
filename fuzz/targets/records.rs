//! Reads changed stored records, and arbitrary bytes as records: there is an answer or an error, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| contextree_trials::inputs::records(data));
