//! The suite that every store passes.

use contextree_store::suite::random;

use crate::support::open;

contextree_store::conformance! { Box::new(open()) }

#[test]
fn random_work_has_the_same_results_as_in_memory() {
    // Numbers as random as is needed, and the same every time (Numerical Recipes).
    let mut state: u32 = 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as u8
    };
    for _ in 0..6 {
        let script: Vec<[u8; 4]> = (0..120).map(|_| [next(), next(), next(), next()]).collect();
        random::compare(&open(), &script);
    }
}
