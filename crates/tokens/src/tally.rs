//! The tokens of one snapshot after another, counting only what changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use contextree_tree::diff::{Pair, written_unordered};
use contextree_tree::{Class, NodeRef, Tree, TreeRef};

use crate::breakdown::{Breakdown, By, Count, Group, Sums};
use crate::counter::TokenCounter;

/// Keeps the sums of the snapshot that it saw last.
///
/// The next snapshot costs what was written between the two: a history that grew by one turn costs that turn, however long it is.
#[derive(Debug)]
pub struct Tally {
    counter: Arc<TokenCounter>,
    last: Option<Tree>,
    sums: Sums,
}

impl Tally {
    /// Returns a tally that has seen nothing yet.
    #[must_use]
    pub fn new(counter: Arc<TokenCounter>) -> Self {
        Tally { counter, last: None, sums: Sums::default() }
    }

    /// Returns the tokens and blocks of a snapshot: the same as [`breakdown`](crate::breakdown())'s total.
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

    /// Returns what the snapshot that was seen last is made of; nothing before the first.
    #[must_use]
    pub fn breakdown(&self) -> Option<Breakdown> {
        Some(self.sums.breakdown(self.last.as_ref()?.view()))
    }

    /// Returns one grouping of the snapshot that was seen last; nothing before the first. Cheaper than all of them: a grouping by turn is
    /// as long as the history.
    #[must_use]
    pub fn groups(&self, by: By) -> Vec<Group> {
        self.last.as_ref().map_or_else(Vec::new, |last| self.sums.groups(by, last.view()))
    }

    /// Goes from the older tree to the newer one.
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

    /// Blocks below a container that moved stand in another turn, or region, without having been written themselves.
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

/// One snapshot of a history, in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The number of the commit.
    pub cycle: u32,
    /// All of it.
    pub total: Count,
    /// The grouping that was asked for.
    pub groups: Vec<Group>,
}

/// Returns what each of some snapshots is made of, one by one; they are given oldest first.
pub fn over_time<'t>(
    snapshots: impl IntoIterator<Item = &'t Tree>,
    counter: &Arc<TokenCounter>,
    by: By,
) -> impl Iterator<Item = Moment> {
    let mut tally = Tally::new(Arc::clone(counter));
    snapshots.into_iter().map(move |tree| {
        let total = tally.update(tree);
        let cycle = tree.view().next_cycle().saturating_sub(1);
        Moment { cycle, total, groups: tally.groups(by) }
    })
}
