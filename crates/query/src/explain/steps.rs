//! The steps of a plan, with the number of nodes after each.

use contextree_selector as ast;
use contextree_selector::Selector;
use contextree_tree::{Cycle, TreeRef};

use super::ExplainedStep;
use crate::evaluate::{Env, Scope, evaluate_some};
use crate::meter::{Meter, QueryLimits};
use crate::plan::{Plan, Rest, Route, plan};
use crate::resolve::{Arrangement, Body, Chain, Query};

pub(super) fn of(
    whole: &Plan,
    selector: &Selector,
    (tree, cycle): (Option<TreeRef<'_>>, Option<Cycle>),
    limits: &QueryLimits,
) -> Vec<ExplainedStep> {
    let query = &whole.query;
    // The counts are left out where they are more work than the selector may be.
    let meter = Meter::new(limits);
    let env = Env::metered(cycle, &meter);
    let count = |query: &Query| count(&plan(query.clone()), tree, &env);
    let bare = Query {
        keep: Vec::new(),
        arrangement: Arrangement::Document,
        unique: false,
        page: None,
        first: false,
        ..query.clone()
    };
    // Without the chains themselves, which may be thousands: it is copied for each step.
    let frame = Query { body: Body::Tree, mentions: Vec::new(), ..bare.clone() };
    let mut steps = vec![ExplainedStep::new(source(&whole.route), None)];
    if let (Body::Chains(chains), ast::Body::Chains(texts)) = (&query.body, &selector.body) {
        for (chain, text) in chains.iter().zip(texts.iter()) {
            for (index, (step, written)) in chain.steps.iter().zip(&text.steps).enumerate() {
                if env.is_out() {
                    steps.push(ExplainedStep::new(format!("`{}`", written.compound), None));
                    continue;
                }
                let prefix = Chain { steps: chain.steps[..=index].to_vec() };
                let prefix = Query { body: Body::Chains(vec![prefix]), ..frame.clone() };
                let matched = if step.is_zone { None } else { count(&prefix) };
                let zone = if step.is_zone { ", a part of a turn" } else { "" };
                steps.push(ExplainedStep::new(format!("`{}`{zone}", written.compound), matched));
            }
        }
        if chains.len() > 1 {
            steps.push(ExplainedStep::new("the union, in document order", count(&bare)));
        }
    } else if let (Body::Path(hops), ast::Body::Position(position)) = (&query.body, &selector.body)
    {
        let counts: Vec<Option<usize>> = (1..=hops.len())
            .map(|end| count(&Query { body: Body::Path(hops[..end].to_vec()), ..frame.clone() }))
            .collect();
        for (index, hop) in position.hops.iter().enumerate() {
            // An elided core is passed through but is not a node to be counted.
            let goes_on = counts.iter().skip(index + 1).any(|later| *later > Some(0));
            let matched = counts.get(index).copied().flatten();
            let matched = matched.filter(|matched| *matched > 0 || !goes_on);
            steps.push(ExplainedStep::new(format!("`{hop}`"), matched));
        }
    } else {
        steps.push(ExplainedStep::new("all of them", count(&bare)));
    }
    let filters = selector.filters.iter().map(ToString::to_string);
    let tags = selector.tags.iter().map(|tag| format!("+{}", tag.name));
    let behavior = selector.behavior.iter().map(ToString::to_string);
    for (index, text) in filters.chain(tags).chain(behavior).enumerate() {
        let kept =
            Query { keep: query.keep.iter().take(index + 1).cloned().collect(), ..bare.clone() };
        steps.push(ExplainedStep::new(format!("keep `{text}`"), count(&kept)));
    }
    steps.extend(after(whole, tree, &env));
    steps
}

/// Returns how many nodes a plan matches; `None` without a tree, or if that is more work than is allowed.
fn count(plan: &Plan, tree: Option<TreeRef<'_>>, env: &Env<'_>) -> Option<usize> {
    if env.is_out() {
        return None;
    }
    let count = tree.map(|tree| evaluate_some(plan, tree, env, None).len());
    count.filter(|_| !env.is_out())
}

/// Returns the steps for order, unique and page.
fn after(whole: &Plan, tree: Option<TreeRef<'_>>, env: &Env<'_>) -> Vec<ExplainedStep> {
    let query = &whole.query;
    let mut steps = Vec::new();
    match query.arrangement {
        Arrangement::Document => {}
        Arrangement::SameKey => {
            steps.push(ExplainedStep::new("order: newest first within the key", None));
        }
        Arrangement::Ordered(order) => {
            steps.push(ExplainedStep::new(format!("order: `{}`", order.as_str()), None));
        }
    }
    if query.unique {
        let unique = Query { page: None, first: false, ..query.clone() };
        let count = count(&plan(unique), tree, env);
        steps.push(ExplainedStep::new("keep the first of each key", count));
    }
    if let Some((skip, take)) = query.page {
        let paged = Query { first: false, ..query.clone() };
        let count = count(&plan(paged), tree, env);
        steps.push(ExplainedStep::new(format!("skip {skip}, take {take}"), count));
    }
    if query.first {
        steps.push(ExplainedStep::new("take the first", None));
    }
    if let Some(enough) = whole.enough(None) {
        steps.push(ExplainedStep::new(format!("stop after {enough} in document order"), None));
    }
    steps.push(ExplainedStep::new("result", count(whole, tree, env)));
    steps
}

fn source(route: &Route) -> String {
    match route {
        Route::ById(id) => format!("look up the id `{id}` and check its path"),
        Route::ByKey(key) => format!("look up the key `{key}` and check the paths of its nodes"),
        Route::PickOfKey(key) => {
            format!("look up the key `{key}`, check the paths, pick newest first")
        }
        Route::Anchored { anchors, rest } => {
            let steps = if *anchors == 1 { "the first step" } else { "the first steps" };
            let rest = match rest {
                Rest::Empty => "",
                Rest::Scan => ", scan below for the last",
                Rest::Pass => ", one pass below for the others",
            };
            format!("look up {steps} ({anchors}){rest}")
        }
        Route::Pass(scope) => format!("one pass over {}", parts(scope)),
        Route::Picks(scope) => format!("one pass over {}, picking among siblings", parts(scope)),
        Route::Table => "a table of the whole tree, one pass per step".to_owned(),
        Route::Path => "follow the hops".to_owned(),
        Route::Below => "scan below the scope".to_owned(),
        Route::Regions => "the regions".to_owned(),
        Route::Tree => "scan the whole tree".to_owned(),
    }
}

fn parts(scope: &Scope) -> String {
    let mut parts = Vec::new();
    if scope.sys {
        parts.push("the system region");
    }
    match &scope.turns {
        None => parts.push("all turns"),
        Some(lists) if lists.is_empty() => {}
        Some(_) => parts.push("the turns at these depths"),
    }
    if scope.head {
        parts.push("the head");
    }
    parts.join(", ")
}
