//! Finds the matches of a plan, in document order.

use std::cell::Cell;

use contextree_tree::{Class, Hint, NodeKey, NodeRef, RowNumber};

use super::automaton::{Automaton, MAX_STEPS};
use super::condition::Env;
use super::order::newer_first;
use super::path;
use super::scan::Scan;
use super::spot::Spot;
use super::table::Table;
use super::walk::{Scope, Walk};
use crate::depth::Axis;
use crate::matches::Matches;
use crate::plan::{Plan, Rest, Route, asks_place, relation_of_rest, scope_of, settles};
use crate::resolve::{Body, Chain, Compound, Condition, DepthOf, Hop, Part, Pick, Relation, Step};

/// Returns the matches of a plan in document order, before any further processing; at most `enough`
/// if given.
pub(crate) fn find<'t>(
    plan: &Plan,
    axis: &Axis<'t>,
    env: &Env<'_>,
    enough: Option<usize>,
) -> Matches<'t> {
    let mut finder = Finder {
        keep: &plan.query.keep,
        axis,
        env,
        enough: enough.unwrap_or(usize::MAX),
        found: Vec::new(),
    };
    if finder.enough > 0 {
        finder.run(plan);
    }
    Matches::new(axis.tree(), finder.found)
}

struct Finder<'f, 't> {
    keep: &'f [Condition],
    axis: &'f Axis<'t>,
    env: &'f Env<'f>,
    enough: usize,
    /// The versions of the nodes.
    found: Vec<RowNumber>,
}

impl<'t> Finder<'_, 't> {
    fn run(&mut self, plan: &Plan) {
        if plan.is_settled {
            if let Route::ByKey(key) = &plan.route
                && let Some(version) = self.axis.tree().sole_version_with_key(key)
            {
                self.found.push(version);
                return;
            }
            self.found.extend(self.look_up(&plan.route).take(self.enough).map(NodeRef::version));
            return;
        }
        match (&plan.query.body, &plan.route) {
            (Body::Chains(chains), route) => {
                self.chains(plan.distinct.as_deref().unwrap_or(chains), route);
            }
            (Body::Path(hops), _) => {
                let stages: Vec<&[Hop]> = hops.iter().map(std::slice::from_ref).collect();
                for spot in path::follow(&stages, self.axis, self.env, false) {
                    if !self.take_spot(&spot) {
                        break;
                    }
                }
            }
            (Body::Regions, _) => {
                for region in self.axis.tree().root().children() {
                    if !self.take(region) {
                        break;
                    }
                }
            }
            (Body::Tree, route @ (Route::ById(_) | Route::ByKey(_))) => {
                for node in self.look_up(route) {
                    if !self.take(node) {
                        break;
                    }
                }
            }
            (Body::Tree, _) => {
                let root = self.axis.tree().root();
                if self.take(root) {
                    self.below(&self.spot(root), &[]);
                }
            }
            (Body::Below(stages), route) => self.search(stages, route),
        }
    }

    fn search(&mut self, stages: &[Vec<Hop>], route: &Route) {
        let root = self.spot(self.axis.tree().root());
        if stages.is_empty() {
            match route {
                Route::ById(_) | Route::ByKey(_) => {
                    let below_root = |node: &NodeRef<'t>| node.class() != Class::Root;
                    for node in self.look_up(route).filter(below_root) {
                        if !self.take(node) {
                            return;
                        }
                    }
                }
                _ => {
                    self.below(&root, &[]);
                }
            }
            return;
        }
        let slices: Vec<&[Hop]> = stages.iter().map(Vec::as_slice).collect();
        let scopes = path::follow(&slices, self.axis, self.env, true);
        if let Route::ById(_) | Route::ByKey(_) = route {
            let in_scope = |node: &NodeRef<'t>| scopes.iter().any(|scope| is_below(*node, scope));
            for node in self.look_up(route).filter(in_scope) {
                if !self.take(node) {
                    return;
                }
            }
            return;
        }
        // Scopes can be nested only if a core is elided; the order is then fixed afterwards.
        let has_cores = scopes.iter().any(|scope| scope.is_core);
        let enough = self.enough;
        if has_cores {
            self.enough = usize::MAX;
        }
        for scope in &scopes {
            if !self.below(scope, &[]) {
                return;
            }
        }
        if has_cores {
            self.sort_in_document_order();
            self.found.truncate(enough);
        }
    }

    fn chains(&mut self, chains: &[Chain], route: &Route) {
        match (route, chains) {
            (Route::ById(_) | Route::ByKey(_), chains) => {
                if let [chain] = chains
                    && let [Step { compound, .. }] = chain.steps.as_slice()
                    && !compound.conditions().any(asks_place)
                {
                    // The path to the node does not matter.
                    for node in self.look_up(route) {
                        let spot = Spot::anywhere(node);
                        let mut others = compound.conditions().filter(|each| !settles(route, each));
                        let holds = others.all(|each| each.holds(&spot, self.env));
                        if holds && !self.take(node) {
                            return;
                        }
                    }
                    return;
                }
                let Some(automaton) = Automaton::new(chains, 0, self.axis.tree()) else { return };
                for node in self.look_up(route) {
                    if automaton.matches(node, self.axis, self.env) && !self.take(node) {
                        return;
                    }
                }
            }
            (Route::PickOfKey(key), [chain]) => self.pick_of_key(chain, key),
            (Route::Anchored { anchors, rest }, [chain]) => self.anchored(chain, *anchors, rest),
            (Route::Pass(scope), chains) => match chains {
                [chain] if is_plain(chain) && *scope == Scope::ALL => {
                    let root = self.axis.tree().root();
                    let conditions: Vec<&Condition> =
                        chain.steps[0].compound.conditions().collect();
                    let spot = self.spot(root);
                    let is_match = conditions.iter().all(|each| each.holds(&spot, self.env));
                    if !is_match || self.take(root) {
                        self.below(&spot, &conditions);
                    }
                }
                chains => self.pass(chains, scope),
            },
            (Route::Picks(scope), chains) => {
                if !self.pass_with_picks(chains, scope) {
                    self.found.clear();
                    self.table(chains);
                }
            }
            (_, chains) => self.table(chains),
        }
    }

    fn table(&mut self, chains: &[Chain]) {
        let matches = Table::new(self.axis).matches(chains, self.env);
        let kept = matches.into_iter().filter(|node| self.keeps(*node));
        let kept: Vec<RowNumber> = kept.map(NodeRef::version).collect();
        self.found.extend(kept);
        self.found.truncate(self.enough);
    }

    /// Returns the nodes with an id or a key, in document order.
    fn look_up(&self, route: &Route) -> impl Iterator<Item = NodeRef<'t>> + use<'t> {
        let tree = self.axis.tree();
        let (one, keyed) = match route {
            Route::ById(id) => (tree.get(id), None),
            Route::ByKey(key) => (None, Some(tree.with_key(key))),
            _ => (None, None),
        };
        one.into_iter().chain(keyed.into_iter().flatten())
    }

    /// `… #K:first`: looks up the nodes of the key, checks their paths, then applies the last
    /// compound.
    fn pick_of_key(&mut self, chain: &Chain, key: &str) {
        let Some((last, before)) = chain.steps.split_last() else { return };
        let any = Compound { parts: vec![Part::Test(Condition::Any)], key: None };
        let mut way = Chain { steps: before.to_vec() };
        way.steps.push(Step { compound: any, ..last.clone() });
        let chains = [way];
        let Some(automaton) = Automaton::new(&chains, 0, self.axis.tree()) else { return };
        let nodes = self.axis.tree().with_key(key);
        let mut set: Vec<Spot<'t>> = nodes
            .filter(|node| automaton.matches(*node, self.axis, self.env))
            .map(|node| Spot::of(node, self.axis))
            .collect();
        for part in &last.compound.parts {
            match part {
                Part::Test(condition) => set.retain(|spot| condition.holds(spot, self.env)),
                Part::Pick(pick) => {
                    let mut newest = set.clone();
                    newest.sort_by(newer_first);
                    let chosen = match pick {
                        Pick::First => newest.first(),
                        Pick::Last => newest.last(),
                        Pick::Nth(number) => usize::try_from(*number)
                            .ok()
                            .and_then(|number| newest.get(number.checked_sub(1)?)),
                    };
                    set = chosen.copied().into_iter().collect();
                }
            }
        }
        for spot in &set {
            if !self.take_spot(spot) {
                return;
            }
        }
    }

    fn pass(&mut self, chains: &[Chain], scope: &Scope) {
        let groups = groups(chains);
        if let [chains] = groups.as_slice() {
            let Some(automaton) = Automaton::new(chains, 0, self.axis.tree()) else { return };
            self.walk(&automaton, scope);
            return;
        }
        // One pass for as many chains as an automaton holds: many alternatives cost their sum.
        let enough = std::mem::replace(&mut self.enough, usize::MAX);
        for chains in groups {
            let Some(automaton) = Automaton::new(chains, 0, self.axis.tree()) else { continue };
            self.walk(&automaton, &scope_of(chains));
            if self.env.is_out() {
                return;
            }
        }
        self.sort_in_document_order();
        self.found.truncate(enough);
    }

    /// Returns false if the walk had to be abandoned.
    fn pass_with_picks(&mut self, chains: &[Chain], scope: &Scope) -> bool {
        let automaton = Automaton::with_picks(chains, 0, self.axis.tree());
        automaton.is_some_and(|automaton| self.walk(&automaton, scope))
    }

    fn walk(&mut self, automaton: &Automaton<'_>, scope: &Scope) -> bool {
        let gave_up = Cell::new(false);
        let walk = Walk { automaton, axis: self.axis, env: self.env, scope, gave_up };
        walk.tree(&mut |node| self.take(node));
        !walk.gave_up.get()
    }

    fn anchored(&mut self, chain: &Chain, anchors: usize, rest: &Rest) {
        let mut contexts: Vec<Spot<'t>> = Vec::new();
        for (index, step) in chain.steps.iter().take(anchors).enumerate() {
            let mut above: Vec<NodeKey> = contexts.iter().map(|spot| spot.node.key_of()).collect();
            above.sort_unstable();
            let spots = look_up(&step.compound, self.axis);
            self.env.charge(spots.len() * (1 + step.compound.parts.len()));
            if self.env.is_out() {
                return;
            }
            contexts = spots
                .into_iter()
                .filter(|spot| step.compound.holds(spot, self.env))
                .filter(|spot| index == 0 || is_related(spot, step.relation, &above))
                .collect();
        }
        match rest {
            Rest::Empty => {
                for spot in &contexts {
                    if !self.take_spot(spot) {
                        return;
                    }
                }
            }
            Rest::Scan => {
                let Some(step) = chain.steps.get(anchors) else { return };
                let conditions: Vec<&Condition> = step.compound.conditions().collect();
                for spot in &contexts {
                    let goes_on = match step.relation {
                        Relation::Descendant => self.below(spot, &conditions),
                        Relation::Child => self.children(spot, &conditions),
                    };
                    if !goes_on {
                        return;
                    }
                }
            }
            Rest::Pass => {
                let chains = std::slice::from_ref(chain);
                let Some(automaton) = Automaton::new(chains, anchors, self.axis.tree()) else {
                    return;
                };
                let walk = Walk {
                    automaton: &automaton,
                    axis: self.axis,
                    env: self.env,
                    scope: &Scope::ALL,
                    gave_up: Cell::new(false),
                };
                let state = automaton.start_below(relation_of_rest(chain, anchors));
                for spot in &contexts {
                    if !walk.below(spot, state, &mut |node| self.take(node)) {
                        return;
                    }
                }
            }
        }
    }

    fn children(&mut self, top: &Spot<'t>, conditions: &[&Condition]) -> bool {
        for spot in path::children(top, self.axis) {
            let is_match = conditions.iter().all(|each| each.holds(&spot, self.env));
            if is_match && !self.take_spot(&spot) {
                return false;
            }
        }
        true
    }

    /// Collects everything below a spot that satisfies the conditions; returns false when there is
    /// enough.
    fn below(&mut self, top: &Spot<'t>, conditions: &[&Condition]) -> bool {
        let asks =
            conditions.iter().any(|each| asks_place(each)) || self.keep.iter().any(asks_place);
        if asks || top.is_core {
            return self.below_with_places(top, conditions);
        }
        // The hot loop: the conditions depend only on the node itself.
        let all = conditions.iter().copied().chain(self.keep);
        let Some(scan) = Scan::new(all, self.axis.tree()) else { return true };
        let hint = if self.env.skips { scan.hint() } else { Hint::default() };
        let (found, enough) = (&mut self.found, self.enough);
        let goes_on = top.node.scan_below(scan.names(), hint, &mut |hits| {
            if scan.is_names_only() {
                self.env.charge(hits.versions().len() / 2);
                found.extend_from_slice(hits.versions());
            } else {
                self.env.charge(hits.versions().len() * scan.other_count());
                let nodes = hits.nodes().filter(|node| scan.others_hold(*node, self.env));
                found.extend(nodes.map(NodeRef::version));
            }
            found.len() < enough && !self.env.is_out()
        });
        found.truncate(enough);
        goes_on
    }

    /// Like [`Finder::below`], but tracks depth and level.
    fn below_with_places(&mut self, top: &Spot<'t>, conditions: &[&Condition]) -> bool {
        let mut stack = vec![path::children(top, self.axis).into_iter()];
        while let Some(children) = stack.last_mut() {
            let Some(spot) = children.next() else {
                stack.pop();
                continue;
            };
            self.env.charge(1 + conditions.len() + self.keep.len());
            let is_match = conditions.iter().all(|each| each.holds(&spot, self.env));
            if self.env.is_out() || (is_match && !self.take_spot(&spot)) {
                return false;
            }
            if spot.node.child_count() > 0 {
                stack.push(path::children(&spot, self.axis).into_iter());
            }
        }
        true
    }

    fn spot(&self, node: NodeRef<'t>) -> Spot<'t> {
        match node.class() {
            Class::Root => Spot { node, depth: None, level: 0, is_core: false },
            _ => Spot::of(node, self.axis),
        }
    }

    fn keeps(&self, node: NodeRef<'t>) -> bool {
        self.keep.is_empty() || {
            let asks = self.keep.iter().any(asks_place);
            let spot = if asks { self.spot(node) } else { Spot::anywhere(node) };
            self.keep.iter().all(|each| each.holds(&spot, self.env))
        }
    }

    /// Collects a node if it is to be kept; returns false when there is enough.
    fn take(&mut self, node: NodeRef<'t>) -> bool {
        if self.keeps(node) {
            self.found.push(node.version());
        }
        self.found.len() < self.enough
    }

    /// Sorts the results in document order, each node once.
    fn sort_in_document_order(&mut self) {
        // The place of a node takes longer to find than its version to compare.
        self.found.sort_unstable();
        self.found.dedup();
        let found = self.axis.tree().at_versions(self.found.drain(..));
        let mut keyed: Vec<_> = found.map(|node| (node.place(), node.version())).collect();
        keyed.sort_unstable();
        keyed.dedup();
        self.found = keyed.into_iter().map(|(_, version)| version).collect();
    }

    fn take_spot(&mut self, spot: &Spot<'t>) -> bool {
        if self.keep.iter().all(|each| each.holds(spot, self.env)) {
            self.found.push(spot.node.version());
        }
        self.found.len() < self.enough
    }
}

/// Returns the chains in groups that fit into an automaton each.
fn groups(chains: &[Chain]) -> Vec<&[Chain]> {
    let mut groups = Vec::new();
    let (mut begin, mut steps) = (0, 0);
    for (at, chain) in chains.iter().enumerate() {
        if steps + chain.steps.len() > MAX_STEPS && at > begin {
            groups.push(&chains[begin..at]);
            (begin, steps) = (at, 0);
        }
        steps += chain.steps.len();
    }
    groups.push(&chains[begin..]);
    groups
}

/// Returns whether a chain is one step that can be decided for each node on its own.
fn is_plain(chain: &Chain) -> bool {
    matches!(chain.steps.as_slice(), [step] if !step.is_zone)
}

/// Returns the nodes that a compound with a looked-up part can match, in document order.
fn look_up<'t>(compound: &Compound, axis: &Axis<'t>) -> Vec<Spot<'t>> {
    let tree = axis.tree();
    let mut sets = Vec::new();
    for condition in compound.conditions() {
        match condition {
            Condition::Id(id) => {
                return tree.get(id).map(|node| Spot::of(node, axis)).into_iter().collect();
            }
            Condition::Fixed(root) => {
                return tree
                    .resolve(root.as_str())
                    .map(|node| Spot::of(node, axis))
                    .into_iter()
                    .collect();
            }
            Condition::Depth(DepthOf::SealedTurn | DepthOf::Container, set) => sets.push(set),
            _ => {}
        }
    }
    let region = |depth: i64| {
        let wanted = sets.iter().all(|set| set.contains(depth));
        let node = axis.container(depth).filter(|_| wanted);
        node.map(|node| Spot { node, depth: Some(depth), level: 1, is_core: false })
    };
    let turns = axis.turns_in(&sets).into_iter().map(|(depth, node)| Spot {
        node,
        depth: Some(depth),
        level: 2,
        is_core: false,
    });
    region(-1).into_iter().chain(turns).chain(region(0)).collect()
}

/// `above` is sorted.
fn is_related(spot: &Spot<'_>, relation: Relation, above: &[NodeKey]) -> bool {
    let is_context = |node: NodeRef<'_>| above.binary_search(&node.key_of()).is_ok();
    match relation {
        Relation::Child => spot.node.parent().is_some_and(is_context),
        Relation::Descendant => spot.node.ancestors().any(is_context),
    }
}

fn is_below(node: NodeRef<'_>, scope: &Spot<'_>) -> bool {
    let top = scope.node.key_of();
    let mut below = node;
    for above in node.ancestors() {
        if above.key_of() == top {
            return !scope.is_core || super::spot::lies_in_core(below);
        }
        below = above;
    }
    false
}
