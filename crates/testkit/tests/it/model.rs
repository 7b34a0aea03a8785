//! The engine against the naive model: after every step the same answer, after every commit the same bytes.

use contextree_testkit::drive::{Did, Driver};
use contextree_testkit::generate::Session;
use contextree_testkit::model::{Model, Outcome};

/// Runs one session through both; panics with the seed and the step where they part.
fn compare(seed: u64) -> usize {
    let mut session = Session::new(seed);
    let mut model = Model::new();
    let mut driver = Driver::new();
    let mut steps = Vec::new();
    while let Some(step) = session.next_step(&model) {
        let expected = model.apply(&step);
        let got = driver.step(&step);
        steps.push(step);
        let at = || format!("seed {seed}, step {} {:#?}", steps.len(), steps.last());
        match (&expected, &got) {
            (Err(expected), Err(got)) => assert_eq!(expected, got, "refusal at {}", at()),
            (Ok(Outcome::Added(expected)), Ok(Did::Added(got))) => {
                assert_eq!(expected, got, "made id at {}", at());
            }
            (Ok(Outcome::Moved(expected)), Ok(Did::Moved(got))) => {
                assert_eq!(expected, got, "renamed at {}", at());
            }
            (Ok(Outcome::Done), Ok(Did::Done)) => {}
            (Ok(Outcome::Committed(expected)), Ok(Did::Committed(got))) => {
                let deferred: Vec<_> = got.deferred.iter().map(|node| node.id.clone()).collect();
                let pruned: Vec<_> = got.pruned.iter().map(|node| node.id.clone()).collect();
                assert_eq!(expected.expired, got.expired, "expired at {}", at());
                assert_eq!(expected.deferred, deferred, "deferred at {}", at());
                assert_eq!(expected.along, got.along, "along at {}", at());
                assert_eq!(expected.cascaded, got.cascaded, "cascaded at {}", at());
                assert_eq!(expected.pruned, pruned, "pruned at {}", at());
                assert_eq!(expected.sealed, got.sealed, "sealed at {}", at());
                assert_eq!(expected.core_created, got.core, "core at {}", at());
                compare_last_snapshots(&model, &driver, &at());
            }
            _ => panic!("model {expected:?}, engine {got:?} at {}", at()),
        }
        let (expected, got) = (model.export_working(), driver.context.export_working());
        assert_eq!(text(&expected), text(&got), "working tree after {}", at());
    }
    compare_all_snapshots(&model, &driver, seed);
    steps.len()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("canonical bytes are ASCII")
}

fn compare_last_snapshots(model: &Model, driver: &Driver, at: &str) {
    let last = model.snapshot_count() - 1;
    let snapshot = driver.context.head().expect("a commit was made");
    assert_eq!(text(&model.export(last)), text(&snapshot.export()), "export at {at}");
    assert_eq!(text(&model.thread(last)), text(&snapshot.thread()), "thread at {at}");
    assert_eq!(text(&model.reference_bytes(last)), text(&snapshot.reference_bytes()), "at {at}");
    if last > 0 {
        compare_diff(model, driver, last - 1, last, at);
    }
}

fn compare_diff(model: &Model, driver: &Driver, older: usize, newer: usize, at: &str) {
    let snapshot = |index| driver.context.history().get(index).expect("as many as the model has");
    let diff = contextree::diff::diff(snapshot(older).view(), snapshot(newer).view());
    let expected = model.diff(older, newer);
    assert_eq!(text(&expected), diff.to_json(), "diff {older}..{newer} at {at}");
}

/// Snapshots of the past are still what they were, and any two can be compared.
fn compare_all_snapshots(model: &Model, driver: &Driver, seed: u64) {
    let count = model.snapshot_count();
    for index in 0..count {
        let snapshot = driver.context.history().get(index).expect("as many as the model has");
        assert_eq!(text(&model.export(index)), text(&snapshot.export()), "seed {seed}, {index}");
    }
    if count > 2 {
        compare_diff(model, driver, 0, count - 1, &format!("seed {seed}"));
        compare_diff(model, driver, count / 2, count - 1, &format!("seed {seed}"));
    }
}

#[test]
fn ten_thousand_random_sessions_agree_with_the_model() {
    let sessions: u64 = 10_000;
    let workers = 2;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                (0..sessions).filter(|seed| seed % workers == worker).for_each(|seed| {
                    compare(seed);
                });
            });
        }
    });
}
