//! Removes whole turns, with the tool calls that have a block in them.

use std::collections::BTreeSet;

use contextree_tree::{NodeRef, Region};

use super::{Block, Pruner, Scope};
use crate::report::Pruned;

impl<'a> Pruner<'a> {
    /// Removes whole turns, oldest first.
    pub(super) fn drop_turns(&mut self, max: u64) {
        let turns: Vec<NodeRef<'a>> = self.tree.region(Region::Seq).children().collect();
        let mut left = turns.len() - self.gone_turns.len();
        let mut from = 0;
        // The head is about to become a turn.
        while left as u64 >= max {
            let found = turns[from..].iter().enumerate().find_map(|(index, turn)| {
                let key = turn.key_of();
                let stays = self.gone_turns.contains(&key) || self.protected_turns.contains(&key);
                if stays { None } else { Some((from + index, *turn, self.companions(*turn)?)) }
            });
            let Some((index, turn, companions)) = found else {
                if left as u64 + 1 > max.max(1) {
                    self.miss(Scope::Total, left as u64 + 1);
                }
                return;
            };
            let frees = self.drop_turn(turn, companions);
            left -= 1;
            // A turn that had to stay can be removed later only if a removed node referred to it.
            from = if frees { 0 } else { index + 1 };
        }
    }

    /// Removes a whole turn and the units that must be removed with it; returns whether any of it
    /// referred to another node.
    fn drop_turn(&mut self, turn: NodeRef<'a>, companions: Vec<usize>) -> bool {
        let mut frees = false;
        let mut along = Vec::new();
        for (_, node) in turn.subtree() {
            frees |= self.references.refers(node.id());
            self.gone.insert(node.id());
            self.cleared.remove(node.id());
            along.push(node.id().to_owned());
        }
        // The turn itself is first.
        along.remove(0);
        self.gone_turns.insert(turn.key_of());
        self.removals.push(turn.key_of());
        self.pruned.push(Pruned { id: turn.id().to_owned(), limit: self.limit, with: None, along });
        for unit in companions {
            frees |= self.take_with(unit, Some(turn.id()));
        }
        frees
    }

    /// Returns the units that must be removed with a turn because they have blocks inside and
    /// outside of it; `None` if the turn must stay.
    fn companions(&self, turn: NodeRef<'a>) -> Option<Vec<usize>> {
        let within = |block: &Block<'a>| block.turn == Some(turn.key_of());
        let known = self.units_of_turn.get(&turn.key_of()).map_or(&[][..], Vec::as_slice);
        let shared: Vec<usize> = known
            .iter()
            .copied()
            .filter(|unit| {
                let unit = &self.units[*unit];
                !unit.iter().all(within)
                    && !unit.iter().all(|block| self.gone.contains(block.node.id()))
            })
            .collect();
        let inside: BTreeSet<&str> = turn.subtree().map(|(_, node)| node.id()).collect();
        let outside: BTreeSet<&str> = shared
            .iter()
            .flat_map(|unit| &self.units[*unit])
            .map(|block| block.node.id())
            .collect();
        let with = |id: &str| inside.contains(id) || outside.contains(id);
        let stays = |node: NodeRef<'a>| node.has_pin() || self.excluded.contains(node.id());
        let free = turn.subtree().all(|(_, node)| !stays(node) && !self.is_held(node, &with))
            && shared
                .iter()
                .flat_map(|unit| &self.units[*unit])
                .all(|block| self.may_go(block, &with));
        free.then_some(shared)
    }
}
