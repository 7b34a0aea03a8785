//! What a commit did, for people.

use std::collections::BTreeMap;

use contextree::{Limit, Policy};
use contextree_app::wire::Report;

use crate::output::style::{self, paint};
use crate::output::text::{count, one_line, thousands};

/// Draws a report: what was done in a sentence or two, then every node that was removed or kept although expired, with the cause. Pruned nodes
/// are listed only if that is asked for.
pub(crate) fn draw(report: &Report, policy: Option<&Policy>, verbose: bool) -> String {
    let digest: String = report.digest.chars().take(12).collect();
    let mut out = format!(
        "{}  sealed {}, {}, digest {digest}\n",
        paint(style::TITLE, format!("@c{}", report.cycle)),
        paint(style::ID, one_line(&report.sealed)),
        count(report.operations.len(), "operation"),
    );
    out.push_str(&summary(report, policy));
    let listed = causes(report, policy);
    let kept = listed.len() - if verbose { 0 } else { pruned_count(report) };
    for (id, cause) in listed.into_iter().take(kept) {
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
            "  {} {} is not met: {} left in {scope}, and everything there is protected\n",
            paint(style::WARNING, "!"),
            limit.map_or_else(|| format!("limit {}", unmet.limit + 1), words),
            thousands(unmet.left),
        ));
    }
    out
}

/// Returns the number of nodes that were pruned, those below pruned turns included.
fn pruned_count(report: &Report) -> usize {
    report.pruned.iter().map(|pruned| 1 + pruned.along.len()).sum()
}

/// Returns what was pruned in one sentence; empty if nothing was.
fn summary(report: &Report, policy: Option<&Policy>) -> String {
    if report.pruned.is_empty() && report.cleared.is_empty() {
        return String::new();
    }
    let turns = report.pruned.iter().filter(|pruned| !pruned.along.is_empty()).count();
    let nodes = report.pruned.len() - turns;
    let mut parts = Vec::new();
    if turns > 0 {
        parts.push(count(turns, "turn"));
    }
    if nodes > 0 {
        parts.push(count(nodes, "block"));
    }
    let mut limits: Vec<usize> = Vec::new();
    let cleared = report.cleared.iter().map(|cleared| cleared.limit);
    for limit in cleared.chain(report.pruned.iter().map(|pruned| pruned.limit)) {
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    let named = limits.iter().filter_map(|limit| policy?.limits.get(*limit));
    let reasons: Vec<String> = named.map(|limit| format!("over {}", words(limit))).collect();
    let mut done = Vec::new();
    if !report.cleared.is_empty() {
        done.push(format!("cleared {}", count(report.cleared.len(), "result")));
    }
    if !parts.is_empty() {
        done.push(format!("removed {}", parts.join(" and ")));
    }
    format!("{}: {}\n", done.join(", "), reasons.join(", "))
}

/// Draws the nodes that were kept although expired.
pub(crate) fn draw_deferred(report: &Report) -> String {
    let mut out = String::new();
    for deferred in &report.deferred {
        let holder = match deferred.by.as_deref() {
            Some("handle") => "a handle".to_owned(),
            Some(id) => format!("`{id}`"),
            None => "a holder that did not answer".to_owned(),
        };
        out.push_str(&format!(
            "  {} {}  kept although expired: {holder} refers to `{}`\n",
            paint(style::TTL, "!"),
            paint(style::ID, one_line(&deferred.id)),
            deferred.held,
        ));
    }
    out
}

/// Returns why each node was removed by a commit, in the order of removal. Nodes below them are removed with them.
pub(crate) fn causes(report: &Report, policy: Option<&Policy>) -> Vec<(String, String)> {
    let mut causes: Vec<(String, String)> = Vec::new();
    let mut add = |ids: &[String], cause: &str| {
        causes.extend(ids.iter().map(|id| (id.clone(), cause.to_owned())));
    };
    add(&report.expired, "expired");
    add(&report.along, "below an expired node");
    add(&report.cascaded, "an empty group");
    add(&report.dropped, "no longer in the request");
    for cleared in &report.cleared {
        let cause = format!("cleared; {} took its place", cleared.placeholder);
        add(std::slice::from_ref(&cleared.id), &cause);
    }
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

/// Returns why nodes were removed between two snapshots, by id: by commits, and by hand.
pub(crate) fn causes_of(reports: &[Report]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for report in reports {
        let cycle = report.cycle;
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
        Limit::Total { measure, max } => {
            format!("the limit of {} {}", thousands(*max), measure.name())
        }
        Limit::Region { region, measure, max } => {
            format!("the limit of {} {} in {}", thousands(*max), measure.name(), region.word())
        }
        Limit::Turn { measure, max } => {
            format!("the limit of {} {} per turn", thousands(*max), measure.name())
        }
        Limit::Depth(max) => format!("the limit of {max} turns"),
        _ => "a limit".to_owned(),
    }
}
