//! Simulations.

use contextree_trials::simulate;

#[test]
fn simulated_clients_agree_with_the_models() {
    let report = simulate::run(1, 40, 150).unwrap();
    assert!(report.errors.values().sum::<u64>() > 50, "faults happen: {report:#?}");
}
