//! Planning: decides what is looked up, what is scanned, and in which order.
//!
//! | part of a selector | how it is found |
//! |---|---|
//! | `^root`, `^sys`, `^seq`, `^ah` | looked up |
//! | `depth(…)`, `:depth(…)`, `dN` | looked up from the back of `^seq` |
//! | `#id`, `[id='…']`, `{ id='…' }`, `#key`, `[key='…']` | looked up, then the path to the root is checked |
//! | `#key:first` and other picks of a key | the same, then the key's nodes are counted newest first |
//! | `role`, `kind` and `nodeType` by equality, `[ttl<=n]` | a scan that skips subtrees that cannot contain them |
//! | everything else | one pass in document order below what was looked up, which stops when enough is found |
//! | `:first`, `:last`, `:nth` | among siblings, from their start or end; `^seq .seg:last` reads one turn |
//! | the same with zones, or where a turn elides its core | a table of the tree, one pass per step |
//!
//! A plan is an optimisation: the naive evaluator returns the same nodes in the same order.

use std::collections::BTreeSet;

use contextree_selector::{DepthSet, Order, Root};

use crate::evaluate::{MAX_STEPS, Scope};
use crate::resolve::{Arrangement, Attr, Body, Chain, Condition, DepthOf, Query, Relation, Step};

/// How a query is evaluated.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) query: Query,
    /// The chains of the query without repetitions, if there are any.
    pub(crate) distinct: Option<Vec<Chain>>,
    pub(crate) route: Route,
    /// Whether everything that the route looks up is a match, so that no condition must be checked.
    pub(crate) is_settled: bool,
}

/// Where matches come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The node with an id, if its path matches.
    ById(Box<str>),
    /// The nodes with a key whose paths match.
    ByKey(Box<str>),
    /// A choice among the nodes with a key whose paths match.
    PickOfKey(Box<str>),
    /// One chain: its first steps are looked up, the rest is searched below them.
    Anchored {
        /// The number of steps that are looked up.
        anchors: usize,
        /// How the rest is found.
        rest: Rest,
    },
    /// Chains in one pass over a part of the tree.
    Pass(Scope),
    /// Chains with picks in one pass over a part of the tree.
    Picks(Scope),
    /// Chains over a table of the tree.
    Table,
    /// Hops.
    Path,
    /// Everything below the end of the stages.
    Below,
    /// The regions.
    Regions,
    /// Every node.
    Tree,
}

/// How the steps after the anchors are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There are no further steps: the anchors are the matches.
    Empty,
    /// One step, a plain scan.
    Scan,
    /// Several steps, with an automaton.
    Pass,
}

/// From how many chains on it is worth looking for those that are there twice.
const MANY_CHAINS: usize = 8;

/// Returns the plan for a query.
#[must_use]
pub fn plan(query: Query) -> Plan {
    let distinct = distinct(&query.body);
    if let Some(chains) = distinct {
        let route = route_of(&chains);
        return Plan { query, distinct: Some(chains), route, is_settled: false };
    }
    let route = route(&query);
    let is_settled = query.keep.is_empty() && settles_chains(&route, &query.body);
    Plan { query, distinct: None, route, is_settled }
}

/// Returns each chain once, if there are many and some are there twice.
fn distinct(body: &Body) -> Option<Vec<Chain>> {
    let Body::Chains(chains) = body else { return None };
    if chains.len() <= MANY_CHAINS {
        return None;
    }
    let mut known = BTreeSet::new();
    let is_new = |chain: &&Chain| known.insert(format!("{chain:?}"));
    let distinct: Vec<Chain> = chains.iter().filter(is_new).cloned().collect();
    (distinct.len() < chains.len()).then_some(distinct)
}

/// Returns whether a selector consists only of the id or the key that its route looks up.
fn settles_chains(route: &Route, body: &Body) -> bool {
    let (Route::ById(_) | Route::ByKey(_), Body::Chains(chains)) = (route, body) else {
        return false;
    };
    let [Chain { steps }] = chains.as_slice() else { return false };
    let [Step { compound, is_zone: false, .. }] = steps.as_slice() else { return false };
    compound.conditions().all(|condition| settles(route, condition))
}

/// Returns whether every node that a route looks up satisfies the condition.
pub(crate) fn settles(route: &Route, condition: &Condition) -> bool {
    match (route, condition) {
        (Route::ById(sought), Condition::Id(id)) => sought == id,
        (Route::ByKey(sought), Condition::Key(key)) => sought == key,
        _ => false,
    }
}

impl Plan {
    /// Returns the query.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns whether results are in the order in which matches are found.
    pub(crate) fn is_in_document_order(&self) -> bool {
        matches!(
            self.query.arrangement,
            Arrangement::Document | Arrangement::Ordered(Order::Pre | Order::Path)
        )
    }

    /// Returns how many matches in document order are enough; `None` if all are needed.
    pub(crate) fn enough(&self, window: Option<usize>) -> Option<usize> {
        if !self.is_in_document_order() || self.query.unique {
            return None;
        }
        let of_page = match self.query.page {
            Some((skip, take)) => {
                let take = if self.query.first { take.min(1) } else { take };
                Some((skip, take))
            }
            None if self.query.first => Some((0, 1)),
            None => None,
        };
        match (of_page, window) {
            (Some((skip, take)), Some(window)) => Some(skip.saturating_add(take.min(window))),
            (Some((skip, take)), None) => Some(skip.saturating_add(take)),
            (None, window) => window,
        }
    }
}

fn route(query: &Query) -> Route {
    match &query.body {
        Body::Chains(chains) => route_of(chains),
        Body::Path(_) => Route::Path,
        Body::Regions => Route::Regions,
        Body::Below(_) => named(&query.keep.iter()).unwrap_or(Route::Below),
        Body::Tree => named(&query.keep.iter()).unwrap_or(Route::Tree),
    }
}

fn route_of(chains: &[Chain]) -> Route {
    match chains {
        [chain] => route_of_chain(chain),
        chains => route_of_chains(chains),
    }
}

fn route_of_chain(chain: &Chain) -> Route {
    let steps = &chain.steps;
    let Some((last, before)) = steps.split_last() else { return Route::Table };
    if steps.len() > MAX_STEPS {
        return Route::Table;
    }
    let picks_before = before.iter().any(|step| step.compound.has_picks());
    if picks_before || last.compound.has_picks() {
        return match &last.compound.key {
            Some(key) if !picks_before => Route::PickOfKey(key.clone()),
            _ if steps.iter().all(is_decided_by_siblings) => Route::Picks(scope(chain)),
            _ => Route::Table,
        };
    }
    if let Some(route) = named(&last.compound.conditions()) {
        return route;
    }
    let anchors = steps.iter().take_while(|step| is_anchor(&step.compound)).count();
    let rest = match steps.get(anchors..) {
        None | Some([]) => Rest::Empty,
        Some([_]) => Rest::Scan,
        Some(_) => Rest::Pass,
    };
    if anchors == 0 { Route::Pass(scope(chain)) } else { Route::Anchored { anchors, rest } }
}

fn route_of_chains(chains: &[Chain]) -> Route {
    let steps: usize = chains.iter().map(|chain| chain.steps.len()).sum();
    let mut all = chains.iter().flat_map(|chain| &chain.steps);
    let has_picks = all.clone().any(|step| step.compound.has_picks());
    let too_long = |chain: &Chain| chain.steps.len() > MAX_STEPS || chain.steps.is_empty();
    if (steps > MAX_STEPS && has_picks)
        || chains.iter().any(too_long)
        || (has_picks && !all.all(is_decided_by_siblings))
    {
        return Route::Table;
    }
    let union = scope_of(chains);
    if has_picks { Route::Picks(union) } else { Route::Pass(union) }
}

/// Returns the parts of a tree that can contain matches of one of the chains.
pub(crate) fn scope_of(chains: &[Chain]) -> Scope {
    let mut union = Scope { sys: false, head: false, turns: Some(Vec::new()) };
    for scope in chains.iter().map(scope) {
        union.sys |= scope.sys;
        union.head |= scope.head;
        union.turns = match (union.turns, scope.turns) {
            (Some(mut lists), Some(more)) => {
                lists.extend(more);
                Some(lists)
            }
            _ => None,
        };
    }
    union
}

/// Returns whether the path to a node and its siblings decide if it matches the step. They do not
/// for picks of a key, which choose among all nodes of the key, and for zones, which exclude
/// siblings.
fn is_decided_by_siblings(step: &Step) -> bool {
    !step.is_zone && (step.compound.key.is_none() || !step.compound.has_picks())
}

/// Returns the parts of a tree that can contain matches. Every step of a chain is on the path to
/// its match, so each one narrows the scope.
fn scope(chain: &Chain) -> Scope {
    let mut scope = Scope::ALL;
    let mut sets: Vec<DepthSet> = Vec::new();
    let mut has_turns = true;
    for condition in chain.steps.iter().flat_map(|step| step.compound.conditions()) {
        match condition {
            Condition::Fixed(Root::Sys) => (scope.head, has_turns) = (false, false),
            Condition::Fixed(Root::Ah) => (scope.sys, has_turns) = (false, false),
            Condition::Fixed(Root::Seq) => (scope.sys, scope.head) = (false, false),
            Condition::Depth(depth_of, set) => {
                let has_regions = *depth_of != DepthOf::SealedTurn;
                scope.sys &= has_regions && set.contains(-1);
                scope.head &= has_regions && set.contains(0);
                sets.push(set.clone());
            }
            _ => {}
        }
    }
    scope.turns = match (has_turns, sets.is_empty()) {
        (false, _) => Some(Vec::new()),
        (true, true) => None,
        (true, false) => Some(vec![sets]),
    };
    scope
}

/// Returns whether the nodes of a compound are looked up.
fn is_anchor(compound: &crate::resolve::Compound) -> bool {
    compound.conditions().any(|condition| match condition {
        Condition::Fixed(_) | Condition::Id(_) => true,
        Condition::Depth(depth_of, _) => *depth_of != DepthOf::Containing,
        _ => false,
    })
}

/// Returns a route for an id or a key, which are looked up.
fn named<'c>(conditions: &(impl Iterator<Item = &'c Condition> + Clone)) -> Option<Route> {
    let by_id = conditions.clone().find_map(|condition| match condition {
        Condition::Id(id) => Some(Route::ById(id.clone())),
        _ => None,
    });
    by_id.or_else(|| {
        conditions.clone().find_map(|condition| match condition {
            Condition::Key(key) => Some(Route::ByKey(key.clone())),
            _ => None,
        })
    })
}

/// Returns whether a condition depends on the position of a node, which a plain scan does not know.
pub(crate) fn asks_place(condition: &Condition) -> bool {
    match condition {
        Condition::Depth(..) | Condition::TurnLike => true,
        Condition::Attr(attr, _) => matches!(attr, Attr::Depth | Attr::Sdepth),
        _ => false,
    }
}

/// Returns the relation of the first step after the anchors.
pub(crate) fn relation_of_rest(chain: &Chain, anchors: usize) -> Relation {
    chain.steps.get(anchors).map_or(Relation::Descendant, |step| step.relation)
}
