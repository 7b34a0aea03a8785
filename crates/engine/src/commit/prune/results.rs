//! Clears tool results before anything is removed.

use contextree_tree::{NodeKey, NodeRef};

use super::{Block, Placeholders, Pruner, Scope, rank};
use crate::error::CommitError;
use crate::policy::MeasureName;

/// A result that may be cleared.
pub(super) struct ClearableResult<'a> {
    /// Its unit, and its index there.
    place: (usize, usize),
    placeholder: NodeRef<'a>,
    /// The limit that cleared it, if one did.
    limit: Option<usize>,
}

impl<'a> Pruner<'a> {
    /// Finds the results that may be cleared: those with a placeholder that are not protected.
    pub(super) fn find_results(&mut self, placeholders: Option<&'a Placeholders>) {
        let Some(placeholders) = placeholders else { return };
        for (unit, blocks) in self.units.iter().enumerate() {
            for (index, block) in blocks.iter().enumerate().filter(|(_, block)| !block.protected) {
                if let Some(placeholder) = placeholders.of(block.node) {
                    let place = (unit, index);
                    self.results.push(ClearableResult { place, placeholder, limit: None });
                }
            }
        }
        let node = |result: &ClearableResult<'a>| self.units[result.place.0][result.place.1].node;
        self.results.sort_by(|left, right| rank(node(left)).cmp(&rank(node(right))));
    }

    /// Clears results of a scope, in pruning order, until at least `wanted` is saved or none is left; returns what is saved.
    pub(super) fn clear_results(
        &mut self,
        scope: Scope<'a>,
        measure: &MeasureName,
        wanted: u64,
    ) -> Result<u64, CommitError> {
        let mut saved: u64 = 0;
        for index in 0..self.results.len() {
            if saved >= wanted {
                break;
            }
            let ClearableResult { place: (unit, at), placeholder, .. } = self.results[index];
            let block: &Block<'a> = &self.units[unit][at];
            let id = block.node.id();
            let is_open = !self.gone.contains(id) && !self.cleared.contains_key(id);
            if !is_open || !scope.has(block) || self.is_held(block.node, &|other| other == id) {
                continue;
            }
            let before = self.around.size(measure, block.node)?;
            let after = self.around.size(measure, placeholder)?;
            if after < before {
                saved += before - after;
                self.cleared.insert(id, placeholder);
                self.results[index].limit = Some(self.limit);
            }
        }
        Ok(saved)
    }

    /// Returns the results that are cleared and not removed, in pruning order, with the limit that cleared each.
    pub(super) fn cleared_results(&self) -> Vec<(NodeKey, usize)> {
        let node = |result: &ClearableResult<'a>| self.units[result.place.0][result.place.1].node;
        let cleared = self.results.iter().filter(|it| self.cleared.contains_key(node(it).id()));
        cleared.filter_map(|it| Some((node(it).key_of(), it.limit?))).collect()
    }
}
