//! Compares the engine with the naive model: the same answer after every step, the same bytes after
//! every commit.

use std::fmt::Debug;

use contextree::CommitReport;

use crate::drive::{Did, Driver};
use crate::generate::Session;
use crate::model::{Model, Outcome, Report};

/// Runs the session of a seed through both; returns the number of steps.
///
/// # Errors
///
/// If they differ; the message has the seed, the step and both answers.
pub fn compare_session(seed: u64) -> Result<usize, String> {
    compare(Session::new(seed))
}

/// Runs a session through both; returns the number of steps.
///
/// # Errors
///
/// In the same cases as [`compare_session`].
pub fn compare(mut session: Session) -> Result<usize, String> {
    let seed = session.seed();
    let mut model = Model::new();
    let mut driver = Driver::new();
    let mut steps = 0;
    while let Some(step) = session.next_step(&model) {
        steps += 1;
        let expected = model.apply(&step);
        let got = driver.step(&step);
        let at = |what: &str| format!("{what}, seed {seed}, step {steps} {step:#?}");
        match (&expected, &got) {
            (Err(expected), Err(got)) => same(expected, got, || at("refusal"))?,
            (Ok(Outcome::Added(expected)), Ok(Did::Added(got))) => {
                same(expected, got, || at("made id"))?;
            }
            (Ok(Outcome::Moved(expected)), Ok(Did::Moved(got))) => {
                same(expected, got, || at("renamed"))?;
            }
            (Ok(Outcome::Done), Ok(Did::Done)) => {}
            (Ok(Outcome::Committed(expected)), Ok(Did::Committed(got))) => {
                same_reports(expected, got, &at)?;
                last_snapshots(&model, &driver, &at)?;
            }
            (Ok(Outcome::Begun(expected)), Ok(Did::Begun(got))) => {
                same_reports(expected, got, &at)?;
            }
            _ => return Err(format!("model {expected:?}, engine {got:?}: {}", at("outcome"))),
        }
        let (expected, got) = (model.export_working(), driver.context.export_working());
        same(text(&expected), text(&got), || at("working tree"))?;
    }
    all_snapshots(&model, &driver, &|what: &str| format!("{what}, seed {seed}"))?;
    Ok(steps)
}

fn same_reports(
    expected: &Report,
    got: &CommitReport,
    at: &dyn Fn(&str) -> String,
) -> Result<(), String> {
    let deferred = got.deferred.iter().map(|node| node.id.clone()).collect();
    let pruned = got.pruned.iter().map(|node| node.id.clone()).collect();
    same(&expected.expired, &got.expired, || at("expired"))?;
    same(&expected.deferred, &deferred, || at("deferred"))?;
    same(&expected.along, &got.along, || at("along"))?;
    same(&expected.cascaded, &got.cascaded, || at("cascaded"))?;
    let cleared = got.cleared.iter().map(|node| (node.id.clone(), node.placeholder.clone()));
    same(&expected.cleared, &cleared.collect(), || at("cleared"))?;
    same(&expected.pruned, &pruned, || at("pruned"))?;
    same(&expected.sealed, &got.sealed, || at("sealed"))?;
    same(&expected.core_created, &got.core, || at("core"))?;
    Ok(())
}

fn same<T: PartialEq + Debug + ?Sized>(
    expected: &T,
    got: &T,
    at: impl Fn() -> String,
) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    Err(format!("{}\n model  {expected:?}\n engine {got:?}", at()))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("canonical bytes are ASCII")
}

fn last_snapshots(
    model: &Model,
    driver: &Driver,
    at: &impl Fn(&str) -> String,
) -> Result<(), String> {
    let last = model.snapshot_count() - 1;
    let snapshot = driver.context.newest().expect("a commit was made");
    same(text(&model.export(last)), text(&snapshot.export()), || at("export"))?;
    same(text(&model.thread(last)), text(&snapshot.thread()), || at("thread"))?;
    let reference = snapshot.reference_bytes();
    same(text(&model.reference_bytes(last)), text(&reference), || at("reference bytes"))?;
    if last > 0 { diff(model, driver, last - 1, last, at) } else { Ok(()) }
}

fn diff(
    model: &Model,
    driver: &Driver,
    older: usize,
    newer: usize,
    at: &impl Fn(&str) -> String,
) -> Result<(), String> {
    let view = |index| {
        driver.context.history().get(index).expect("as many snapshots as the model has").view()
    };
    let got = contextree::diff::diff(view(older), view(newer)).to_json();
    same(text(&model.diff(older, newer)), got.as_str(), || at("diff"))
}

/// Checks that past snapshots are unchanged, and that any two can be compared.
fn all_snapshots(
    model: &Model,
    driver: &Driver,
    at: &impl Fn(&str) -> String,
) -> Result<(), String> {
    let count = model.snapshot_count();
    for (index, snapshot) in driver.context.history().iter().enumerate() {
        same(text(&model.export(index)), text(&snapshot.export()), || at("old export"))?;
    }
    if count > 2 {
        diff(model, driver, 0, count - 1, at)?;
        diff(model, driver, count / 2, count - 1, at)?;
    }
    Ok(())
}
