//! Picks in one pass: `:first`, `:last` and `:nth` are decided among the children of a node when a
//! walk reaches them.
//!
//! A pick without a key chooses among siblings, so the path to a node and its siblings decide it.
//! `:first` stops at the first sibling that satisfies the parts to its left; `:last` starts at the
//! end.

use contextree_tree::{Class, NodeRef};

use super::spot::Spot;
use super::walk::Walk;
use crate::depth::Axis;
use crate::plan::asks_place;
use crate::resolve::{Compound, Condition, Part, Pick};

/// The node that a step picks among siblings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picked<'t> {
    pub(super) step: usize,
    pub(super) node: NodeRef<'t>,
}

impl Compound {
    /// Returns whether every node that satisfies the compound is a turn.
    pub(super) fn is_turn(&self) -> bool {
        self.conditions().any(|condition| *condition == Condition::Class(Class::Turn))
    }

    /// Returns the parts to the left of the first pick, the pick, and the parts to its right.
    fn around_pick(&self) -> Option<(&[Part], Pick, &[Part])> {
        let at = self.parts.iter().position(|part| matches!(part, Part::Pick(_)))?;
        match self.parts.split_at_checked(at)? {
            (left, [Part::Pick(pick), right @ ..]) => Some((left, *pick, right)),
            _ => None,
        }
    }
}

impl<'t> Walk<'_, 't> {
    /// Returns the node that a step picks among the children of a spot.
    pub(super) fn pick_below(&self, compound: &Compound, top: &Spot<'t>) -> Option<NodeRef<'t>> {
        let level = top.level + 1;
        let is_sequence = top.node.class() == Class::Region && top.depth.is_none();
        let asks = compound.conditions().any(asks_place);
        if is_sequence && asks {
            let turns = self.axis.turns();
            let spots =
                turns.map(|(depth, node)| Spot { node, depth: Some(depth), level, is_core: false });
            return self.pick(compound, Siblings::Forwards(spots));
        }
        let spot = move |node: NodeRef<'t>| {
            let depth = match node.as_region() {
                Some(region) if level == 1 => Axis::region_depth(region),
                _ => top.depth,
            };
            Spot { node, depth, level, is_core: false }
        };
        match compound.around_pick()? {
            (_, Pick::Last, _) if top.node.class() != Class::Root => {
                self.pick(compound, Siblings::Backwards(top.node.children_rev().map(spot)))
            }
            _ => self.pick(compound, Siblings::Forwards(top.node.children().map(spot))),
        }
    }

    /// Returns the node that a step picks among siblings.
    pub(super) fn pick<S: Iterator<Item = Spot<'t>>>(
        &self,
        compound: &Compound,
        siblings: Siblings<S>,
    ) -> Option<NodeRef<'t>> {
        let (left, pick, right) = compound.around_pick()?;
        let satisfies = |spot: &Spot<'t>| {
            self.env.charge(1 + left.len());
            left.iter().all(|part| match part {
                Part::Test(condition) => condition.holds(spot, self.env),
                Part::Pick(_) => true,
            })
        };
        let chosen = match (siblings, pick) {
            (Siblings::Backwards(mut spots), _) => spots.find(satisfies),
            (Siblings::Forwards(mut spots), Pick::First) => spots.find(satisfies),
            (Siblings::Forwards(spots), Pick::Last) => spots.filter(satisfies).last(),
            (Siblings::Forwards(spots), Pick::Nth(number)) => {
                let before = usize::try_from(number).ok()?.checked_sub(1)?;
                spots.filter(satisfies).nth(before)
            }
        }?;
        // One node is left, which is the first, the last and number 1.
        let stays = right.iter().all(|part| match part {
            Part::Test(condition) => condition.holds(&chosen, self.env),
            Part::Pick(Pick::Nth(number)) => *number == 1,
            Part::Pick(Pick::First | Pick::Last) => true,
        });
        stays.then_some(chosen.node)
    }
}

/// Siblings, in document order or reversed.
pub(super) enum Siblings<S> {
    /// All of them, in document order.
    Forwards(S),
    /// The same, last one first; only if the last one is picked.
    Backwards(S),
}
