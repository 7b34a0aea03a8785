//! Removes removable containers that have become empty.

use std::collections::{BTreeMap, BTreeSet};

use contextree_tree::{Class, NodeKey, NodeRef, TreeRef};

use super::{Progress, Surroundings};
use crate::error::CommitError;
use crate::refs::References;
use crate::work::Work;

impl Work<'_> {
    /// Removes empty removable containers, children before parents, until no further one may be
    /// removed. Removable are those that are marked, and those that a selector of the policy matches
    /// now; never a core.
    pub(super) fn cascade(
        &mut self,
        removable: &[String],
        around: &Surroundings<'_>,
        progress: &mut Progress,
    ) -> Result<(), CommitError> {
        let matched = self.matched("removable", removable, around.limits)?;
        let by_policy = ByPolicy::of(matched, self.draft.view());
        loop {
            let view = self.draft.view();
            let empty = by_policy.empty_in(view);
            if empty.is_empty() {
                return Ok(());
            }
            let references = References::of(view, around.handles);
            let free = empty.into_iter().find(|node| {
                references.holder(node.id(), |referrer| referrer == node.id()).is_none()
            });
            let Some(node) = free else { return Ok(()) };
            let (key, id) = (node.key_of(), node.id().to_owned());
            self.draft.remove(key);
            progress.cascaded.push(id);
        }
    }
}

/// The containers that a policy makes removable.
struct ByPolicy {
    nodes: BTreeSet<NodeKey>,
    /// The positions of all containers in document order, which removals do not change. Empty if the
    /// policy makes none removable.
    positions: BTreeMap<NodeKey, usize>,
}

impl ByPolicy {
    fn of(matched: Vec<NodeRef<'_>>, tree: TreeRef<'_>) -> Self {
        let is_meant = |node: &NodeRef<'_>| node.class() == Class::Container && !node.is_core();
        let nodes: BTreeSet<NodeKey> =
            matched.into_iter().filter(is_meant).map(NodeRef::key_of).collect();
        let positions = match nodes.is_empty() {
            true => BTreeMap::new(),
            false => tree
                .nodes()
                .map(|(_, node)| node)
                .filter(|node| node.class() == Class::Container)
                .enumerate()
                .map(|(position, node)| (node.key_of(), position))
                .collect(),
        };
        ByPolicy { nodes, positions }
    }

    /// Returns the removable containers without children, in document order.
    fn empty_in<'t>(&self, tree: TreeRef<'t>) -> Vec<NodeRef<'t>> {
        let mut empty = tree.empty_removable();
        if self.nodes.is_empty() {
            return empty;
        }
        let marked: BTreeSet<NodeKey> = empty.iter().map(|node| node.key_of()).collect();
        let others = self.nodes.iter().filter(|key| !marked.contains(key));
        empty.extend(others.filter_map(|key| tree.at(*key)).filter(|node| node.child_count() == 0));
        empty.sort_by_key(|node| self.positions.get(&node.key_of()).copied());
        empty
    }
}
