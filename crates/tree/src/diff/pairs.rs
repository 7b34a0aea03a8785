//! The nodes in which two trees may differ.

use std::collections::BTreeSet;

use crate::node::NodeRef;
use crate::row::NodeKey;
use crate::view::TreeRef;

/// A node of one tree, or of both.
#[derive(Clone, Copy, Debug)]
pub enum Pair<'a> {
    /// Only the newer tree has it.
    Added(NodeRef<'a>),
    /// Only the older tree has it.
    Removed(NodeRef<'a>),
    /// Both trees have it: older, newer. The two may still be equal.
    Both(NodeRef<'a>, NodeRef<'a>),
}

/// Returns every node that differs, and possibly some that do not: added and common ones in the
/// order of the newer tree, then the removed ones by id. The cost depends on what was written
/// between the two trees, not on their size.
#[must_use]
pub fn pairs<'a>(older: TreeRef<'a>, newer: TreeRef<'a>) -> Vec<Pair<'a>> {
    pairs_of(older, newer, true)
}

/// Like [`pairs`], but without nodes that only aged, that is, whose ttl decreased because of a
/// commit. The cost does not depend on the number of nodes with a ttl.
#[must_use]
pub fn written<'a>(older: TreeRef<'a>, newer: TreeRef<'a>) -> Vec<Pair<'a>> {
    pairs_of(older, newer, false)
}

fn pairs_of<'a>(older: TreeRef<'a>, newer: TreeRef<'a>, aged: bool) -> Vec<Pair<'a>> {
    let (mut present, mut removed) = if older.base.space.same_names(&newer.base.space) {
        related(older, newer, aged)
    } else {
        unrelated(older, newer)
    };
    removed.sort_by(|left, right| left.id().cmp(right.id()));
    present.extend(removed.into_iter().map(Pair::Removed));
    present
}

/// Like [`pairs`], but unordered: it skips looking up the positions of nodes, which is most of the
/// cost if many have a ttl.
#[must_use]
pub fn pairs_unordered<'a>(older: TreeRef<'a>, newer: TreeRef<'a>) -> Vec<Pair<'a>> {
    unordered(older, newer, true)
}

/// Like [`written`], but unordered: for sums over the changes.
#[must_use]
pub fn written_unordered<'a>(older: TreeRef<'a>, newer: TreeRef<'a>) -> Vec<Pair<'a>> {
    unordered(older, newer, false)
}

fn unordered<'a>(older: TreeRef<'a>, newer: TreeRef<'a>, aged: bool) -> Vec<Pair<'a>> {
    if older.base.space.same_names(&newer.base.space) {
        let nodes = different_nodes(older, newer, aged);
        return nodes.into_iter().filter_map(|node| pair(older, newer, node)).collect();
    }
    let (mut present, removed) = unrelated(older, newer);
    present.extend(removed.into_iter().map(Pair::Removed));
    present
}

/// Returns the nodes that have a row in only one of the trees.
fn written_nodes(older: TreeRef<'_>, newer: TreeRef<'_>) -> BTreeSet<NodeKey> {
    let common = older.common_rows(newer);
    let mut nodes = BTreeSet::new();
    for tree in [older, newer] {
        for number in common.up_to(tree.base.rows.plus(tree.overlay_len())) {
            let row = tree.row(number);
            if row.node != NodeKey::NONE {
                nodes.insert(row.node);
            }
        }
        nodes.extend(tree.overlay_removed());
    }
    nodes
}

fn pair<'a>(older: TreeRef<'a>, newer: TreeRef<'a>, node: NodeKey) -> Option<Pair<'a>> {
    let before = older.find(node);
    let after = newer.find(node);
    match (before, after) {
        (None, None) => None,
        (Some(before), None) => Some(Pair::Removed(before)),
        (None, Some(after)) => Some(Pair::Added(after)),
        (Some(before), Some(after)) => Some(Pair::Both(before, after)),
    }
}

/// Returns the nodes that have a row in only one of the trees. With `aged`, includes all nodes with
/// a ttl if the trees count ttls from different commits.
fn different_nodes(older: TreeRef<'_>, newer: TreeRef<'_>, aged: bool) -> BTreeSet<NodeKey> {
    let mut nodes = written_nodes(older, newer);
    if aged && older.base.next_cycle != newer.base.next_cycle {
        newer.mortal_nodes(&mut |row| {
            nodes.insert(newer.row(row).node);
        });
    }
    nodes
}

fn related<'a>(
    older: TreeRef<'a>,
    newer: TreeRef<'a>,
    aged: bool,
) -> (Vec<Pair<'a>>, Vec<NodeRef<'a>>) {
    let mut placed = Vec::new();
    let mut removed = Vec::new();
    for node in different_nodes(older, newer, aged) {
        match pair(older, newer, node) {
            None => {}
            Some(Pair::Removed(before)) => removed.push(before),
            Some(pair @ (Pair::Added(after) | Pair::Both(_, after))) => {
                placed.push((after.place(), pair));
            }
        }
    }
    placed.sort_by(|(left, _), (right, _)| left.cmp(right));
    (placed.into_iter().map(|(_, pair)| pair).collect(), removed)
}

fn unrelated<'a>(older: TreeRef<'a>, newer: TreeRef<'a>) -> (Vec<Pair<'a>>, Vec<NodeRef<'a>>) {
    let present = newer
        .nodes()
        .map(|(_, after)| match older.get(after.id()) {
            Some(before) => Pair::Both(before, after),
            None => Pair::Added(after),
        })
        .collect();
    let removed = older
        .nodes()
        .map(|(_, before)| before)
        .filter(|before| newer.get(before.id()).is_none())
        .collect();
    (present, removed)
}

impl<'a> TreeRef<'a> {
    /// Returns the number of rows that are not in the log yet.
    fn overlay_len(self) -> u32 {
        self.overlay.map_or(0, |overlay| overlay.len())
    }

    /// Returns the nodes that were removed since the last snapshot.
    fn overlay_removed(self) -> impl Iterator<Item = NodeKey> + use<'a> {
        self.overlay.into_iter().flat_map(|overlay| overlay.removed())
    }
}
