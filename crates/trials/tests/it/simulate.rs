//! Simulations.

use contextree_trials::simulate;

#[test]
fn simulated_clients_agree_with_the_models() {
    let report = simulate::run(1, 40, 150).unwrap();
    assert!(report.errors.values().sum::<u64>() > 50, "faults happen: {report:#?}");
}

#[test]
fn a_fork_after_a_call_without_an_answer_continues_its_stamps() {
    let mut report = simulate::Report::default();
    // Seeds that found a fork whose stamps were one behind.
    for seed in [44, 13_002, 35_001] {
        for place in [simulate::Where::Memory, simulate::Where::File] {
            simulate::one(seed, place, 200, &mut report).unwrap();
        }
    }
}
