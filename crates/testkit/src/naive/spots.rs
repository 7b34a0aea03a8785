//! The tree as a list: every node and every elided core, in document order, with its parents.

use std::cmp::Ordering;

use contextree_selector::Edition;
use contextree_tree::{Class, Cycle, NodeRef, Region, TreeRef};

/// One entry of the list.
#[derive(Debug)]
pub(super) struct Place<'t> {
    /// The node; `None` for an elided core.
    pub(super) node: Option<NodeRef<'t>>,
    /// The real parent.
    pub(super) parent: Option<usize>,
    /// The elided core that contains the node.
    pub(super) core: Option<usize>,
    pub(super) level: usize,
    pub(super) depth: Option<i64>,
}

impl Place<'_> {
    pub(super) fn class(&self) -> Class {
        self.node.map_or(Class::Container, NodeRef::class)
    }
}

#[derive(Debug)]
pub(super) struct Spots<'t> {
    pub(super) places: Vec<Place<'t>>,
    pub(super) edition: Edition,
    pub(super) cycle: Option<Cycle>,
}

impl<'t> Spots<'t> {
    pub(super) fn new(tree: TreeRef<'t>, edition: Edition, cycle: Option<Cycle>) -> Self {
        let mut spots = Spots { places: Vec::new(), edition, cycle };
        let depths = depths(tree, edition);
        // The positions of the ancestors of the current node, by level.
        let mut way: Vec<usize> = Vec::new();
        for (level, node) in tree.nodes() {
            way.truncate(level);
            let parent = way.last().copied();
            let depth = match (level, node.as_region()) {
                (0, _) => None,
                (1, Some(Region::Sys)) => Some(-1),
                (1, Some(Region::Head)) => Some(0),
                (1, _) => None,
                (2, _) if parent.is_some_and(|at| spots.places[at].depth.is_none()) => {
                    depths.iter().find(|(turn, _)| turn.id() == node.id()).map(|(_, depth)| *depth)
                }
                _ => parent.and_then(|at| spots.places[at].depth),
            };
            let core = parent.and_then(|at| spots.core_for(at, node, level, depth));
            way.push(spots.places.len());
            spots.places.push(Place { node: Some(node), parent, core, level, depth });
        }
        spots
    }

    /// Inserts the elided core before the first child that does not precede it, and returns whether
    /// the child is in it.
    fn core_for(
        &mut self,
        parent: usize,
        child: NodeRef<'t>,
        level: usize,
        depth: Option<i64>,
    ) -> Option<usize> {
        let turn = self.places[parent].node?;
        if child.offset().signum() < 0 || !is_elided(turn) {
            return None;
        }
        let is_there = |place: &Place<'_>| place.node.is_none() && place.parent == Some(parent);
        let at = match self.places.iter().position(is_there) {
            Some(at) => at,
            None => {
                self.places.push(Place {
                    node: None,
                    parent: Some(parent),
                    core: None,
                    level,
                    depth,
                });
                self.places.len() - 1
            }
        };
        (child.class() == Class::Block && child.offset().signum() == 0).then_some(at)
    }

    /// Returns the positions of nodes.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.places.len()).filter(|at| self.places[*at].node.is_some())
    }

    pub(super) fn is_child(&self, at: usize, above: usize) -> bool {
        let place = &self.places[at];
        place.parent == Some(above) || place.core == Some(above)
    }

    pub(super) fn is_below(&self, at: usize, above: usize) -> bool {
        let mut now = Some(at);
        while let Some(place) = now {
            if self.is_child(place, above) {
                return true;
            }
            now = self.places[place].parent;
        }
        false
    }

    /// Returns whether this is a sealed turn, the head or the system region.
    pub(super) fn is_on_axis(&self, at: usize) -> bool {
        let place = &self.places[at];
        match place.level {
            1 => place.depth.is_some(),
            2 => place.class() == Class::Turn && place.depth.is_some_and(|depth| depth > 0),
            _ => false,
        }
    }

    /// ER-088: by depth 0, 1, 2, …, then the system region; then later stamps first; then by id.
    pub(super) fn newer_first(&self, left: usize, right: usize) -> Ordering {
        let age = |at: usize| match self.places[at].depth {
            Some(depth) if depth >= 0 => (0, depth),
            Some(depth) => (1, depth),
            None => (2, 0),
        };
        let node = |at: usize| self.places[at].node;
        age(left).cmp(&age(right)).then_with(|| match (node(left), node(right)) {
            (Some(left), Some(right)) => right
                .created_at_ns()
                .cmp(&left.created_at_ns())
                .then_with(|| right.creation_index().cmp(&left.creation_index()))
                .then_with(|| left.id().cmp(right.id())),
            _ => Ordering::Equal,
        })
    }
}

/// ER-001: blocks at offset 0, but no core.
pub(super) fn is_elided(turn: NodeRef<'_>) -> bool {
    let has_core = turn.children().any(NodeRef::is_core);
    turn.is_zoned()
        && !has_core
        && turn
            .children()
            .any(|child| child.class() == Class::Block && child.offset().signum() == 0)
}

/// Returns the depth of every child of `^seq`: one more than the number of newer ones.
fn depths(tree: TreeRef<'_>, edition: Edition) -> Vec<(NodeRef<'_>, i64)> {
    let turns: Vec<NodeRef<'_>> = tree.region(Region::Seq).children().collect();
    let stamps = |turn: &NodeRef<'_>| {
        (turn.offset(), turn.created_at_ns(), turn.creation_index(), turn.cycle())
    };
    let is_newer = |one: usize, other: usize| {
        let (low, high) = (one.min(other), one.max(other));
        let all_tie = turns[low..=high].iter().all(|turn| stamps(turn) == stamps(&turns[low]));
        if edition == Edition::V0_3 && all_tie { one < other } else { one > other }
    };
    (0..turns.len())
        .map(|at| {
            let newer =
                (0..turns.len()).filter(|other| *other != at && is_newer(*other, at)).count();
            (turns[at], newer as i64 + 1)
        })
        .collect()
}
