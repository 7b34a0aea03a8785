//! All steps: text → selector → resolved → plan → result.

use std::collections::BTreeSet;

use contextree_selector::{Edition, Selector, parse};
use contextree_tree::{Cycle, NodeRef, TreeRef};

use crate::depth::Axis;
use crate::error::QueryError;
use crate::evaluate::Env;
use crate::evaluate::{Window, arrange, cut, evaluate_some, find, unique};
use crate::meter::{Meter, QueryLimits};
use crate::plan::{Plan, plan};
use crate::range::{RangeDiff, RangeOptions, range_diff};
use crate::resolve::{At, resolve, resolve_on_tree};
use crate::selection::Selection;
use crate::suspect::suspects;
use crate::timeline::Timeline;

/// Options besides the selector.
#[derive(Clone, Debug, Default)]
pub struct SelectOptions {
    /// Number of results to skip. Ignored for ranges, like the next two.
    pub skip: usize,
    /// Maximum number of results.
    pub limit: Option<usize>,
    /// Only results that this selector matches, or that are below such a match. It must not have a
    /// time prefix; it may have facets if the results are of snapshots.
    pub filter: Option<Selector>,
    /// How differences are reported; ignored without a range.
    pub range: RangeOptions,
    /// Edition 0.1's `select_range_returns_diff=false`: a range returns the nodes of its snapshots,
    /// like `@*`. Ignored in other editions.
    pub range_as_nodes: bool,
    /// How much work it may be; `None` for the limits of the store, or the default ones.
    pub limits: Option<QueryLimits>,
}

/// The answer to a selector.
#[derive(Clone, Debug)]
pub enum Answer<'t> {
    /// Nodes.
    Nodes(Selection<'t>),
    /// Differences, for a selector with a range.
    Range(RangeDiff),
}

impl<'t> Answer<'t> {
    /// Returns the nodes, or `None` if the answer is a range.
    #[must_use]
    pub fn nodes(self) -> Option<Selection<'t>> {
        match self {
            Self::Nodes(selection) => Some(selection),
            Self::Range(_) => None,
        }
    }

    /// Returns the differences, or `None` if the answer is nodes.
    #[must_use]
    pub fn range(self) -> Option<RangeDiff> {
        match self {
            Self::Nodes(_) => None,
            Self::Range(range) => Some(range),
        }
    }
}

/// Parses and evaluates a selector.
///
/// # Errors
///
/// If the selector is invalid in the edition, addresses a snapshot that does not exist, or the
/// history cannot be read.
pub fn select<'t, T: Timeline + ?Sized>(
    text: &str,
    edition: Edition,
    timeline: &'t T,
    options: &SelectOptions,
) -> Result<Answer<'t>, T::Error> {
    let selector = parse(text, edition).map_err(QueryError::from)?;
    select_parsed(&selector, text, timeline, options)
}

/// Evaluates a parsed selector. `text` is its source; ranges report it.
///
/// # Errors
///
/// If it addresses a snapshot that does not exist, or the history cannot be read.
pub fn select_parsed<'t, T: Timeline + ?Sized>(
    selector: &Selector,
    text: &str,
    timeline: &'t T,
    options: &SelectOptions,
) -> Result<Answer<'t>, T::Error> {
    let resolved = resolve(selector, timeline)?;
    let plan = plan(resolved.query);
    let window = Window {
        skip: options.skip,
        limit: options.limit,
        filter: options
            .filter
            .as_ref()
            .map(|filter| resolve_on_tree(filter).map(crate::plan::plan))
            .transpose()
            .map_err(QueryError::from)?,
    };
    let default = QueryLimits::default();
    let meter = Meter::new(options.limits.as_ref().unwrap_or(&default));
    let as_nodes = options.range_as_nodes && selector.edition == Edition::V0_1;
    prefetch(&resolved.at, timeline)?;
    let nodes = match resolved.at {
        At::Working => on_one(&plan, timeline.working()?, None, &window, &meter),
        At::Snapshot(position) => {
            let moment = timeline.snapshot(position)?;
            on_one(
                &plan,
                moment.map(|moment| moment.tree),
                moment.map(|moment| moment.cycle),
                &window,
                &meter,
            )
        }
        At::Every(positions) => on_every(&plan, timeline, &positions, &window, &meter)?,
        At::Range(range) if as_nodes => {
            on_every(&plan, timeline, &range.positions, &window, &meter)?
        }
        At::Range(range) => {
            let found = range_diff(&plan, &range, text, timeline, &options.range, &meter)?;
            return Ok(Answer::Range(found));
        }
    };
    meter.check()?;
    Ok(Answer::Nodes(nodes))
}

/// Announces the snapshots that a selector addresses, where there are several.
pub(crate) fn prefetch<T: Timeline + ?Sized>(at: &At, timeline: &T) -> Result<(), T::Error> {
    let positions = match at {
        At::Working | At::Snapshot(_) => return Ok(()),
        At::Every(positions) => positions,
        At::Range(range) => &range.positions,
    };
    match (positions.iter().min(), positions.iter().max()) {
        (Some(oldest), Some(newest)) => timeline.prefetch(*oldest, *newest),
        _ => Ok(()),
    }
}

fn on_one<'t>(
    plan: &Plan,
    tree: Option<TreeRef<'t>>,
    cycle: Option<Cycle>,
    window: &Window,
    meter: &Meter<'_>,
) -> Selection<'t> {
    let recency = plan.query.recency;
    let Some(tree) = tree else {
        return Selection { nodes: Vec::new(), warnings: Vec::new(), recency };
    };
    let env = Env::metered(cycle, meter);
    let nodes = evaluate_some(plan, tree, &env, window.enough());
    let nodes = window.cut(window.filtered(nodes, tree, &env));
    let warnings =
        if nodes.is_empty() && !env.is_out() { suspects(&plan.query, &[tree]) } else { Vec::new() };
    Selection { nodes, warnings, recency }
}

/// Returns each id once, at its first occurrence from the newest snapshot to the oldest (ER-026).
/// Order applies within one snapshot; `@unique`, the page and the window apply to the whole list.
fn on_every<'t, T: Timeline + ?Sized>(
    plan: &Plan,
    timeline: &'t T,
    positions: &[usize],
    window: &Window,
    meter: &Meter<'_>,
) -> Result<Selection<'t>, T::Error> {
    let mut seen: BTreeSet<&'t str> = BTreeSet::new();
    let mut nodes: Vec<NodeRef<'t>> = Vec::new();
    let mut trees = Vec::new();
    for position in positions {
        let Some(moment) = timeline.snapshot(*position)? else { continue };
        let axis = Axis::new(moment.tree, plan.query.recency);
        let env = Env::metered(Some(moment.cycle), meter);
        let found = find(plan, &axis, &env, None);
        let found = arrange(found.iter().collect(), plan.query.arrangement, &axis);
        let found = window.filtered(found, moment.tree, &env);
        meter.check()?;
        nodes.extend(found.into_iter().filter(|node| seen.insert(node.id())));
        trees.push(moment.tree);
    }
    if plan.query.unique {
        nodes = unique(nodes);
    }
    let nodes = window.cut(cut(plan, nodes));
    let warnings = if nodes.is_empty() { suspects(&plan.query, &trees) } else { Vec::new() };
    Ok(Selection { nodes, warnings, recency: plan.query.recency })
}
