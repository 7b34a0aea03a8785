//! Checks kinds that import flat logs.

use contextree::{Context, Cycle, Region};
use contextree_json::{Value, parse};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{empty, ids, thread_value};

pub(super) fn flat_log(case: &Case, edition: Edition) -> Result<Got, String> {
    let context = import(case, edition)?;
    let document = parse(&context.export_working()).map_err(|error| error.to_string())?;
    Ok(Got::from_iter([("tree_before_commit", document)]))
}

pub(super) fn flat_log_commit(case: &Case, edition: Edition) -> Result<Got, String> {
    let mut context = import(case, edition)?;
    context.commit().map_err(|error| error.to_string())?;
    let snapshot = context.newest().ok_or("the commit left no snapshot")?;
    let document = parse(&snapshot.export()).map_err(|error| error.to_string())?;
    let regions = document.get("root").and_then(|root| root.get("children")?.as_array());
    let sequence = regions
        .unwrap_or_default()
        .iter()
        .find(|region| region.get("nodeType").and_then(Value::as_str) == Some(Region::Seq.word()));
    let turns = sequence.and_then(|sequence| sequence.get("children")).cloned();
    let (thread, _) = thread_value(&snapshot.thread())?;
    let blocks = thread.as_array().unwrap_or_default().iter();
    let roles = blocks.map(|block| block.get("role").cloned().unwrap_or_default());
    Ok(Got::from_iter([
        ("seq_shape", turns.ok_or("the snapshot has no sequence")?),
        ("ah_children", ids(snapshot.view().region(Region::Head).children())),
        ("thread_roles", roles.collect::<Vec<_>>().into()),
        ("thread", thread),
    ]))
}

fn import(case: &Case, edition: Edition) -> Result<Context, String> {
    let log = case.field("input").get("flat_log").and_then(Value::as_array);
    let log = log.ok_or("`input.flat_log` is not a list")?;
    let mut context = empty(Cycle::FIRST, edition)?;
    context.import_flat_log(log).map_err(|error| error.to_string())?;
    Ok(context)
}
