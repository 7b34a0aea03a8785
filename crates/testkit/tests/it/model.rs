//! Compares the engine with the naive model, over many random sessions.

use contextree_testkit::compare::{compare, compare_session};
use contextree_testkit::generate::Session;

// covers: PLO-003, PLO-004, SEA-004, SNP-002, DIF-014, LIF-023
#[test]
fn ten_thousand_random_sessions_agree_with_the_model() {
    let sessions: u64 = 10_000;
    let workers = 2;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                for seed in (0..sessions).filter(|seed| seed % workers == worker) {
                    compare_session(seed).unwrap_or_else(|difference| panic!("{difference}"));
                }
            });
        }
    });
}

// covers: PLO-003
#[test]
fn three_thousand_random_sessions_with_calls_agree_with_the_model() {
    std::thread::scope(|scope| {
        for worker in 0..2 {
            scope.spawn(move || {
                for seed in (0..3_000).filter(|seed| seed % 2 == worker) {
                    let compared = compare(Session::with_calls(seed));
                    compared.unwrap_or_else(|difference| panic!("{difference}"));
                }
            });
        }
    });
}

// covers: PRU-003, PRU-005
#[test]
fn three_thousand_random_sessions_with_budgets_agree_with_the_model() {
    std::thread::scope(|scope| {
        for worker in 0..2 {
            scope.spawn(move || {
                for seed in (0..3_000).filter(|seed| seed % 2 == worker) {
                    let compared = compare(Session::with_budgets(seed));
                    compared.unwrap_or_else(|difference| panic!("{difference}"));
                }
            });
        }
    });
}
