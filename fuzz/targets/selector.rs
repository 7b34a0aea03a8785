//! Arbitrary text as a selector, in every edition: an answer or errors, never a panic; what is parsed prints to something that parses to the
//! same.
#![no_main]

use contextree_selector::{Edition, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for edition in [Edition::V0_1, Edition::V0_2, Edition::V0_3] {
        match parse(text, edition) {
            Ok(selector) => {
                let printed = selector.to_string();
                let again = parse(&printed, edition).expect("printed text can be parsed");
                assert_eq!(again.to_string(), printed);
            }
            Err(errors) => {
                assert!(!errors.errors().is_empty());
                drop(errors.draw(text));
            }
        }
    }
});
