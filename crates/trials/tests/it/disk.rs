//! Faults and power loss under SQLite.

use contextree_trials::{faults, full, power};

#[test]
fn a_fault_at_any_call_to_the_disk_loses_nothing_acknowledged() {
    let report = faults::run(12, 0, 1, u64::MAX).unwrap();
    println!("{report:?}");
    assert!(report.faults > 1_000, "{report:?}");
}

#[test]
fn power_loss_after_any_call_loses_nothing_acknowledged() {
    let report = power::run(40, 500, 1).unwrap();
    println!("{report:?}");
    assert!(report.lossy > 100, "{report:?}");
}

#[test]
fn deleting_and_collecting_work_on_a_full_disk_and_give_space_back() {
    for seed in 1..=3 {
        println!("{:?}", full::run(250, seed).unwrap());
    }
}

#[test]
fn a_disk_that_does_not_sync_is_noticed() {
    // With some seeds the file is damaged instead, which is noticed as well. This says that a lost step is.
    let failures: Vec<_> =
        (1..=20).map(|seed| power::run_without_syncs(40, 50, seed).unwrap_err()).collect();
    let is_lost = |failure: &String| failure.contains("acknowledged");
    assert!(failures.iter().any(is_lost), "{failures:#?}");
}
