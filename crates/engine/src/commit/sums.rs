//! The size of the whole tree, kept from commit to commit, so that a commit within its limits does not visit the history.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use contextree_tree::diff::{Pair, written_unordered};
use contextree_tree::{Class, NodeRef, Region, Tree, TreeRef};

use super::Surroundings;
use crate::error::CommitError;
use crate::policy::{Limit, Measure, MeasureName, Policy};

/// Sums over the blocks of the last snapshot, by measure.
#[derive(Default)]
pub(crate) struct Sums(Mutex<BTreeMap<String, Sum>>);

impl fmt::Debug for Sums {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sums").finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Sum {
    /// What measured. Another measure of the same name starts again.
    by: Option<Arc<dyn Measure>>,
    tree: Tree,
    total: u64,
}

impl Sum {
    fn is_by(&self, measure: Option<&Arc<dyn Measure>>) -> bool {
        let place = |measure: &Arc<dyn Measure>| Arc::as_ptr(measure).cast::<()>();
        self.by.as_ref().map(place) == measure.map(place)
    }
}

impl Surroundings<'_> {
    /// Returns the size of a block.
    pub(super) fn size(
        &self,
        measure: &MeasureName,
        block: NodeRef<'_>,
    ) -> Result<u64, CommitError> {
        self.measures
            .measure(measure, block)
            .ok_or_else(|| CommitError::UnknownMeasure(measure.name().to_owned()))
    }

    /// Returns the size of all blocks below a node.
    fn size_below(&self, measure: &MeasureName, top: NodeRef<'_>) -> Result<u64, CommitError> {
        let mut total: u64 = 0;
        for (_, node) in top.subtree().filter(|(_, node)| node.class() == Class::Block) {
            total = total.saturating_add(self.size(measure, node)?);
        }
        Ok(total)
    }

    /// Returns the size of all blocks of a tree. Costs what differs from the last snapshot.
    fn total(&self, measure: &MeasureName, tree: TreeRef<'_>) -> Result<u64, CommitError> {
        let by = self.measures.named(measure);
        let kept = self.sums.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.get(measure.name()).filter(|sum| sum.is_by(by)).cloned();
        drop(kept);
        let Some(Sum { tree: last, mut total, .. }) = known else {
            let tops = Region::ALL.into_iter().map(|region| tree.region(region));
            return tops.map(|top| self.size_below(measure, top)).sum();
        };
        let size = |node: NodeRef<'_>| match node.class() {
            Class::Block => self.size(measure, node),
            _ => Ok(0),
        };
        for pair in written_unordered(last.view(), tree) {
            let (added, removed) = match pair {
                Pair::Added(node) => (size(node)?, 0),
                Pair::Removed(node) => (0, size(node)?),
                Pair::Both(before, after) => (size(after)?, size(before)?),
            };
            total = total.saturating_add(added).saturating_sub(removed);
        }
        Ok(total)
    }

    /// Returns the size of the whole: of all blocks, and of what there is besides them.
    pub(super) fn whole(
        &self,
        measure: &MeasureName,
        tree: TreeRef<'_>,
    ) -> Result<u64, CommitError> {
        Ok(self.total(measure, tree)?.saturating_add(self.measures.base(measure)))
    }

    /// Returns true if a tree is within all limits of a policy, so that nothing has to be pruned. False if that takes a closer look.
    pub(super) fn is_within(
        &self,
        policy: &Policy,
        tree: TreeRef<'_>,
    ) -> Result<bool, CommitError> {
        for limit in &policy.limits {
            let is_met = match limit {
                Limit::Total { measure, max } => self.whole(measure, tree)? <= *max,
                Limit::Region { region: Region::Seq, measure, max } => {
                    let mut size = self.total(measure, tree)?;
                    for other in [Region::Sys, Region::Head] {
                        let other = self.size_below(measure, tree.region(other))?;
                        size = size.saturating_sub(other);
                    }
                    size <= *max
                }
                Limit::Region { region, measure, max } => {
                    self.size_below(measure, tree.region(*region))? <= *max
                }
                // The head is about to become a turn.
                Limit::Depth(max) => (tree.turn_count() as u64) < (*max).max(1),
                Limit::Remove(count) => *count == 0,
                // It only adds to what other limits remove.
                Limit::ClearAtLeast { .. } => true,
                Limit::Turn { .. } => false,
            };
            if !is_met {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps the sums of a snapshot for the next commit.
    pub(super) fn keep_sums(&self, policy: &Policy, tree: &Tree) -> Result<(), CommitError> {
        for limit in &policy.limits {
            let (Limit::Total { measure, .. } | Limit::Region { measure, .. }) = limit else {
                continue;
            };
            let total = self.total(measure, tree.view())?;
            let by = self.measures.named(measure).cloned();
            let sum = Sum { by, tree: tree.clone(), total };
            let mut kept = self.sums.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(measure.name().to_owned(), sum);
        }
        Ok(())
    }
}
