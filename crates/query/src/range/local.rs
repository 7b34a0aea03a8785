//! Local selectors: those that can be compared by examining only what was written.
//!
//! A selector is *local* if whether a node matches depends only on the node, its ancestors, and
//! whether a turn on the path elides its core. The tree lists the nodes written between two
//! snapshots. No other node can have changed its result, so the cost of a range is proportional to
//! the changes, without any evaluation. Not local, and evaluated once per snapshot, are:
//!
//! - `:first`, `:last`, `:nth`, because a new sibling changes them;
//! - depths of single turns (`:depth(1-3)`, `d1`), because every commit makes all turns older;
//!   `:depth(>0)`, `d0`, `d-1` and other sets that contain all turns or none remain local;
//! - the facets `age` and `depth`;
//! - `@unique`, `@limit`, `@p` and `@first`, which choose among matches;
//! - chains of more than 64 steps, and scopes with several depths after another hop.

use contextree_selector::{DepthItem, DepthKind, DepthSet, OneOrMore, Op, Root, Span};
use contextree_tree::NodeRef;

use crate::compare::{Exact, Literal, Test};
use crate::depth::Axis;
use crate::evaluate::{Automaton, Env, MAX_STEPS, Spot};
use crate::resolve::{
    Attr, Body, Chain, Compound, Condition, DepthOf, Hop, HopKind, Part, Query, Recency, Relation,
    Step,
};
use crate::timeline::Moment;

/// Whether a range can be compared by what was written between snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// It can.
    Local,
    /// It cannot, for this reason.
    PerSnapshot(&'static str),
}

/// Returns whether a query is local.
#[must_use]
pub fn locality(query: &Query) -> Locality {
    if query.unique || query.first || query.page.is_some() {
        return Locality::PerSnapshot("a control chooses among the matches");
    }
    let Some(chains) = as_chains(&query.body) else {
        return Locality::PerSnapshot("the scope has several paths");
    };
    if chains.iter().map(|chain| chain.steps.len()).sum::<usize>() > MAX_STEPS {
        return Locality::PerSnapshot("the selector has more than 64 steps");
    }
    let steps = || chains.iter().flat_map(|chain| &chain.steps);
    if steps().any(|step| step.compound.has_picks()) {
        return Locality::PerSnapshot("a pick chooses among siblings");
    }
    let mut conditions = steps().flat_map(|step| step.compound.conditions()).chain(&query.keep);
    conditions.find_map(moves_with_time).map_or(Locality::Local, Locality::PerSnapshot)
}

fn moves_with_time(condition: &Condition) -> Option<&'static str> {
    match condition {
        Condition::Depth(_, set) if !holds_all_turns_or_none(set) => {
            Some("a depth names turns by their age")
        }
        Condition::Attr(Attr::Age | Attr::Depth, _) => Some("a facet changes with every snapshot"),
        _ => None,
    }
}

fn holds_all_turns_or_none(set: &DepthSet) -> bool {
    let mut bounds: Vec<(i64, i64)> =
        set.items.iter().filter_map(DepthItem::bounds).filter(|(_, high)| *high >= 1).collect();
    bounds.sort_unstable();
    let mut reached = 0;
    for (low, high) in &bounds {
        if *low > reached + 1 {
            return false;
        }
        reached = reached.max((*high).min(i64::MAX - 1));
    }
    bounds.is_empty() || reached == i64::MAX - 1
}

/// Returns chains that match the same nodes as a body; `None` if that takes more than one chain per
/// path.
fn as_chains(body: &Body) -> Option<Vec<Chain>> {
    let any = |relation| step(relation, vec![Condition::Any]);
    let root = || step(Relation::Descendant, vec![Condition::Fixed(Root::Root)]);
    let steps = match body {
        Body::Chains(chains) => return Some(chains.clone()),
        Body::Tree => vec![any(Relation::Descendant)],
        Body::Regions => vec![root(), any(Relation::Child)],
        Body::Path(hops) => path(hops.iter().map(std::slice::from_ref))?,
        Body::Below(stages) if stages.is_empty() => vec![root(), any(Relation::Descendant)],
        Body::Below(stages) => {
            let mut steps = path(stages.iter().map(Vec::as_slice))?;
            steps.push(any(Relation::Descendant));
            steps
        }
    };
    Some(vec![Chain { steps }])
}

fn step(relation: Relation, conditions: Vec<Condition>) -> Step {
    let parts = conditions.into_iter().map(Part::Test).collect();
    Step { relation, is_zone: false, compound: Compound { parts, key: None } }
}

fn path<'h>(stages: impl Iterator<Item = &'h [Hop]>) -> Option<Vec<Step>> {
    let root = || step(Relation::Descendant, vec![Condition::Fixed(Root::Root)]);
    let mut steps: Vec<Step> = Vec::new();
    for stage in stages {
        let hop = match stage {
            [hop] => hop.clone(),
            // Several depths without conditions are one set of depths.
            several if several.iter().all(|hop| hop.tests.is_empty()) && steps.is_empty() => {
                let depths = several.iter().filter_map(|hop| match hop.kind {
                    HopKind::Depth(depth) => Some(depth),
                    _ => None,
                });
                steps.push(step(Relation::Descendant, vec![containers(depths)?]));
                continue;
            }
            _ => return None,
        };
        let relation = if steps.is_empty() { Relation::Descendant } else { Relation::Child };
        match hop.kind {
            HopKind::Depth(depth) => {
                let mut conditions = vec![containers(std::iter::once(depth))?];
                conditions.extend(hop.tests);
                steps.push(step(relation, conditions));
            }
            HopKind::Turn => {
                if steps.is_empty() {
                    steps.push(root());
                }
                let last = steps.last_mut()?;
                let tests = std::iter::once(Condition::TurnLike).chain(hop.tests);
                last.compound.parts.extend(tests.map(Part::Test));
            }
            HopKind::Child(class, offset) => {
                if steps.is_empty() {
                    steps.push(root());
                }
                let mut conditions: Vec<Condition> =
                    class.map(Condition::Class).into_iter().collect();
                conditions.extend(offset.map(|offset| {
                    let literal = Literal::Number(Exact::Int(offset), offset.to_string().into());
                    Condition::Attr(Attr::Offset, Test::Compare(Op::Eq, literal))
                }));
                conditions.extend(hop.tests);
                conditions.push(Condition::Any);
                steps.push(step(Relation::Child, conditions));
            }
        }
    }
    Some(steps)
}

fn containers(depths: impl Iterator<Item = i64>) -> Option<Condition> {
    let mut items = depths.map(|depth| DepthItem { kind: DepthKind::One(depth), span: Span::NONE });
    let mut set = DepthSet { items: OneOrMore::new(items.next()?) };
    set.items.extend(items);
    Some(Condition::Depth(DepthOf::Container, set))
}

/// The chains of a local query.
pub(super) struct LocalQuery {
    chains: Vec<Chain>,
    keep: Vec<Condition>,
}

impl LocalQuery {
    /// Returns the local form of a query; `None` if it is not local.
    pub(super) fn new(query: &Query) -> Option<Self> {
        match locality(query) {
            Locality::PerSnapshot(_) => None,
            Locality::Local => {
                Some(LocalQuery { chains: as_chains(&query.body)?, keep: query.keep.clone() })
            }
        }
    }

    /// Returns a matcher for the nodes of one snapshot.
    pub(super) fn matcher<'t>(
        &self,
        moment: Moment<'t>,
        recency: Recency,
    ) -> Option<Matcher<'_, 't>> {
        Some(Matcher {
            automaton: Automaton::new(&self.chains, 0, moment.tree)?,
            keep: &self.keep,
            axis: Axis::new(moment.tree, recency),
            env: Env::at(Some(moment.cycle)),
        })
    }
}

/// Decides whether single nodes of one snapshot match.
pub(super) struct Matcher<'q, 't> {
    automaton: Automaton<'q>,
    keep: &'q [Condition],
    axis: Axis<'t>,
    env: Env<'static>,
}

impl<'t> Matcher<'_, 't> {
    /// Returns whether a node matches.
    pub(super) fn matches(&self, node: NodeRef<'t>) -> bool {
        self.automaton.matches(node, &self.axis, &self.env)
            && (self.keep.is_empty() || {
                let spot = Spot::of(node, &self.axis);
                self.keep.iter().all(|condition| condition.holds(&spot, &self.env))
            })
    }
}
