//! Checks kinds that commit a working tree once.

use contextree::engine::{IdRequest, IdRole, ReadableIds};
use contextree::{
    CommitOptions, CommitReport, Context, ContextOptions, Cycle, Hash, IdSource, Limit, Policy,
    Region,
};
use contextree_json::{Object, Value};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{ids, number, options, strings, texts, thread_value, working};

/// The ids with which the vectors were computed: the core of an empty head is `mc:c10`.
struct VectorIds;

impl IdSource for VectorIds {
    fn id(&self, request: IdRequest) -> String {
        match request.role {
            IdRole::Core => format!("mc:c{}", request.cycle),
            _ => ReadableIds.id(request),
        }
    }
}

pub(super) fn commit(case: &Case, edition: Edition) -> Result<Got, String> {
    let cycle = Cycle(number(case.field("cycle"), "cycle")?);
    let options = ContextOptions { ids: Some(std::sync::Arc::new(VectorIds)), ..options(edition) };
    let mut context = working(case.field("working"), cycle, options)?;
    let head = context.working().region(Region::Head).id().to_owned();
    let args = case.field("args");
    let handles = strings(args.get("refs").unwrap_or(&Value::Null))?
        .iter()
        .map(|id| context.retain(id).map_err(|error| error.to_string()))
        .collect::<Result<Vec<_>, _>>()?;
    let policy = policy(args)?;
    let options = CommitOptions { policy: policy.as_ref(), ..CommitOptions::default() };
    let report = context.commit_with(&options).map_err(|error| error.to_string())?;
    drop(handles);
    let snapshot = context.newest().ok_or("the commit left no snapshot")?;
    let (tree, bytes) = (snapshot.view(), snapshot.thread());
    let mut got = report_value(&report);
    // Of the named ids, those that are present, and those that are not.
    let named = |key: &str| strings(case.expected(key));
    let present = named("present_includes")?.into_iter().filter(|id| tree.get(id).is_some());
    got.insert("present_includes", texts(present));
    let absent = named("absent")?.into_iter().filter(|id| tree.get(id).is_none());
    got.insert("absent", texts(absent));
    got.insert("thread_ids", thread_value(&bytes)?.1);
    let turn = tree.get(&report.sealed).ok_or("the sealed turn is not in the snapshot")?;
    got.insert("new_turn_children", ids(turn.children()));
    let fresh = [tree, context.working()].into_iter().all(|tree| {
        let now = tree.region(Region::Head);
        now.id() == head && now.child_count() == 0
    });
    got.insert("ah_is_fresh", fresh.into());
    if let Some(wanted) = case.expected("headers").as_object() {
        got.insert("headers", super::session::headers(tree, wanted, edition));
    }
    Ok(got)
}

/// Returns the policy in `args.prune` of the vectors, or in `args.policy`.
fn policy(args: &Value) -> Result<Option<Policy>, String> {
    if let Some(policy) = args.get("policy") {
        return Policy::from_value(policy).map(Some).map_err(|error| error.to_string());
    }
    let Some(prune) = args.get("prune") else { return Ok(None) };
    let count = |name: &str| match prune.get(name) {
        None => Ok(0),
        Some(value) => value.as_u64().ok_or_else(|| format!("`prune.{name}` is not a number")),
    };
    let limits = vec![Limit::Remove(count("remove")?)];
    Ok(Some(Policy { protect_turns: count("protect")?, limits, ..Policy::default() }))
}

/// Returns the report of a commit under the names used in expectations.
pub(super) fn report_value(report: &CommitReport) -> Object {
    let unmet = report.unmet.iter().map(|unmet| {
        Value::Object(Object::from_iter([
            ("limit", Value::from(unmet.limit as u64)),
            ("scope", Value::from(unmet.scope.as_str())),
            ("left", Value::from(unmet.left)),
        ]))
    });
    Object::from_iter([
        ("cycle", Value::from(report.cycle.get())),
        ("expired", texts(&report.expired)),
        ("along", texts(&report.along)),
        ("deferred", texts(report.deferred.iter().map(|deferred| &deferred.id))),
        ("cascaded", texts(&report.cascaded)),
        ("cleared", texts(report.cleared.iter().map(|cleared| &cleared.id))),
        ("pruned", texts(report.pruned.iter().map(|pruned| &pruned.id))),
        ("unmet", unmet.collect::<Vec<_>>().into()),
        ("sealed", Value::from(report.sealed.as_str())),
        ("core", report.core.as_deref().map_or(Value::Null, Value::from)),
        ("warnings", texts(report.warnings.iter().map(ToString::to_string))),
    ])
}

pub(super) fn seal_neutral(case: &Case, edition: Edition) -> Result<Got, String> {
    let cycle = Cycle(number(case.field("cycle"), "cycle")?);
    let mut context: Context = working(case.field("working"), cycle, options(edition))?;
    let before = contextree::thread(context.working());
    context.commit().map_err(|error| error.to_string())?;
    let after = context.newest().ok_or("the commit left no snapshot")?.thread();
    Ok(Got::from_iter([
        ("thread_before", thread_value(&before)?.0),
        ("thread_after_equal", Value::from(Hash::of(&before) == Hash::of(&after))),
    ]))
}
