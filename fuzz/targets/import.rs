//! Imports arbitrary bytes as a snapshot: it never panics, and an accepted snapshot round-trips and
//! can be edited.
#![no_main]

use contextree::{Context, ContextOptions, NewNode, Place, Profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for profile in [Profile::Lenient, Profile::Strict] {
        let Ok(mut context) = Context::import_snapshot(data, profile, ContextOptions::default())
        else {
            continue;
        };
        let first = context.newest().expect("the document is a snapshot").clone();
        let export = first.export();
        let again = Context::import_snapshot(&export, Profile::Lenient, ContextOptions::default())
            .expect("an export can be imported");
        let second = again.newest().expect("the document is a snapshot");
        assert_eq!(second.export(), export);
        assert_eq!(second.digest(), first.digest());
        assert_eq!(second.thread(), first.thread());
        let _ = context.add(Place::head(), NewNode::text("more").role("user"));
        if context.commit().is_ok() {
            assert_eq!(first.export(), export, "a snapshot never changes");
        }
    }
});
