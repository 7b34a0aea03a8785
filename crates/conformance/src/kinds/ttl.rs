//! Checks kinds that follow one node over several commits.

use contextree::{Class, Context, Cycle, NewNode, Place, Snapshot};
use contextree_app::wire;
use contextree_json::{Object, Value};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{empty, number};

/// The ttl of a node at each cycle; `None` if the node was not present.
type Trace = Vec<(Cycle, Option<Option<u32>>)>;

pub(super) fn ttl(case: &Case, edition: Edition) -> Result<Got, String> {
    let created = number(case.field("created_cycle"), "created_cycle")?;
    let mut node = NewNode::text("x").id("x");
    node.ttl = case.field("ttl").as_i64();
    let mut context = empty(Cycle(created), edition)?;
    context.add(Place::head(), node).map_err(|error| error.to_string())?;
    let commits = case.expected("trace").as_array().map_or(4, <[Value]>::len);
    let trace = follow(&mut context, "x", commits)?;
    Ok(lifetime(&trace))
}

pub(super) fn rag_insert(case: &Case, edition: Edition) -> Result<Got, String> {
    let inserted = number(case.expected("inserted_in_cycle"), "inserted_in_cycle")?;
    let (wire::NewNode(node), offset) =
        wire::NewNode::read(case.field("node")).map_err(|error| error.to_string())?;
    let id = node.id.clone().ok_or("the node has no id")?;
    let mut context = empty(Cycle(inserted), edition)?;
    context
        .add(Place::Into { parent: "^ah".into(), offset }, node)
        .map_err(|error| error.to_string())?;
    let trace = follow(&mut context, &id, 4)?;
    let mut got = lifetime(&trace);
    got.insert("inserted_in_cycle", inserted.into());
    let stored = context.history().iter().find_map(|snapshot| snapshot.view().get(&id));
    if let Some(node) = stored {
        got.insert("offset", Value::Number(node.offset().to_number()));
        let in_turn = node.parent().is_some_and(|parent| parent.class() == Class::Turn);
        if !in_turn || node.offset().signum() <= 0 {
            return Err(format!("`{id}` is not in the post-context of a turn"));
        }
        got.insert("placement", node.parent_id().map_or(Value::Null, Value::from));
    }
    Ok(got)
}

fn follow(context: &mut Context, id: &str, commits: usize) -> Result<Trace, String> {
    let mut trace = Trace::new();
    for _ in 0..commits {
        let report = context.commit().map_err(|error| error.to_string())?;
        let snapshot: &Snapshot = context.newest().ok_or("the commit left no snapshot")?;
        trace.push((report.cycle, snapshot.view().get(id).map(contextree::NodeRef::ttl)));
    }
    Ok(trace)
}

fn lifetime(trace: &Trace) -> Got {
    let row = |(cycle, seen): &(Cycle, Option<Option<u32>>)| {
        let ttl = seen.flatten().map_or(Value::Null, Value::from);
        Value::Object(Object::from_iter([
            ("cycle", Value::from(cycle.get())),
            ("present", Value::from(seen.is_some())),
            ("ttl", ttl),
        ]))
    };
    let present = trace.iter().filter(|(_, seen)| seen.is_some());
    let removed = trace.iter().find(|(_, seen)| seen.is_none());
    Got::from_iter([
        ("removed_at_commit", removed.map_or(Value::Null, |(cycle, _)| Value::from(cycle.get()))),
        (
            "present_in_snapshots",
            present.map(|(cycle, _)| Value::from(cycle.get())).collect::<Vec<_>>().into(),
        ),
        ("trace", trace.iter().map(row).collect::<Vec<_>>().into()),
    ])
}
