//! Damaged files.

use contextree_trials::damage;

/// Wrong answers that are known, by the kind of change and the question. Rows that are removed one by one, by SQL, look like rows that were
/// deleted.
const KNOWN: [&str; 13] = [
    "bit list",
    "bit notes",
    "copy snapshot",
    "copy working",
    "row attempts",
    "row list",
    "row notes",
    "row pins",
    "row working",
    "swap attempts",
    "swap list",
    "swap pins",
    "swap working",
];

#[test]
fn damage_gives_the_right_answer_or_an_error() {
    let report = damage::run(2_000, 1).unwrap();
    assert_eq!(report.panics, 0, "{report:#?}");
    let is_new = |kind: &&String| !KNOWN.contains(&kind.as_str());
    assert_eq!(report.wrong.keys().find(is_new), None, "{report:#?}");
}
