//! Damaged files.

use contextree_trials::damage;

#[test]
fn damage_gives_the_right_answer_or_an_error() {
    let report = damage::run(2_000, 1).unwrap();
    assert_eq!((report.panics, report.wrong.len()), (0, 0), "{report:#?}");
}

#[test]
fn a_flipped_bit_gives_the_right_answer_or_an_error() {
    // `cargo xtask trials damage --every-bit` flips all of them.
    let report = damage::run_bits(11, 101, false).unwrap();
    assert_eq!((report.panics, report.wrong.len()), (0, 0), "{report:#?}");
}

#[test]
fn a_side_record_with_the_number_of_another_context_is_missed() {
    // In the file of the trial, this byte is the context of a side record. A page of them left it out without an error.
    let report = damage::run_bits(89_902, 1_000_000, true).unwrap();
    assert_eq!((report.changes, report.panics, report.wrong.len()), (8, 0, 0), "{report:#?}");
}
