//! What a commit did, for people and for programs.

use std::collections::BTreeMap;

use contextree::{CommitReport, Holder, Limit, Policy};
use contextree_json::{Object, Value};

use crate::output::style::{self, paint};
use crate::output::text::{count, one_line};

/// Draws a report: a line of sums, then every node that went or stayed against its ttl, with the cause.
pub(crate) fn draw(report: &CommitReport, policy: Option<&Policy>) -> String {
    let digest: String = report.digest.to_string().chars().take(12).collect();
    let mut out = format!(
        "{}  sealed {}, {}, digest {digest}\n",
        paint(style::TITLE, format!("@c{}", report.cycle)),
        paint(style::ID, one_line(&report.sealed)),
        count(report.operations.len(), "operation"),
    );
    for (id, cause) in causes(report, policy) {
        out.push_str(&format!(
            "  {} {}  {cause}\n",
            paint(style::REMOVED, "-"),
            paint(style::ID, one_line(&id))
        ));
    }
    out.push_str(&draw_deferred(report));
    for unmet in &report.unmet {
        let limit = policy.and_then(|policy| policy.limits.get(unmet.limit));
        let scope = if unmet.scope.is_empty() { "the tree" } else { &unmet.scope };
        out.push_str(&format!(
            "  {} {} is not kept: {} left in {scope}, and everything there is protected\n",
            paint(style::WARNING, "!"),
            limit.map_or_else(|| format!("limit {}", unmet.limit + 1), words),
            unmet.left,
        ));
    }
    out
}

/// Draws the nodes that stayed against their ttl.
pub(crate) fn draw_deferred(report: &CommitReport) -> String {
    let mut out = String::new();
    for deferred in &report.deferred {
        let holder = match &deferred.by {
            Holder::Handle => "a handle".to_owned(),
            Holder::Node(id) => format!("`{id}`"),
            Holder::Unknown => "somebody who did not answer".to_owned(),
        };
        out.push_str(&format!(
            "  {} {}  stays although its ttl ran out: {holder} refers to `{}`\n",
            paint(style::TTL, "!"),
            paint(style::ID, one_line(&deferred.id)),
            deferred.held,
        ));
    }
    out
}

/// Returns why each node went that a commit took, in the order in which they went. Nodes below them share their fate.
pub(crate) fn causes(report: &CommitReport, policy: Option<&Policy>) -> Vec<(String, String)> {
    let mut causes: Vec<(String, String)> = Vec::new();
    let mut add = |ids: &[String], cause: &str| {
        causes.extend(ids.iter().map(|id| (id.clone(), cause.to_owned())));
    };
    add(&report.expired, "its ttl ran out");
    add(&report.along, "below one whose ttl ran out");
    add(&report.cascaded, "an empty group");
    for pruned in &report.pruned {
        let limit = policy.and_then(|policy| policy.limits.get(pruned.limit)).map(words);
        let cause = match (&pruned.with, limit) {
            (Some(with), _) => format!("pruned together with {with}"),
            (None, Some(limit)) => format!("pruned for {limit}"),
            (None, None) => "pruned".to_owned(),
        };
        add(std::slice::from_ref(&pruned.id), &cause);
        add(&pruned.along, "pruned with its turn");
    }
    causes
}

/// Returns why nodes went between two snapshots, by id: what commits took, and what was removed by hand.
pub(crate) fn causes_of(reports: &BTreeMap<u32, CommitReport>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (cycle, report) in reports {
        for operation in
            report.operations.iter().filter(|operation| operation.operation == "remove")
        {
            all.insert(operation.node.clone(), format!("removed before @c{cycle}"));
        }
        all.extend(
            causes(report, None).into_iter().map(|(id, cause)| (id, format!("{cause}, @c{cycle}"))),
        );
    }
    all
}

/// Returns a limit in words.
fn words(limit: &Limit) -> String {
    match limit {
        Limit::Remove(count) => format!("the limit \u{201c}remove {count}\u{201d}"),
        Limit::Total { measure, max } => format!("the limit of {max} {}", measure.name()),
        Limit::Region { region, measure, max } => {
            format!("the limit of {max} {} in {}", measure.name(), region.word())
        }
        Limit::Turn { measure, max } => format!("the limit of {max} {} per turn", measure.name()),
        Limit::Depth(max) => format!("the limit of {max} turns"),
        _ => "a limit".to_owned(),
    }
}

/// Returns a report for programs.
pub(crate) fn to_value(report: &CommitReport) -> Value {
    let texts = |list: &[String]| {
        Value::Array(list.iter().map(|text| Value::from(text.as_str())).collect())
    };
    let object = |entries: Vec<(&str, Value)>| Value::Object(Object::from_iter(entries));
    let deferred = report.deferred.iter().map(|deferred| {
        let by = match &deferred.by {
            Holder::Handle => Value::from("handle"),
            Holder::Node(id) => Value::from(id.as_str()),
            Holder::Unknown => Value::Null,
        };
        let (id, held) = (deferred.id.as_str(), deferred.held.as_str());
        object(vec![("id", id.into()), ("held", held.into()), ("by", by)])
    });
    let pruned = report.pruned.iter().map(|pruned| {
        let limit = Value::from(pruned.limit as u64);
        object(vec![
            ("id", pruned.id.as_str().into()),
            ("limit", limit),
            ("with", pruned.with.as_deref().map_or(Value::Null, Value::from)),
            ("along", texts(&pruned.along)),
        ])
    });
    let unmet = report.unmet.iter().map(|unmet| {
        let limit = Value::from(unmet.limit as u64);
        let scope = Value::from(unmet.scope.as_str());
        object(vec![("limit", limit), ("scope", scope), ("left", unmet.left.into())])
    });
    let operations = report.operations.iter().map(|operation| {
        let mut entries = vec![
            ("operation", Value::from(operation.operation)),
            ("node", operation.node.as_str().into()),
        ];
        if !operation.on_behalf_of.is_empty() {
            entries.push(("on_behalf_of", operation.on_behalf_of.as_str().into()));
        }
        object(entries)
    });
    let warnings = report.warnings.iter().map(|warning| Value::from(warning.to_string()));
    object(vec![
        ("cycle", report.cycle.into()),
        ("digest", report.digest.to_string().into()),
        ("sealed", report.sealed.as_str().into()),
        ("core", report.core.as_deref().map_or(Value::Null, Value::from)),
        ("expired", texts(&report.expired)),
        ("along", texts(&report.along)),
        ("deferred", Value::Array(deferred.collect())),
        ("cascaded", texts(&report.cascaded)),
        ("pruned", Value::Array(pruned.collect())),
        ("unmet", Value::Array(unmet.collect())),
        ("operations", Value::Array(operations.collect())),
        ("warnings", Value::Array(warnings.collect())),
    ])
}
