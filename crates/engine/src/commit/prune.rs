//! Step 3: removes blocks by priority, age and id until the limits of a policy are met.

mod results;
mod turns;

use std::collections::{BTreeMap, BTreeSet};

use contextree_tree::{Class, NodeKey, NodeRef, Region, Scalar, TreeRef};

use super::clear::Placeholders;
use super::units::units;
use super::{Progress, Summary, Surroundings};
use crate::call::newest_user_blocks;
use crate::error::CommitError;
use crate::policy::{Limit, MeasureName, Policy};
use crate::refs::References;
use crate::report::{Cleared, Pruned, Unmet};
use crate::work::Work;
use results::ClearableResult;

/// Returns nodes in pruning order: lowest priority first, then oldest, then by id.
#[must_use]
pub fn prune_order(mut nodes: Vec<NodeRef<'_>>) -> Vec<NodeRef<'_>> {
    nodes.sort_by(|left, right| rank(*left).cmp(&rank(*right)));
    nodes
}

pub(super) fn rank(node: NodeRef<'_>) -> (Scalar, i64, &str) {
    (node.pruning_priority(), node.created_at_ns(), node.id())
}

impl Work<'_> {
    pub(super) fn prune(
        &mut self,
        policy: &Policy,
        summary: Option<&Summary>,
        around: &Surroundings<'_>,
        progress: &mut Progress,
    ) -> Result<(), CommitError> {
        if around.is_within(policy, self.draft.view())? {
            summary.map_or(Ok(()), |summary| summary.check(&[]))?;
            return self.check_selectors("exclude", &policy.exclude);
        }
        let excluded = self.matched("exclude", &policy.exclude, around.limits)?;
        let mut excluded: BTreeSet<String> = excluded
            .into_iter()
            .flat_map(NodeRef::subtree)
            .map(|(_, node)| node.id().to_owned())
            .collect();
        if policy.protect_user {
            excluded.extend(newest_user_message(self.draft.view()));
        }
        let placeholders = policy.clear.as_ref().map(|clear| self.placeholders(clear));
        let mut pruner = Pruner::new(self.draft.view(), policy, around, &excluded);
        pruner.find_results(placeholders.as_ref());
        for (index, limit) in policy.limits.iter().enumerate() {
            pruner.limit = index;
            pruner.apply(limit)?;
        }
        let cleared = pruner.cleared_results();
        let Pruner { removals, pruned, unmet, .. } = pruner;
        let spot = match summary {
            Some(summary) => {
                summary.check(&pruned)?;
                (!removals.is_empty()).then(|| self.spot(&removals))
            }
            None => None,
        };
        for key in removals {
            if self.draft.view().contains(key) {
                self.draft.remove(key);
            }
        }
        for (result, limit) in cleared {
            let id = self.draft.view().at(result).map(|node| node.id().to_owned());
            let placeholder = policy.clear.as_ref().and_then(|clear| self.clear(result, clear));
            if let (Some(id), Some(placeholder)) = (id, placeholder) {
                progress.cleared.push(Cleared { id, placeholder, limit });
            }
        }
        if let (Some(spot), Some(summary)) = (spot, summary) {
            let (key, id) = self.summarize(spot, summary);
            self.check_summary(key, policy, around, &unmet)?;
            progress.summary = Some(id);
        }
        progress.pruned = pruned;
        progress.unmet = unmet;
        Ok(())
    }

    /// Fails if a limit of the whole, which was met, is exceeded because of a summary.
    fn check_summary(
        &self,
        summary: NodeKey,
        policy: &Policy,
        around: &Surroundings<'_>,
        unmet: &[Unmet],
    ) -> Result<(), CommitError> {
        let view = self.draft.view();
        let Some(node) = view.at(summary) else { return Ok(()) };
        for (index, limit) in policy.limits.iter().enumerate() {
            let Limit::Total { measure, max } = limit else { continue };
            let size = around.size(measure, node)?;
            let whole = around.whole(measure, view)?;
            if whole > *max && unmet.iter().all(|unmet| unmet.limit != index) {
                let free = max.saturating_sub(whole.saturating_sub(size));
                return Err(CommitError::SummaryTooLong { size, free });
            }
        }
        Ok(())
    }
}

/// Returns the ids of the blocks of the newest user message; none if there is no user message.
fn newest_user_message(tree: TreeRef<'_>) -> Vec<String> {
    let head = tree.region(Region::Head);
    let turns = [head].into_iter().chain(tree.region(Region::Seq).children_rev());
    let blocks = turns.map(|turn| newest_user_blocks(turn).collect::<Vec<_>>());
    let newest = blocks.into_iter().find(|blocks| !blocks.is_empty()).unwrap_or_default();
    newest.into_iter().map(|block| block.id().to_owned()).collect()
}

/// A block that could be pruned.
pub(super) struct Block<'a> {
    pub(super) node: NodeRef<'a>,
    region: Region,
    /// The turn, or the head, that contains it; `None` in `^sys`.
    turn: Option<NodeKey>,
    /// Pinned, excluded, or in one of the newest turns.
    protected: bool,
}

/// The scope of a limit.
#[derive(Clone, Copy)]
enum Scope<'a> {
    Total,
    Region(Region),
    Turn(NodeRef<'a>),
}

impl Scope<'_> {
    fn has(self, block: &Block<'_>) -> bool {
        match self {
            Scope::Total => true,
            Scope::Region(region) => block.region == region,
            Scope::Turn(turn) => block.turn == Some(turn.key_of()),
        }
    }

    fn name(self) -> String {
        match self {
            Scope::Total => String::new(),
            Scope::Region(region) => region.word().to_owned(),
            Scope::Turn(turn) => turn.id().to_owned(),
        }
    }
}

/// Units that may be removed, in pruning order.
struct Queue {
    units: Vec<usize>,
    /// Where the search for the next unit starts.
    next: usize,
}

/// Decides what to remove. The tree does not change in the meantime.
struct Pruner<'a> {
    tree: TreeRef<'a>,
    around: &'a Surroundings<'a>,
    references: References<'a>,
    /// A unit is a block, or all blocks of one tool call, which are removed together or not at all.
    /// Blocks of a unit are in pruning order, and units in the order of their first block.
    units: Vec<Vec<Block<'a>>>,
    /// The units with a member in a turn or in the head, in their order.
    units_of_turn: BTreeMap<NodeKey, Vec<usize>>,
    /// The newest `protect_turns` turns, oldest first, without the head.
    protected_turns: BTreeSet<NodeKey>,
    /// The ids that the policy excludes, and those of the newest user message if it is protected.
    excluded: &'a BTreeSet<String>,
    /// What a limit of the whole leaves free once it is exceeded.
    reserve: u64,
    /// The results that may be cleared, in pruning order.
    results: Vec<ClearableResult<'a>>,
    /// The results that are cleared, by id, with their placeholders.
    cleared: BTreeMap<&'a str, NodeRef<'a>>,
    gone: BTreeSet<&'a str>,
    gone_turns: BTreeSet<NodeKey>,
    limit: usize,
    removals: Vec<NodeKey>,
    pruned: Vec<Pruned>,
    unmet: Vec<Unmet>,
}

impl<'a> Pruner<'a> {
    fn new(
        tree: TreeRef<'a>,
        policy: &Policy,
        around: &'a Surroundings<'a>,
        excluded: &'a BTreeSet<String>,
    ) -> Self {
        // The head, which is about to be sealed, is the newest turn.
        let protects_head = policy.protect_turns > 0;
        let older = usize::try_from(policy.protect_turns.saturating_sub(1)).unwrap_or(usize::MAX);
        let protected_turns: BTreeSet<NodeKey> =
            tree.region(Region::Seq).children_rev().take(older).map(NodeRef::key_of).collect();
        let mut blocks = Vec::new();
        for region in Region::ALL {
            for top in tree.region(region).children() {
                let turn = match region {
                    Region::Sys => None,
                    Region::Seq => Some(top.key_of()),
                    Region::Head => Some(tree.region(region).key_of()),
                };
                let in_newest = match region {
                    Region::Sys => false,
                    Region::Seq => protected_turns.contains(&top.key_of()),
                    Region::Head => protects_head,
                };
                blocks.extend(
                    top.subtree()
                        .map(|(_, node)| node)
                        .filter(|node| node.class() == Class::Block)
                        .map(|node| Block {
                            node,
                            region,
                            turn,
                            protected: in_newest || node.has_pin() || excluded.contains(node.id()),
                        }),
                );
            }
        }
        let units = units(blocks);
        let mut units_of_turn: BTreeMap<NodeKey, Vec<usize>> = BTreeMap::new();
        for (index, unit) in units.iter().enumerate() {
            for turn in unit.iter().filter_map(|block| block.turn) {
                let known = units_of_turn.entry(turn).or_default();
                if known.last() != Some(&index) {
                    known.push(index);
                }
            }
        }
        Pruner {
            tree,
            around,
            references: References::of(tree, around.handles),
            units,
            units_of_turn,
            protected_turns,
            excluded,
            reserve: policy.reserve,
            results: Vec::new(),
            cleared: BTreeMap::new(),
            gone: BTreeSet::new(),
            gone_turns: BTreeSet::new(),
            limit: 0,
            removals: Vec::new(),
            pruned: Vec::new(),
            unmet: Vec::new(),
        }
    }

    fn apply(&mut self, limit: &Limit) -> Result<(), CommitError> {
        match limit {
            Limit::Remove(count) => {
                let mut left = *count;
                let mut queue = self.queue(Scope::Total);
                while left > 0 {
                    let Some(unit) = self.next_unit(&mut queue) else {
                        self.miss(Scope::Total, left);
                        break;
                    };
                    left = left.saturating_sub(self.units[unit].len() as u64);
                    self.take(unit, &mut queue);
                }
            }
            Limit::Total { measure, max } => self.reduce(Scope::Total, measure, *max)?,
            Limit::Region { region, measure, max } => {
                self.reduce(Scope::Region(*region), measure, *max)?;
            }
            Limit::Turn { measure, max } => {
                let head = self.tree.region(Region::Head);
                for turn in self.tree.region(Region::Seq).children().chain([head]) {
                    self.reduce(Scope::Turn(turn), measure, *max)?;
                }
            }
            Limit::Depth(max) => self.drop_turns(*max),
            Limit::ClearAtLeast { measure, min } => self.clear_more(measure, *min)?,
        }
        Ok(())
    }

    /// If anything was cleared or removed, continues until the total reaches `min`. Nothing is removed if clearing was enough so far.
    fn clear_more(&mut self, measure: &MeasureName, min: u64) -> Result<(), CommitError> {
        if self.removals.is_empty() && self.cleared.is_empty() {
            return Ok(());
        }
        let mut gone: u64 = 0;
        for block in self.units.iter().flatten() {
            let size = self.around.size(measure, block.node)?;
            let left = match self.gone.contains(block.node.id()) {
                true => 0,
                false => self.size(measure, block)?,
            };
            gone = gone.saturating_add(size.saturating_sub(left));
        }
        if gone < min {
            gone += self.clear_results(Scope::Total, measure, min - gone)?;
        }
        if self.removals.is_empty() {
            return Ok(());
        }
        let mut queue = self.queue(Scope::Total);
        while gone < min {
            let Some(unit) = self.next_unit(&mut queue) else { break };
            for block in &self.units[unit] {
                gone = gone.saturating_add(self.size(measure, block)?);
            }
            self.take(unit, &mut queue);
        }
        Ok(())
    }

    /// Returns the size of a block in a measure, or of its placeholder if it is cleared.
    fn size(&self, measure: &MeasureName, block: &Block<'a>) -> Result<u64, CommitError> {
        let placeholder = self.cleared.get(block.node.id());
        self.around.size(measure, placeholder.copied().unwrap_or(block.node))
    }

    /// Clears results of a scope, then removes units with a member in it, until it is small enough.
    fn reduce(
        &mut self,
        scope: Scope<'a>,
        measure: &MeasureName,
        max: u64,
    ) -> Result<(), CommitError> {
        let size = |pruner: &Self, block: &Block<'a>| {
            let counts = scope.has(block) && !pruner.gone.contains(block.node.id());
            if counts { pruner.size(measure, block) } else { Ok(0) }
        };
        let mut queue = self.queue(scope);
        let mut total = match scope {
            Scope::Total => self.around.measures.base(measure),
            _ => 0,
        };
        for block in queue.units.iter().flat_map(|unit| &self.units[*unit]) {
            total = total.saturating_add(size(self, block)?);
        }
        // Room for a summary is made only once the limit is exceeded.
        let max = match scope {
            Scope::Total if total > max => max.saturating_sub(self.reserve),
            _ => max,
        };
        if total > max {
            total -= self.clear_results(scope, measure, total - max)?;
        }
        while total > max {
            let Some(unit) = self.next_unit(&mut queue) else {
                self.miss(scope, total);
                break;
            };
            for block in &self.units[unit] {
                total -= size(self, block)?;
            }
            self.take(unit, &mut queue);
        }
        Ok(())
    }

    /// Returns the units with a member in a scope, in pruning order.
    fn queue(&self, scope: Scope<'a>) -> Queue {
        let units = match scope {
            Scope::Total => (0..self.units.len()).collect(),
            Scope::Region(_) => {
                let has = |unit: &usize| self.units[*unit].iter().any(|block| scope.has(block));
                (0..self.units.len()).filter(has).collect()
            }
            Scope::Turn(turn) => {
                self.units_of_turn.get(&turn.key_of()).cloned().unwrap_or_default()
            }
        };
        Queue { units, next: 0 }
    }

    /// Returns the next unit that may be removed.
    fn next_unit(&self, queue: &mut Queue) -> Option<usize> {
        let found = queue.units[queue.next..].iter().position(|unit| {
            let unit = &self.units[*unit];
            !unit.iter().any(|block| self.gone.contains(block.node.id()))
                && unit.iter().all(|block| {
                    self.may_go(block, &|id| unit.iter().any(|member| member.node.id() == id))
                })
        })?;
        queue.next += found;
        Some(queue.units[queue.next])
    }

    /// Returns whether a block is unprotected; references from nodes removed with it do not count.
    fn may_go(&self, block: &Block<'a>, with: &dyn Fn(&str) -> bool) -> bool {
        !block.protected && !self.is_held(block.node, with)
    }

    fn is_held(&self, node: NodeRef<'a>, with: &dyn Fn(&str) -> bool) -> bool {
        let is_removed = |referrer: &str| self.gone.contains(referrer) || with(referrer);
        self.references.holder(node.id(), is_removed).is_some()
    }

    /// Removes a unit. The search continues after it, or restarts if its removal may have released
    /// another unit.
    fn take(&mut self, unit: usize, queue: &mut Queue) {
        let frees = self.take_with(unit, None);
        queue.next = if frees { 0 } else { queue.next + 1 };
    }

    /// Removes a unit; returns whether it referred to another node.
    fn take_with(&mut self, unit: usize, turn: Option<&str>) -> bool {
        let mut frees = false;
        let first = self.units[unit].first().map(|block| block.node.id());
        for block in &self.units[unit] {
            self.cleared.remove(block.node.id());
            frees |= self.references.refers(block.node.id());
            // Part of it may already have been removed with its turn.
            if self.gone.insert(block.node.id()) {
                self.removals.push(block.node.key_of());
                self.pruned.push(Pruned {
                    id: block.node.id().to_owned(),
                    limit: self.limit,
                    with: turn
                        .or(first.filter(|first| *first != block.node.id()))
                        .map(str::to_owned),
                    along: Vec::new(),
                });
            }
        }
        frees
    }

    fn miss(&mut self, scope: Scope<'a>, left: u64) {
        self.unmet.push(Unmet { limit: self.limit, scope: scope.name(), left });
    }
}
