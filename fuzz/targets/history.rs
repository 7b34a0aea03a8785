//! Reads arbitrary bytes as a history: it never panics, and an accepted history round-trips.
#![no_main]

use contextree::{Context, ContextOptions, Profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = ContextOptions::default();
    if let Ok(context) = Context::import_history(data, Profile::Lenient, options) {
        let text = context.export_history();
        let again = Context::import_history(&text, Profile::Lenient, ContextOptions::default())
            .expect("an exported history can be imported");
        assert_eq!(again.history_digest(), context.history_digest());
        assert_eq!(again.export_history(), text);
    }
});
