//! Disturbed connections to PostgreSQL.

use contextree_trials::proxy;

#[test]
fn a_connection_may_end_at_any_message() {
    let report = proxy::run(contextree_testkit::postgres::shared(), 2, 0, 1).unwrap();
    println!("{report:?}");
    assert!(report.faults > 60, "{report:?}");
}
