//! Step 3: blocks go by priority, age and id until the limits of a policy are kept.

use std::collections::{BTreeMap, BTreeSet};

use contextree_json::Value;
use contextree_tree::{Class, NodeKey, NodeRef, Region, Scalar, TreeRef};

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

fn rank(node: NodeRef<'_>) -> (Scalar, i64, &str) {
    (node.priority(), node.created_at_ns(), node.id())
}

impl Work<'_> {
    pub(super) fn prune(
        &mut self,
        policy: &Policy,
        around: &Surroundings<'_>,
        progress: &mut Progress,
    ) -> Result<(), CommitError> {
        let mut pruner = Pruner::new(self.draft.view(), policy, around);
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
struct Block<'a> {
    node: NodeRef<'a>,
    region: Region,
    /// The turn, or the head, that it stands in; nothing in `^sys`.
    turn: Option<NodeKey>,
    /// Pinned, or in one of the newest turns.
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
    gone: BTreeSet<&'a str>,
    gone_turns: BTreeSet<NodeKey>,
    limit: usize,
    removals: Vec<NodeKey>,
    pruned: Vec<Pruned>,
    unmet: Vec<Unmet>,
}

impl<'a> Pruner<'a> {
    fn new(tree: TreeRef<'a>, policy: &Policy, around: &'a Surroundings<'_>) -> Self {
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
                            protected: in_newest || node.is_pinned(),
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
                while left > 0 {
                    let Some(unit) = self.next_unit(Scope::Total) else {
                        self.miss(Scope::Total, left);
                        break;
                    };
                    left = left.saturating_sub(self.units[unit].len() as u64);
                    self.take(unit);
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
        }
        Ok(())
    }

    /// Takes units with a member in a scope until it is small enough.
    fn reduce(
        &mut self,
        scope: Scope<'a>,
        measure: &MeasureName,
        max: u64,
    ) -> Result<(), CommitError> {
        let size = |pruner: &Self, block: &Block<'a>| {
            if pruner.gone.contains(block.node.id()) || !scope.has(block) {
                return Ok(0);
            }
            pruner
                .measures
                .measure(measure, block.node)
                .ok_or_else(|| CommitError::UnknownMeasure(measure.name().to_owned()))
        };
        let mut total: u64 = 0;
        for block in self.units.iter().flatten() {
            total = total.saturating_add(size(self, block)?);
        }
        while total > max {
            let Some(unit) = self.next_unit(scope) else {
                self.miss(scope, total);
                break;
            };
            for block in &self.units[unit] {
                total -= size(self, block)?;
            }
            self.take(unit);
        }
        Ok(())
    }

    /// Returns the first unit that has a member in the scope and may go.
    fn next_unit(&self, scope: Scope<'a>) -> Option<usize> {
        self.units.iter().position(|unit| {
            unit.iter().any(|block| scope.has(block))
                && !unit.iter().any(|block| self.gone.contains(block.node.id()))
                && unit.iter().all(|block| {
                    self.may_go(block, &|id| unit.iter().any(|member| member.node.id() == id))
                })
        })
    }

    /// True if nothing protects a block; references of nodes that go with it do not count.
    fn may_go(&self, block: &Block<'a>, with: &dyn Fn(&str) -> bool) -> bool {
        !block.protected && !self.is_held(block.node, with)
    }

    fn is_held(&self, node: NodeRef<'a>, with: &dyn Fn(&str) -> bool) -> bool {
        let goes = |referrer: &str| self.gone.contains(referrer) || with(referrer);
        self.references.holder(node.id(), goes).is_some()
    }

    fn take(&mut self, unit: usize) {
        for block in &self.units[unit] {
            // Some of it may have gone with its turn a moment ago.
            if self.gone.insert(block.node.id()) {
                self.removals.push(block.node.key_of());
                self.pruned.push(Pruned {
                    id: block.node.id().to_owned(),
                    limit: self.limit,
                    along: Vec::new(),
                });
            }
        }
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
                along: turn.subtree().skip(1).map(|(_, node)| node.id().to_owned()).collect(),
            });
            companions.into_iter().for_each(|unit| self.take(unit));
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
        let free = turn.subtree().all(|(_, node)| !node.is_pinned() && !self.is_held(node, &with))
            && shared
                .iter()
                .flat_map(|unit| &self.units[*unit])
                .all(|block| self.may_go(block, &with));
        free.then_some(shared)
    }
}

/// Groups blocks by `data_call_id`.
fn units(mut blocks: Vec<Block<'_>>) -> Vec<Vec<Block<'_>>> {
    blocks.sort_by(|left, right| rank(left.node).cmp(&rank(right.node)));
    let mut units: Vec<Vec<Block<'_>>> = Vec::new();
    let mut by_call: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for block in blocks {
        let call = match block.node.attribute("data_call_id") {
            Some(id @ (Value::String(_) | Value::Number(_))) => id.to_canonical(),
            _ => {
                units.push(vec![block]);
                continue;
            }
        };
        match by_call.get(&call) {
            Some(unit) => units[*unit].push(block),
            None => {
                by_call.insert(call, units.len());
                units.push(vec![block]);
            }
        }
    }
    units
}
