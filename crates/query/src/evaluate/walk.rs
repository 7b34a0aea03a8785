//! One pass over the tree, or over the parts of it that can match, in document order.

use std::cell::Cell;
use std::vec;

use contextree_selector::DepthSet;
use contextree_tree::{Class, NodeChildren, NodeRef, Region};

use super::automaton::{Automaton, Descent, State};
use super::condition::Env;
use super::pick::{Picked, Siblings};
use super::spot::Spot;
use crate::depth::{Axis, Turns};
use crate::resolve::Step;

/// The parts of a tree that can contain matches. The root and the regions themselves are always
/// included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Whether the system region is entered.
    pub(crate) sys: bool,
    /// Whether the head is entered.
    pub(crate) head: bool,
    /// The turns to enter: those whose depth is in all sets of one of the lists; `None` means all
    /// turns.
    pub(crate) turns: Option<Vec<Vec<DepthSet>>>,
}

impl Scope {
    /// Returns the whole tree.
    pub(crate) const ALL: Scope = Scope { sys: true, head: true, turns: None };

    /// Returns the turns in scope with their depths, in document order.
    fn turns_of<'t>(&self, axis: &Axis<'t>) -> Source<'t> {
        match self.turns.as_deref() {
            None => Source::Turns(axis.turns()),
            Some([sets]) => {
                let sets: Vec<&DepthSet> = sets.iter().collect();
                Source::List(axis.turns_in(&sets).into_iter())
            }
            Some([]) => Source::List(Vec::new().into_iter()),
            Some(lists) => {
                let wanted = |depth: i64| {
                    lists.iter().any(|sets| sets.iter().all(|set| set.contains(depth)))
                };
                let turns: Vec<_> = axis.turns().filter(|(depth, _)| wanted(*depth)).collect();
                Source::List(turns.into_iter())
            }
        }
    }

    fn has(&self, region: Region) -> bool {
        match region {
            Region::Sys => self.sys,
            Region::Head => self.head,
            Region::Seq => self.turns.as_ref().is_none_or(|lists| !lists.is_empty()),
        }
    }
}

/// Children still to be visited, with their depth if it differs from their parent's.
enum Source<'t> {
    Children(NodeChildren<'t>),
    Turns(Turns<'t>),
    List(vec::IntoIter<(i64, NodeRef<'t>)>),
    Picked(vec::IntoIter<(Option<i64>, NodeRef<'t>)>),
}

struct Level<'t> {
    source: Source<'t>,
    descent: Descent,
    depth: Option<i64>,
    /// The nodes picked among the children.
    picked: Vec<Picked<'t>>,
}

/// A pass over a tree that reports every match until it is told to stop.
pub(crate) struct Walk<'w, 't> {
    pub(crate) automaton: &'w Automaton<'w>,
    pub(crate) axis: &'w Axis<'t>,
    pub(crate) env: &'w Env<'w>,
    pub(crate) scope: &'w Scope,
    /// Set if a turn without a core was found where a step has picks: its siblings include an
    /// elided core, which is not a node, and the walk is abandoned.
    pub(crate) gave_up: Cell<bool>,
}

impl<'t> Walk<'_, 't> {
    /// Walks the whole tree, as far as it is in scope.
    pub(crate) fn tree(&self, found: &mut impl FnMut(NodeRef<'t>) -> bool) {
        let root = Spot { node: self.axis.tree().root(), depth: None, level: 0, is_core: false };
        let start = self.automaton.start();
        let picks = self.automaton.open_picks(start);
        let picked: Vec<Picked<'t>> = picks
            .filter_map(|(step, Step { compound, .. })| {
                let node = self.pick(compound, Siblings::Forwards(std::iter::once(root)))?;
                Some(Picked { step, node })
            })
            .collect();
        let (state, is_match) = self.automaton.enter_picked(start, &root, false, self.env, &picked);
        if is_match && !found(root.node) {
            return;
        }
        self.below(&root, state, found);
    }

    /// Walks everything below a spot with this state; returns false if it was stopped.
    pub(crate) fn below(
        &self,
        top: &Spot<'t>,
        state: State,
        found: &mut impl FnMut(NodeRef<'t>) -> bool,
    ) -> bool {
        let is_plain = !self.automaton.asks_place() && !self.automaton.has_picks();
        if *self.scope == Scope::ALL && is_plain {
            self.below_by_hint(top, state, found)
        } else {
            self.below_with_places(top, state, found)
        }
    }

    /// Uses the tree's own walk, which skips what its summaries exclude.
    fn below_by_hint(
        &self,
        top: &Spot<'t>,
        state: State,
        found: &mut impl FnMut(NodeRef<'t>) -> bool,
    ) -> bool {
        let Some(hint) = self.automaton.hint() else { return true };
        let mut way: Vec<Descent> = vec![self.automaton.descend(top, state, self.env)];
        for (level, node) in top.node.subtree_with(hint).skip(1) {
            way.truncate(level);
            if self.env.is_out() {
                return false;
            }
            let above = way.last().copied().unwrap_or(Descent::DEAD);
            if above.is_dead() {
                way.push(Descent::DEAD);
                continue;
            }
            let spot = Spot { node, depth: None, level, is_core: false };
            let from = above.state_for(node);
            let (state, is_match) = self.automaton.enter(from, &spot, above.is_zoned, self.env);
            if is_match && !found(node) {
                return false;
            }
            way.push(self.automaton.descend(&spot, state, self.env));
        }
        true
    }

    /// Walks while tracking depth and level, and enters only what is in scope.
    fn below_with_places(
        &self,
        top: &Spot<'t>,
        state: State,
        found: &mut impl FnMut(NodeRef<'t>) -> bool,
    ) -> bool {
        let mut stack: Vec<Level<'t>> = Vec::new();
        stack.extend(self.level(top, state));
        let base = top.level + 1;
        while let Some(at) = stack.len().checked_sub(1)
            && let Some(level) = stack.get_mut(at)
            && !self.gave_up.get()
            && !self.env.is_out()
        {
            let next = match &mut level.source {
                Source::Children(children) => children.next().map(|node| (level.depth, node)),
                Source::Turns(turns) => turns.next().map(|(depth, node)| (Some(depth), node)),
                Source::List(list) => list.next().map(|(depth, node)| (Some(depth), node)),
                Source::Picked(list) => list.next(),
            };
            let descent = level.descent;
            let Some((depth, node)) = next else {
                stack.pop();
                continue;
            };
            let region = if node.class() == Class::Region { node.as_region() } else { None };
            let depth = match region {
                Some(region) => Axis::region_depth(region),
                None => depth,
            };
            let spot = Spot { node, depth, level: base + at, is_core: false };
            let from = descent.state_for(node);
            let (state, is_match) =
                self.automaton.enter_picked(from, &spot, descent.is_zoned, self.env, &level.picked);
            if is_match && !found(node) {
                return false;
            }
            stack.extend(self.level(&spot, state));
        }
        true
    }

    /// Returns the children of a spot, unless none of them can match.
    fn level(&self, spot: &Spot<'t>, state: State) -> Option<Level<'t>> {
        let node = spot.node;
        if state.is_dead() || (node.class() == Class::Block && node.child_count() == 0) {
            return None;
        }
        let descent = self.automaton.descend(spot, state, self.env);
        if descent.is_dead() {
            return None;
        }
        let mut picked = Vec::new();
        if self.automaton.has_picks() {
            if descent.core.is_some() {
                self.gave_up.set(true);
                return None;
            }
            picked = self.picked_below(spot, descent);
            if self.automaton.opens_picks_only(descent.state, node) {
                let source = Source::Picked(self.places_of(&picked, spot).into_iter());
                return Some(Level { source, descent, depth: spot.depth, picked });
            }
        }
        let source = match if node.class() == Class::Region { node.as_region() } else { None } {
            Some(region) if !self.scope.has(region) => return None,
            Some(Region::Seq) => self.scope.turns_of(self.axis),
            _ => Source::Children(node.children()),
        };
        Some(Level { source, descent, depth: spot.depth, picked })
    }

    fn picked_below(&self, top: &Spot<'t>, descent: Descent) -> Vec<Picked<'t>> {
        let picks = self.automaton.open_picks(descent.state);
        picks
            .filter_map(|(step, Step { compound, .. })| {
                Some(Picked { step, node: self.pick_below(compound, top)? })
            })
            .collect()
    }

    /// Returns the picked nodes in document order, with their depths if these are needed.
    fn places_of(&self, picked: &[Picked<'t>], top: &Spot<'t>) -> Vec<(Option<i64>, NodeRef<'t>)> {
        let mut nodes: Vec<NodeRef<'t>> = picked.iter().map(|each| each.node).collect();
        if nodes.len() > 1 {
            nodes.sort_by_cached_key(|node| node.position());
            nodes.dedup();
        }
        let is_sequence = top.node.class() == Class::Region && top.depth.is_none();
        let depth = |node: &NodeRef<'t>| match is_sequence && self.automaton.asks_place() {
            true => Some(self.axis.depth_at(node.position())),
            false => top.depth,
        };
        nodes.iter().map(|node| (depth(node), *node)).collect()
    }
}
