//! Pruning: chooses the next unit of blocks, or the next turn, from scratch after each removal.

use std::collections::{BTreeMap, BTreeSet};

use contextree_json::Value;

use super::commit::Report;
use super::state::State;
use super::tree::{Class, Node, Tree};
use crate::script::{Exclude, Limit, Measure, Policy};

impl State {
    /// Applies the limits of a policy in order.
    pub(crate) fn prune(&mut self, policy: &Policy, report: &mut Report) {
        let before = self.tree.clone();
        let mut policy = policy.clone();
        if policy.protect_user {
            policy.exclude.extend(self.newest_user_message().into_iter().map(Exclude::Id));
        }
        let policy = &policy;
        let cleared = self.clearable(policy);
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
                    let is_over = self.measured("root", *measure) > *limit;
                    let reserve = if is_over { policy.reserve } else { 0 };
                    let limit = limit.saturating_sub(reserve);
                    self.clear_scope("root", *measure, limit, policy, &cleared);
                    self.prune_scope("root", *measure, limit, policy, report);
                }
                Limit::Region(region, measure, limit) => {
                    let scope = self.tree.resolve(region).expect("a region word");
                    self.clear_scope(&scope, *measure, *limit, policy, &cleared);
                    self.prune_scope(&scope, *measure, *limit, policy, report);
                }
                Limit::Turn(measure, limit) => {
                    let mut scopes: Vec<String> =
                        self.tree.turns().into_iter().map(|turn| turn.id.clone()).collect();
                    scopes.push("ah".to_owned());
                    for scope in scopes {
                        self.clear_scope(&scope, *measure, *limit, policy, &cleared);
                        self.prune_scope(&scope, *measure, *limit, policy, report);
                    }
                }
                Limit::Depth(depth) => self.prune_turns(*depth, policy, report),
                Limit::ClearAtLeast(measure, least) => {
                    let whole = |tree: &Tree| -> u64 {
                        let blocks =
                            tree.nodes.values().filter(|node| node.class() == Class::Block);
                        blocks.map(|node| weight(node, *measure)).sum()
                    };
                    let most = whole(&before).saturating_sub(*least);
                    let is_cleared = cleared.iter().any(|result| self.is_cleared(result));
                    if is_cleared || !report.pruned.is_empty() {
                        self.clear_scope("root", *measure, most, policy, &cleared);
                    }
                    let gone = |state: &State| whole(&before) - whole(&state.tree);
                    while !report.pruned.is_empty() && gone(self) < *least {
                        let Some(unit) = self.next_unit(policy, "root") else { break };
                        self.prune_unit(unit, report);
                    }
                }
            }
        }
        self.put_placeholders(&cleared, report);
    }

    /// Returns the blocks of the newest user message: the last run of them in the core of the newest
    /// turn that has one.
    fn newest_user_message(&self) -> Vec<String> {
        let mut turns = vec!["ah"];
        turns.extend(self.tree.turns().into_iter().rev().map(|turn| turn.id.as_str()));
        for turn in turns {
            let core = self.tree.children(turn).into_iter().find(|node| self.tree.is_core(node));
            let mut message = Vec::new();
            for node in self.tree.children(core.map_or(turn, |core| &core.id)).into_iter().rev() {
                let is_user = node.class() == Class::Block
                    && node.role.as_deref() == Some("user")
                    && !["result", "tool_result"].map(Some).contains(&node.kind.as_deref());
                match is_user {
                    true => message.push(node.id.clone()),
                    false if message.is_empty() => {}
                    false => break,
                }
            }
            if !message.is_empty() {
                return message;
            }
        }
        Vec::new()
    }

    /// Returns whether the policy excludes a node or one of its ancestors.
    pub(super) fn is_excluded(&self, node: &Node, policy: &Policy) -> bool {
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
        let uses = self.uses();
        let mut found: Vec<String> = Vec::new();
        for block in &blocks {
            let unit = unit_of(block, &blocks, &uses);
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
        let uses = self.uses();
        // A later member of a unit finds the same unit again, so the first one determines the
        // order.
        blocks.iter().find_map(|block| {
            let unit = unit_of(block, &blocks, &uses);
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
    pub(super) fn is_protected(&self, node: &Node, policy: &Policy) -> bool {
        let mut newest = vec!["ah"];
        newest.extend(self.tree.turns().into_iter().rev().map(|turn| turn.id.as_str()));
        newest.truncate(usize::try_from(policy.protect_turns).unwrap_or(usize::MAX));
        self.tree.lineage(&node.id).iter().any(|above| newest.contains(&above.id.as_str()))
    }

    pub(super) fn measured(&self, scope: &str, measure: Measure) -> u64 {
        let nodes = self.tree.subtree(scope);
        let blocks = nodes.into_iter().filter(|node| node.class() == Class::Block);
        blocks.map(|block| weight(block, measure)).sum()
    }
}

pub(super) fn weight(block: &Node, measure: Measure) -> u64 {
    match (measure, &block.content) {
        (Measure::Nodes, _) => 1,
        (Measure::Bytes, None) => 0,
        (Measure::Bytes, Some(Value::String(text))) => text.len() as u64,
        (Measure::Bytes, Some(value)) => value.to_canonical().len() as u64,
    }
}

/// The calls of each block, by its id: the call's id, and how many calls before it had the same.
type Uses = BTreeMap<String, Vec<(Value, u64)>>;

impl State {
    /// Numbers the calls of all blocks, in document order.
    fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        // By call id: the number of the last call with it, and what has been seen of that one.
        let mut last: BTreeMap<Vec<u8>, (u64, bool, bool)> = BTreeMap::new();
        for node in self.tree.document() {
            if node.class() != Class::Block {
                continue;
            }
            let kind = node.kind.as_deref().unwrap_or_default();
            let is_call = ["call", "tool_call", "tool_use"].contains(&kind);
            let is_tool = !is_call && node.role.as_deref() == Some("tool");
            let is_result = ["result", "tool_result"].contains(&kind) || is_tool;
            let mut ids: Vec<Value> = Vec::new();
            ids.extend(node.attributes.get("data_call_id").cloned());
            let mut leads = ["reasoning", "thinking"].contains(&kind);
            if let Some(Value::Array(more)) = node.attributes.get("data_call_ids") {
                leads = true;
                ids.extend(more.iter().cloned());
            }
            ids.retain(|id| matches!(id, Value::String(_) | Value::Number(_)));
            ids.sort_by_key(Value::to_canonical);
            ids.dedup();
            for id in ids {
                let (number, called, answered) = last.entry(id.to_canonical()).or_default();
                let repeats = is_call && *called;
                if repeats || leads && !is_call && !is_result && *called && *answered {
                    (*number, *called, *answered) = (*number + 1, false, false);
                }
                *called |= is_call;
                *answered |= is_result;
                uses.entry(node.id.clone()).or_default().push((id, *number));
            }
        }
        uses
    }
}

/// Returns the blocks of one unit: those with a call of the block, those with a call of these, and
/// so on.
fn unit_of<'t>(block: &Node, blocks: &[&'t Node], uses: &Uses) -> Vec<&'t Node> {
    let calls = |node: &Node| uses.get(&node.id).cloned().unwrap_or_default();
    let mut known = calls(block);
    if known.is_empty() {
        return blocks.iter().copied().filter(|node| node.id == block.id).collect();
    }
    loop {
        let belongs =
            |node: &Node| node.id == block.id || calls(node).iter().any(|id| known.contains(id));
        let unit: Vec<&Node> = blocks.iter().copied().filter(|node| belongs(node)).collect();
        let all: Vec<(Value, u64)> = unit.iter().flat_map(|node| calls(node)).collect();
        if all.iter().all(|id| known.contains(id)) {
            return unit;
        }
        known.extend(all);
    }
}
