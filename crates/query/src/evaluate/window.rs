//! Windows over the final list: skip, limit, where (ER-092).

use contextree_tree::{NodeKey, NodeRef, TreeRef};

use super::{Env, evaluate_some};
use crate::plan::Plan;

/// The part of the results to return, applied after the selector's own controls: where, then skip,
/// then limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Number of results to skip.
    pub(crate) skip: usize,
    /// Maximum number of results.
    pub(crate) limit: Option<usize>,
    /// Only results that this matches in the same tree, or that are below such a match.
    pub(crate) filter: Option<Plan>,
}

impl Window {
    /// Returns how many results are enough, if no filter removes any.
    pub(crate) fn enough(&self) -> Option<usize> {
        match self.filter {
            Some(_) => None,
            None => self.limit.map(|limit| limit.saturating_add(self.skip)),
        }
    }

    /// Keeps the results that pass the filter.
    pub(crate) fn filtered<'t>(
        &self,
        nodes: Vec<NodeRef<'t>>,
        tree: TreeRef<'t>,
        env: &Env<'_>,
    ) -> Vec<NodeRef<'t>> {
        let Some(filter) = &self.filter else { return nodes };
        let mut keys: Vec<NodeKey> =
            evaluate_some(filter, tree, env, None).into_iter().map(NodeRef::key_of).collect();
        keys.sort_unstable();
        let is_found = |node: NodeRef<'_>| keys.binary_search(&node.key_of()).is_ok();
        nodes.into_iter().filter(|node| is_found(*node) || node.ancestors().any(is_found)).collect()
    }

    /// Applies skip and limit.
    pub(crate) fn cut<T>(&self, items: Vec<T>) -> Vec<T> {
        if self.skip == 0 && self.limit.is_none() {
            return items;
        }
        items.into_iter().skip(self.skip).take(self.limit.unwrap_or(usize::MAX)).collect()
    }
}
