//! The embedded store does what every store does.

use contextree_store::{Durability, SqliteOptions};
use contextree_testkit::suite::random;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::Home;

/// Nothing but the sync of the disk is different, and tests need no disk that survives a loss of power.
fn home() -> Home {
    Home::with(&SqliteOptions { durability: Durability::Relaxed, ..SqliteOptions::default() })
}

mod durable {
    use crate::support::Home;

    contextree_testkit::conformance!(Home::new());
}

mod relaxed {
    contextree_testkit::conformance!(super::home());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_operations_do_the_same_as_in_memory(script in vec(any::<[u8; 4]>(), 0..80)) {
        random::compare(&*home(), &script);
    }
}
