//! All steps: text → selector → resolved → plan → result.

use std::collections::BTreeSet;

use contextree_selector::{Edition, Selector, parse};
use contextree_tree::{NodeRef, TreeRef};

use crate::depth::Axis;
use crate::error::{QueryError, ResolveError};
use crate::evaluate::Env;
use crate::evaluate::{Window, arrange, cut, evaluate_some, find, unique};
use crate::plan::{Plan, plan};
use crate::range::{RangeDiff, RangeOptions, range_diff};
use crate::resolve::{At, resolve, resolve_on_tree};
use crate::selection::{Selection, unknown_types};
use crate::timeline::Timeline;

/// Options besides the selector.
#[derive(Clone, Debug, Default)]
pub struct SelectOptions {
    /// Number of results to skip. Ignored for ranges, like the next two.
    pub skip: usize,
    /// Maximum number of results.
    pub limit: Option<usize>,
    /// Only results that this selector matches, or that are below such a match. It must not have a
    /// time prefix.
    pub filter: Option<Selector>,
    /// How differences are reported; ignored without a range.
    pub range: RangeOptions,
    /// Edition 0.1's `select_range_returns_diff=false`: a range returns the nodes of its snapshots,
    /// like `@*`. Ignored in other editions.
    pub range_as_nodes: bool,
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
/// If the selector is invalid in the edition or addresses a snapshot that does not exist.
pub fn select<'t, T: Timeline + ?Sized>(
    text: &str,
    edition: Edition,
    timeline: &'t T,
    options: &SelectOptions,
) -> Result<Answer<'t>, QueryError> {
    let selector = parse(text, edition)?;
    Ok(select_parsed(&selector, text, timeline, options)?)
}

/// Evaluates a parsed selector. `text` is its source; ranges report it.
///
/// # Errors
///
/// If it addresses a snapshot that does not exist.
pub fn select_parsed<'t, T: Timeline + ?Sized>(
    selector: &Selector,
    text: &str,
    timeline: &'t T,
    options: &SelectOptions,
) -> Result<Answer<'t>, ResolveError> {
    let resolved = resolve(selector, timeline)?;
    let plan = plan(resolved.query);
    let window = Window {
        skip: options.skip,
        limit: options.limit,
        filter: options
            .filter
            .as_ref()
            .map(|filter| resolve_on_tree(filter).map(crate::plan::plan))
            .transpose()?,
    };
    let as_nodes = options.range_as_nodes && selector.edition == Edition::V0_1;
    let nodes = match resolved.at {
        At::Working => on_one(&plan, timeline.working(), None, &window),
        At::Snapshot(position) => {
            let moment = timeline.snapshot(position);
            on_one(
                &plan,
                moment.map(|moment| moment.tree),
                moment.map(|moment| moment.cycle),
                &window,
            )
        }
        At::Every(positions) => on_every(&plan, timeline, &positions, &window),
        At::Range(range) if as_nodes => on_every(&plan, timeline, &range.positions, &window),
        At::Range(range) => {
            return Ok(Answer::Range(range_diff(&plan, &range, text, timeline, &options.range)));
        }
    };
    Ok(Answer::Nodes(nodes))
}

fn on_one<'t>(
    plan: &Plan,
    tree: Option<TreeRef<'t>>,
    cycle: Option<u32>,
    window: &Window,
) -> Selection<'t> {
    let recency = plan.query.recency;
    let Some(tree) = tree else {
        return Selection { nodes: Vec::new(), warnings: Vec::new(), recency };
    };
    let nodes = evaluate_some(plan, tree, cycle, window.enough());
    let nodes = window.cut(window.filtered(nodes, tree, cycle));
    let warnings = if nodes.is_empty() { unknown_types(&plan.query, &[tree]) } else { Vec::new() };
    Selection { nodes, warnings, recency }
}

/// Returns each id once, at its first occurrence from the newest snapshot to the oldest (ER-026).
/// Order applies within one snapshot; `@unique`, the page and the window apply to the whole list.
fn on_every<'t, T: Timeline + ?Sized>(
    plan: &Plan,
    timeline: &'t T,
    positions: &[usize],
    window: &Window,
) -> Selection<'t> {
    let mut seen: BTreeSet<&'t str> = BTreeSet::new();
    let mut nodes: Vec<NodeRef<'t>> = Vec::new();
    let mut trees = Vec::new();
    for moment in positions.iter().filter_map(|position| timeline.snapshot(*position)) {
        let axis = Axis::new(moment.tree, plan.query.recency);
        let found = find(plan, &axis, &Env::at(Some(moment.cycle)), None);
        let found = arrange(found.iter().collect(), plan.query.arrangement, &axis);
        let found = window.filtered(found, moment.tree, Some(moment.cycle));
        nodes.extend(found.into_iter().filter(|node| seen.insert(node.id())));
        trees.push(moment.tree);
    }
    if plan.query.unique {
        nodes = unique(nodes);
    }
    let nodes = window.cut(cut(plan, nodes));
    let warnings = if nodes.is_empty() { unknown_types(&plan.query, &trees) } else { Vec::new() };
    Selection { nodes, warnings, recency: plan.query.recency }
}
