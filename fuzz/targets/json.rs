//! Reads arbitrary bytes as JSON: it never panics, and an accepted value round-trips.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(value) = contextree_json::parse(data) {
        let text = value.to_canonical();
        let again = contextree_json::parse(&text).expect("canonical text can be read");
        assert_eq!(again, value);
        assert_eq!(again.to_canonical(), text);
    }
});
