//! The suite that every store passes.

use contextree_testkit::Rng;
use contextree_testkit::suite::random;

use crate::support::open;

contextree_testkit::conformance! { Box::new(open()) }

#[test]
fn random_work_has_the_same_results_as_in_memory() {
    let mut rng = Rng::new(1);
    for _ in 0..6 {
        let mut script = vec![[0; 4]; 120];
        rng.fill(script.as_flattened_mut());
        random::compare(&open(), &script);
    }
}
