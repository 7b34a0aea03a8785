//! Step 3: blocks go by priority, age and id until the limits of a policy are kept.

use std::collections::BTreeSet;

use contextree_query::{QueryError, evaluate, plan, resolve_on_tree};
use contextree_selector::{Edition, parse};
use contextree_tree::{Class, NodeKey, NodeRef, Region, Scalar, TreeRef};

use super::units::units;
use super::{Progress, Surroundings};
use crate::error::CommitError;
use crate::policy::{Limit, MeasureName, Measures, Policy};
use crate::refs::References;
use crate::report::{Pruned, Unmet};
use crate::work::Work;

/// Returns nodes in pruning order: lowest priority first, then oldest, then by id.
#[must_use]
pub fn prune_order(mut nodes: Vec<NodeRef<'_>>) -> Vec<NodeRef<'_>> {
    nodes.sort_by(|left, right| rank(*left).cmp(&rank(*right)));
    nodes
}

pub(super) fn rank(node: NodeRef<'_>) -> (Scalar, i64, &str) {
    (node.priority(), node.created_at_ns(), node.id())
}

impl Work<'_> {
    pub(super) fn prune(
        &mut self,
        policy: &Policy,
        around: &Surroundings<'_>,
        progress: &mut Progress,
    ) -> Result<(), CommitError> {
        let excluded = excluded(self.draft.view(), policy, self.settings.edition)?;
        let mut pruner = Pruner::new(self.draft.view(), policy, around, &excluded);
        for (index, limit) in policy.limits.iter().enumerate() {
            pruner.limit = index;
            pruner.apply(limit)?;
        }
        let Pruner { removals, pruned, unmet, .. } = pruner;
        for key in removals {
            if self.draft.view().contains(key) {
                self.draft.remove(key);
            }
        }
        progress.pruned = pruned;
        progress.unmet = unmet;
        Ok(())
    }
}

/// One block that could be pruned.
pub(super) struct Block<'a> {
    pub(super) node: NodeRef<'a>,
    region: Region,
    /// The turn, or the head, that it stands in; nothing in `^sys`.
    turn: Option<NodeKey>,
    /// Pinned, excluded, or in one of the newest turns.
    protected: bool,
}

/// What a limit looks at.
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

/// Decides what goes, on a tree that stays as it is meanwhile.
struct Pruner<'a> {
    tree: TreeRef<'a>,
    measures: &'a Measures,
    references: References<'a>,
    /// A block, or all blocks of one tool call, which go together or not at all: each in pruning order, and all in the order of
    /// their first.
    units: Vec<Vec<Block<'a>>>,
    /// Turns of the newest K, oldest first; the head is not among them.
    protected_turns: BTreeSet<NodeKey>,
    /// What the policy excludes, by id.
    excluded: &'a BTreeSet<String>,
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
        around: &'a Surroundings<'_>,
        excluded: &'a BTreeSet<String>,
    ) -> Self {
        // The head that is about to be sealed is the newest turn.
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
                            protected: in_newest
                                || node.is_pinned()
                                || excluded.contains(node.id()),
                        }),
                );
            }
        }
        Pruner {
            tree,
            measures: around.measures,
            references: References::of(tree, around.handles),
            units: units(blocks),
            protected_turns,
            excluded,
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
                let mut from = 0;
                while left > 0 {
                    let Some(unit) = self.next_unit(Scope::Total, from) else {
                        self.miss(Scope::Total, left);
                        break;
                    };
                    left = left.saturating_sub(self.units[unit].len() as u64);
                    from = self.take(unit);
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

    /// If anything went, takes units until at least so much is gone.
    fn clear_more(&mut self, measure: &MeasureName, min: u64) -> Result<(), CommitError> {
        if self.removals.is_empty() {
            return Ok(());
        }
        let mut gone: u64 = 0;
        for block in self.units.iter().flatten() {
            let size = self.size(measure, block)?;
            if self.gone.contains(block.node.id()) {
                gone = gone.saturating_add(size);
            }
        }
        let mut from = 0;
        while gone < min {
            let Some(unit) = self.next_unit(Scope::Total, from) else { break };
            for block in &self.units[unit] {
                gone = gone.saturating_add(self.size(measure, block)?);
            }
            from = self.take(unit);
        }
        Ok(())
    }

    /// Returns the size of a block in a measure.
    fn size(&self, measure: &MeasureName, block: &Block<'a>) -> Result<u64, CommitError> {
        self.measures
            .measure(measure, block.node)
            .ok_or_else(|| CommitError::UnknownMeasure(measure.name().to_owned()))
    }

    /// Takes units with a member in a scope until it is small enough.
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
        let mut total: u64 = 0;
        for block in self.units.iter().flatten() {
            total = total.saturating_add(size(self, block)?);
        }
        let mut from = 0;
        while total > max {
            let Some(unit) = self.next_unit(scope, from) else {
                self.miss(scope, total);
                break;
            };
            for block in &self.units[unit] {
                total -= size(self, block)?;
            }
            from = self.take(unit);
        }
        Ok(())
    }

    /// Returns the first unit, from a place on, that has a member in the scope and may go.
    fn next_unit(&self, scope: Scope<'a>, from: usize) -> Option<usize> {
        let found = self.units.iter().skip(from).position(|unit| {
            unit.iter().any(|block| scope.has(block))
                && !unit.iter().any(|block| self.gone.contains(block.node.id()))
                && unit.iter().all(|block| {
                    self.may_go(block, &|id| unit.iter().any(|member| member.node.id() == id))
                })
        })?;
        Some(from + found)
    }

    /// True if nothing protects a block; references of nodes that go with it do not count.
    fn may_go(&self, block: &Block<'a>, with: &dyn Fn(&str) -> bool) -> bool {
        !block.protected && !self.is_held(block.node, with)
    }

    fn is_held(&self, node: NodeRef<'a>, with: &dyn Fn(&str) -> bool) -> bool {
        let goes = |referrer: &str| self.gone.contains(referrer) || with(referrer);
        self.references.holder(node.id(), goes).is_some()
    }

    /// Takes a unit. Returns from where on to look for the next one: behind it, unless something may go now because it went.
    fn take(&mut self, unit: usize) -> usize {
        self.take_with(unit, None)
    }

    fn take_with(&mut self, unit: usize, turn: Option<&str>) -> usize {
        let mut next = unit + 1;
        let first = self.units[unit].first().map(|block| block.node.id());
        for block in &self.units[unit] {
            if self.references.refers(block.node.id()) {
                next = 0;
            }
            // Some of it may have gone with its turn a moment ago.
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
        next
    }

    fn miss(&mut self, scope: Scope<'a>, left: u64) {
        self.unmet.push(Unmet { limit: self.limit, scope: scope.name(), left });
    }

    /// Takes whole turns, oldest first.
    fn drop_turns(&mut self, max: u64) {
        loop {
            // The head will be a turn in a moment.
            let turns: Vec<NodeRef<'a>> = self
                .tree
                .region(Region::Seq)
                .children()
                .filter(|turn| !self.gone_turns.contains(&turn.key_of()))
                .collect();
            if (turns.len() as u64) < max {
                return;
            }
            let found = turns
                .iter()
                .filter(|turn| !self.protected_turns.contains(&turn.key_of()))
                .find_map(|turn| Some((*turn, self.companions(*turn)?)));
            let Some((turn, companions)) = found else {
                if turns.len() as u64 + 1 > max.max(1) {
                    self.miss(Scope::Total, turns.len() as u64 + 1);
                }
                return;
            };
            self.gone_turns.insert(turn.key_of());
            self.gone.extend(turn.subtree().map(|(_, node)| node.id()));
            self.removals.push(turn.key_of());
            self.pruned.push(Pruned {
                id: turn.id().to_owned(),
                limit: self.limit,
                with: None,
                along: turn.subtree().skip(1).map(|(_, node)| node.id().to_owned()).collect(),
            });
            for unit in companions {
                self.take_with(unit, Some(turn.id()));
            }
        }
    }

    /// If a whole turn may go: the units that must go with it because they have members inside and outside.
    fn companions(&self, turn: NodeRef<'a>) -> Option<Vec<usize>> {
        let inside: BTreeSet<&str> = turn.subtree().map(|(_, node)| node.id()).collect();
        let shared: Vec<usize> = self
            .units
            .iter()
            .enumerate()
            .filter(|(_, unit)| {
                let within = |block: &Block<'a>| inside.contains(block.node.id());
                unit.iter().any(within)
                    && !unit.iter().all(within)
                    && !unit.iter().all(|block| self.gone.contains(block.node.id()))
            })
            .map(|(index, _)| index)
            .collect();
        let outside: BTreeSet<&str> = shared
            .iter()
            .flat_map(|unit| &self.units[*unit])
            .map(|block| block.node.id())
            .collect();
        let with = |id: &str| inside.contains(id) || outside.contains(id);
        let stays = |node: NodeRef<'a>| node.is_pinned() || self.excluded.contains(node.id());
        let free = turn.subtree().all(|(_, node)| !stays(node) && !self.is_held(node, &with))
            && shared
                .iter()
                .flat_map(|unit| &self.units[*unit])
                .all(|block| self.may_go(block, &with));
        free.then_some(shared)
    }
}

/// Returns the ids of what a policy excludes, and of everything below it.
fn excluded(
    tree: TreeRef<'_>,
    policy: &Policy,
    edition: Edition,
) -> Result<BTreeSet<String>, CommitError> {
    let mut ids = BTreeSet::new();
    for selector in &policy.exclude {
        let error = |error: QueryError| CommitError::Exclude { selector: selector.clone(), error };
        let parsed = parse(selector, edition).map_err(|problem| error(problem.into()))?;
        let plan = plan(resolve_on_tree(&parsed).map_err(|problem| error(problem.into()))?);
        for node in evaluate(&plan, tree, None) {
            ids.extend(node.subtree().map(|(_, node)| node.id().to_owned()));
        }
    }
    Ok(ids)
}
