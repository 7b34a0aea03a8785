//! Counts one snapshot after another; only changes are counted again.

use std::collections::BTreeSet;
use std::sync::Arc;

use contextree_tree::diff::{Pair, written_unordered};
use contextree_tree::{Class, Cycle, NodeRef, Tree, TreeRef};

use crate::breakdown::{Breakdown, By, Count, Group, Sums};
use crate::counter::TokenCounter;

/// Keeps the sums of the last snapshot.
///
/// The next snapshot costs only what changed between the two: if the history grew by one turn, that
/// turn, however long the history is.
#[derive(Debug)]
pub struct Tally {
    counter: Arc<TokenCounter>,
    last: Option<Tree>,
    sums: Sums,
}

impl Tally {
    /// Creates an empty tally.
    #[must_use]
    pub fn new(counter: Arc<TokenCounter>) -> Self {
        Tally { counter, last: None, sums: Sums::default() }
    }

    /// Returns the tokens and blocks of a snapshot: the same as the total of
    /// [`breakdown`](crate::breakdown()).
    pub fn update(&mut self, tree: &Tree) -> Count {
        match self.last.take() {
            Some(last) => self.follow(last.view(), tree.view()),
            None => {
                for (_, block) in tree.view().nodes() {
                    self.count(block, true);
                }
            }
        }
        self.last = Some(tree.clone());
        self.sums.total
    }

    /// Returns the breakdown of the last snapshot; `None` before the first.
    #[must_use]
    pub fn breakdown(&self) -> Option<Breakdown> {
        Some(self.sums.breakdown(self.last.as_ref()?.view()))
    }

    /// Returns one grouping of the last snapshot; empty before the first. Cheaper than the whole
    /// breakdown, because a grouping by turn is as long as the history.
    #[must_use]
    pub fn groups(&self, by: By) -> Vec<Group> {
        self.last.as_ref().map_or_else(Vec::new, |last| self.sums.groups(by, last.view()))
    }

    /// Updates the sums from the older tree to the newer one.
    fn follow(&mut self, older: TreeRef<'_>, newer: TreeRef<'_>) {
        let mut moved = Vec::new();
        for pair in written_unordered(older, newer) {
            match pair {
                Pair::Added(node) => self.count(node, true),
                Pair::Removed(node) => self.count(node, false),
                Pair::Both(before, after) => {
                    if before.parent_id() != after.parent_id() && before.class() != Class::Block {
                        moved.push((before, after));
                    }
                    self.count(before, false);
                    self.count(after, true);
                }
            }
        }
        if !moved.is_empty() {
            self.follow_moves(older, newer, &moved);
        }
    }

    /// Updates blocks in a container that moved: their turn or region changed, although they were
    /// not edited.
    fn follow_moves(
        &mut self,
        older: TreeRef<'_>,
        newer: TreeRef<'_>,
        moved: &[(NodeRef<'_>, NodeRef<'_>)],
    ) {
        let written: BTreeSet<String> = written_unordered(older, newer)
            .into_iter()
            .map(|pair| match pair {
                Pair::Added(node) | Pair::Removed(node) | Pair::Both(_, node) => node.id().into(),
            })
            .collect();
        let mut seen = BTreeSet::new();
        for (before, after) in moved {
            for (_, node) in before.subtree().chain(after.subtree()) {
                if written.contains(node.id()) || !seen.insert(node.id().to_owned()) {
                    continue;
                }
                if let Some(node) = older.get(node.id()) {
                    self.count(node, false);
                }
                if let Some(node) = newer.get(node.id()) {
                    self.count(node, true);
                }
            }
        }
    }

    fn count(&mut self, node: NodeRef<'_>, comes: bool) {
        if node.class() != Class::Block {
            return;
        }
        let Some(region) = node.region() else { return };
        let measured = self.counter.measure_node(node);
        if comes {
            self.sums.add(node, region, measured);
        } else {
            self.sums.take(node, region, measured);
        }
    }
}

/// The tokens of one snapshot of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The number of the commit.
    pub cycle: Cycle,
    /// The whole snapshot.
    pub total: Count,
    /// The requested grouping.
    pub groups: Vec<Group>,
}

/// Returns the tokens of each of these snapshots, which are given oldest first.
pub fn over_time<'t>(
    snapshots: impl IntoIterator<Item = &'t Tree>,
    counter: &Arc<TokenCounter>,
    by: By,
) -> impl Iterator<Item = Moment> {
    let mut tally = Tally::new(Arc::clone(counter));
    snapshots.into_iter().map(move |tree| {
        let total = tally.update(tree);
        let cycle = tree.view().next_cycle().previous();
        Moment { cycle, total, groups: tally.groups(by) }
    })
}
