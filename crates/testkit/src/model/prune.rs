//! Pruning: chooses the next unit of blocks, or the next turn, from scratch after each removal.

use std::collections::BTreeSet;

use contextree_json::Value;

use super::commit::Report;
use super::state::State;
use super::tree::{Class, Node};
use crate::script::{Exclude, Limit, Measure, Policy};

impl State {
    /// Applies the limits of a policy in order.
    pub(crate) fn prune(&mut self, policy: &Policy, report: &mut Report) {
        let before = self.tree.clone();
        for limit in &policy.limits {
            match limit {
                Limit::Remove(count) => {
                    let mut gone = 0;
                    while gone < *count {
                        let Some(unit) = self.next_unit(policy, "root") else { break };
                        gone += unit.len() as u64;
                        self.prune_unit(unit, report);
                    }
                }
                Limit::Total(measure, limit) => {
                    self.prune_scope("root", *measure, *limit, policy, report);
                }
                Limit::Region(region, measure, limit) => {
                    let scope = self.tree.resolve(region).expect("a region word");
                    self.prune_scope(&scope, *measure, *limit, policy, report);
                }
                Limit::Turn(measure, limit) => {
                    let mut scopes: Vec<String> =
                        self.tree.turns().into_iter().map(|turn| turn.id.clone()).collect();
                    scopes.push("ah".to_owned());
                    for scope in scopes {
                        self.prune_scope(&scope, *measure, *limit, policy, report);
                    }
                }
                Limit::Depth(depth) => self.prune_turns(*depth, policy, report),
                Limit::ClearAtLeast(measure, least) => {
                    let gone = |state: &State| -> u64 {
                        let stays = |node: &&Node| state.tree.nodes.contains_key(&node.id);
                        let blocks = before.nodes.values().filter(|node| !stays(node));
                        blocks
                            .filter(|node| node.class() == Class::Block)
                            .map(|node| weight(node, *measure))
                            .sum()
                    };
                    while !report.pruned.is_empty() && gone(self) < *least {
                        let Some(unit) = self.next_unit(policy, "root") else { break };
                        self.prune_unit(unit, report);
                    }
                }
            }
        }
    }

    /// Returns whether the policy excludes a node or one of its ancestors.
    fn is_excluded(&self, node: &Node, policy: &Policy) -> bool {
        self.tree.lineage(&node.id).iter().any(|node| {
            policy.exclude.iter().any(|exclude| match exclude {
                Exclude::Kind(kind) => {
                    node.class() == Class::Block && node.kind.as_ref() == Some(kind)
                }
                Exclude::Id(id) => node.id == *id,
            })
        })
    }

    fn prune_scope(
        &mut self,
        scope: &str,
        measure: Measure,
        limit: u64,
        policy: &Policy,
        report: &mut Report,
    ) {
        while self.measured(scope, measure) > limit {
            let Some(unit) = self.next_unit(policy, scope) else { return };
            self.prune_unit(unit, report);
        }
    }

    fn prune_turns(&mut self, depth: u64, policy: &Policy, report: &mut Report) {
        // The head that is about to be sealed counts as a turn.
        while self.tree.turns().len() as u64 + 1 > depth {
            let next = self.tree.turns().into_iter().find_map(|turn| {
                let outside = self.companions(&turn.id);
                let mut going: BTreeSet<String> =
                    self.tree.subtree_ids(&turn.id).into_iter().collect();
                going.extend(outside.iter().cloned());
                let stays = going.iter().any(|id| {
                    let node = &self.tree.nodes[id];
                    node.has_pin()
                        || self.is_excluded(node, policy)
                        || self.is_protected(node, policy)
                        || self.is_held(id, &going)
                });
                (!stays).then(|| (turn.id.clone(), outside))
            });
            let Some((turn, outside)) = next else { return };
            self.tree.remove_subtree(&turn);
            report.pruned.push(turn);
            self.prune_unit(outside, report);
        }
    }

    /// Returns the blocks outside of a turn that form a unit with one inside, unit by unit.
    fn companions(&self, turn: &str) -> Vec<String> {
        let inside = self.tree.subtree(turn);
        let mut blocks: Vec<&Node> =
            self.tree.nodes.values().filter(|node| node.class() == Class::Block).collect();
        blocks.sort_by(|left, right| left.pruning_order().cmp(&right.pruning_order()));
        let mut found: Vec<String> = Vec::new();
        for block in &blocks {
            let unit = unit_of(block, &blocks);
            let (within, without): (Vec<&Node>, Vec<&Node>) =
                unit.into_iter().partition(|node| inside.iter().any(|other| other.id == node.id));
            if !within.is_empty()
                && !found.iter().any(|id| without.iter().any(|node| node.id == *id))
            {
                found.extend(without.into_iter().map(|node| node.id.clone()));
            }
        }
        found
    }

    fn prune_unit(&mut self, unit: Vec<String>, report: &mut Report) {
        for id in unit {
            self.tree.nodes.remove(&id);
            report.pruned.push(id);
        }
    }

    /// Returns the first unit, in pruning order, that can be pruned and has a member in the scope.
    fn next_unit(&self, policy: &Policy, scope: &str) -> Option<Vec<String>> {
        let in_scope: BTreeSet<String> = self.tree.subtree_ids(scope).into_iter().collect();
        let mut blocks: Vec<&Node> =
            self.tree.nodes.values().filter(|node| node.class() == Class::Block).collect();
        blocks.sort_by(|left, right| left.pruning_order().cmp(&right.pruning_order()));
        // A later member of a unit finds the same unit again, so the first one determines the
        // order.
        blocks.iter().find_map(|block| {
            let unit = unit_of(block, &blocks);
            let ids: BTreeSet<String> = unit.iter().map(|node| node.id.clone()).collect();
            let is_prunable = unit.iter().any(|node| in_scope.contains(&node.id))
                && unit.iter().all(|node| {
                    !node.has_pin()
                        && !self.is_excluded(node, policy)
                        && !self.is_protected(node, policy)
                        && !self.is_held(&node.id, &ids)
                });
            is_prunable.then(|| unit.into_iter().map(|node| node.id.clone()).collect())
        })
    }

    /// Returns whether a node is, or is in, one of the newest turns; the head is the newest.
    fn is_protected(&self, node: &Node, policy: &Policy) -> bool {
        let mut newest = vec!["ah"];
        newest.extend(self.tree.turns().into_iter().rev().map(|turn| turn.id.as_str()));
        newest.truncate(usize::try_from(policy.protect_turns).unwrap_or(usize::MAX));
        self.tree.lineage(&node.id).iter().any(|above| newest.contains(&above.id.as_str()))
    }

    fn measured(&self, scope: &str, measure: Measure) -> u64 {
        let nodes = self.tree.subtree(scope);
        let blocks = nodes.into_iter().filter(|node| node.class() == Class::Block);
        blocks.map(|block| weight(block, measure)).sum()
    }
}

fn weight(block: &Node, measure: Measure) -> u64 {
    match (measure, &block.content) {
        (Measure::Nodes, _) => 1,
        (Measure::Bytes, None) => 0,
        (Measure::Bytes, Some(Value::String(text))) => text.len() as u64,
        (Measure::Bytes, Some(value)) => value.to_canonical().len() as u64,
    }
}

/// Returns the blocks of one unit: those with a call id of the block, those with a call id of
/// these, and so on.
fn unit_of<'t>(block: &Node, blocks: &[&'t Node]) -> Vec<&'t Node> {
    let calls = |node: &Node| {
        let mut ids: Vec<Value> = Vec::new();
        ids.extend(node.attributes.get("data_call_id").cloned());
        if let Some(Value::Array(more)) = node.attributes.get("data_call_ids") {
            ids.extend(more.iter().cloned());
        }
        ids.retain(|id| matches!(id, Value::String(_) | Value::Number(_)));
        ids
    };
    let mut known = calls(block);
    if known.is_empty() {
        return blocks.iter().copied().filter(|node| node.id == block.id).collect();
    }
    loop {
        let belongs =
            |node: &Node| node.id == block.id || calls(node).iter().any(|id| known.contains(id));
        let unit: Vec<&Node> = blocks.iter().copied().filter(|node| belongs(node)).collect();
        let all: Vec<Value> = unit.iter().flat_map(|node| calls(node)).collect();
        if all.iter().all(|id| known.contains(id)) {
            return unit;
        }
        known.extend(all);
    }
}
