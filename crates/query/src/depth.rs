//! The depth axis: −1 is the system region, 0 the head, 1 the newest turn, 2 the one before it.
//!
//! Every child of `^seq` has a position on the axis, so a depth is looked up by counting from the
//! end, without a walk. Turns with equal stamps are the one complication: in edition 0.3 the
//! smaller id is the newer one, against document order (switch S6). Such ties occur only in
//! documents without headers.

use std::collections::VecDeque;

use contextree_selector::DepthSet;
use contextree_tree::{NodeChildren, NodeRef, Region, TreeRef};

use crate::resolve::Recency;

/// The depth axis of one tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis<'t> {
    tree: TreeRef<'t>,
    sequence: NodeRef<'t>,
    len: usize,
    recency: Recency,
}

impl<'t> Axis<'t> {
    pub(crate) fn new(tree: TreeRef<'t>, recency: Recency) -> Self {
        Axis { tree, sequence: tree.region(Region::Seq), len: tree.turn_count(), recency }
    }

    pub(crate) fn tree(&self) -> TreeRef<'t> {
        self.tree
    }

    /// Returns the depth of the child of `^seq` at a position.
    pub(crate) fn depth_at(&self, position: usize) -> i64 {
        (self.len - self.mirrored(position)) as i64
    }

    /// Returns the node on the axis at a depth.
    pub(crate) fn container(&self, depth: i64) -> Option<NodeRef<'t>> {
        match depth {
            -1 => Some(self.tree.region(Region::Sys)),
            0 => Some(self.tree.region(Region::Head)),
            1.. => {
                let position = self.len.checked_sub(usize::try_from(depth).ok()?)?;
                self.sequence.child(self.mirrored(position))
            }
            _ => None,
        }
    }

    /// Returns the depth of a region; `None` for `^seq`.
    pub(crate) fn region_depth(region: Region) -> Option<i64> {
        match region {
            Region::Sys => Some(-1),
            Region::Head => Some(0),
            Region::Seq => None,
        }
    }

    /// Returns the children of `^seq` with their depths, in document order.
    pub(crate) fn turns(&self) -> Turns<'t> {
        Turns {
            children: self.sequence.children(),
            ahead: None,
            run: VecDeque::new(),
            older: self.len as i64,
            recency: self.recency,
        }
    }

    /// Returns the children of `^seq` whose depth is in all sets, in document order. Few depths are
    /// looked up one by one.
    pub(crate) fn turns_in(&self, sets: &[&DepthSet]) -> Vec<(i64, NodeRef<'t>)> {
        let wanted = |depth: i64| sets.iter().all(|set| set.contains(depth));
        let last = self.len as i64;
        let narrow = |set: &&DepthSet| -> i64 {
            intervals(set, last).iter().map(|(low, high)| high - low + 1).sum()
        };
        let Some(narrowest) = sets.iter().min_by_key(|set| narrow(set)) else {
            return self.turns().collect();
        };
        if narrow(narrowest) > last / 4 + 1 || self.has_ties_near_the_end() {
            return self.turns().filter(|(depth, _)| wanted(*depth)).collect();
        }
        let intervals = intervals(narrowest, last).into_iter().rev();
        let depths = intervals.flat_map(|(low, high)| (low..=high).rev());
        let mut found: Vec<(i64, NodeRef<'t>)> = depths
            .filter(|depth| wanted(*depth))
            .filter_map(|depth| Some((depth, self.container(depth)?)))
            .collect();
        // Older turns are earlier in the document, except among turns with equal stamps.
        let upset = |pair: &[(i64, NodeRef<'t>)]| matches!(pair, [one, two] if ties(one.1, two.1));
        if self.recency == Recency::SmallerId && found.windows(2).any(upset) {
            found.sort_by_cached_key(|(_, turn)| turn.position());
        }
        found
    }

    /// Returns whether the newest turns have equal stamps. This happens in documents without
    /// headers, where all turns do. A lookup would then walk the whole sequence of ties, so all
    /// depths are computed at once instead.
    fn has_ties_near_the_end(&self) -> bool {
        self.recency == Recency::SmallerId && {
            let mut newest = self.sequence.children_rev().take(2);
            matches!((newest.next(), newest.next()), (Some(one), Some(other)) if ties(one, other))
        }
    }

    /// Returns the mirrored position: among turns with equal stamps, age runs against document
    /// order.
    fn mirrored(&self, position: usize) -> usize {
        if self.recency == Recency::LargerId {
            return position;
        }
        let Some(node) = self.sequence.child(position) else { return position };
        let tied = |at: &usize| self.sequence.child(*at).is_some_and(|other| ties(node, other));
        let before = (0..position).rev().take_while(tied).count();
        let after = (position + 1..self.len).take_while(tied).count();
        position - before + after
    }
}

/// Turns with their depths, in document order.
#[derive(Debug)]
pub(crate) struct Turns<'t> {
    children: NodeChildren<'t>,
    ahead: Option<NodeRef<'t>>,
    run: VecDeque<(i64, NodeRef<'t>)>,
    /// The depth of the oldest remaining turn.
    older: i64,
    recency: Recency,
}

impl<'t> Iterator for Turns<'t> {
    type Item = (i64, NodeRef<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(turn) = self.run.pop_front() {
            return Some(turn);
        }
        let first = self.ahead.take().or_else(|| self.children.next())?;
        if self.recency == Recency::LargerId {
            self.older -= 1;
            return Some((self.older + 1, first));
        }
        self.run.push_back((0, first));
        for next in self.children.by_ref() {
            if !ties(first, next) {
                self.ahead = Some(next);
                break;
            }
            self.run.push_back((0, next));
        }
        let newest = self.older - self.run.len() as i64 + 1;
        for (place, turn) in self.run.iter_mut().enumerate() {
            turn.0 = newest + place as i64;
        }
        self.older = newest - 1;
        self.run.pop_front()
    }
}

/// Returns whether only the ids decide which of two turns is newer.
fn ties(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    one.created_at_ns() == other.created_at_ns()
        && one.creation_index() == other.creation_index()
        && one.cycle() == other.cycle()
        && one.offset() == other.offset()
}

/// Returns the depths of turns in a set as ascending, disjoint intervals.
fn intervals(set: &DepthSet, last: i64) -> Vec<(i64, i64)> {
    let mut parts: Vec<(i64, i64)> = set
        .items
        .iter()
        .filter_map(|item| item.bounds())
        .map(|(low, high)| (low.max(1), high.min(last)))
        .filter(|(low, high)| low <= high)
        .collect();
    parts.sort_unstable();
    let mut merged: Vec<(i64, i64)> = Vec::with_capacity(parts.len());
    for (low, high) in parts {
        match merged.last_mut() {
            Some(before) if low <= before.1.saturating_add(1) => before.1 = before.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}
