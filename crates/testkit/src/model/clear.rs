//! Clearing: old results get the content of a placeholder, and another id when everything is decided.

use std::collections::BTreeSet;

use contextree_json::Value;

use super::commit::Report;
use super::prune::weight;
use super::state::State;
use super::tree::{Class, Node};
use crate::script::{Measure, Policy};

const PLACEHOLDER: &str = "[old tool result cleared]";

impl State {
    /// Returns the ids of the results that are old and long enough to be cleared, in pruning order.
    pub(super) fn clearable(&self, policy: &Policy) -> Vec<String> {
        let Some(keep) = policy.clear else { return Vec::new() };
        let document = self.tree.document();
        let mut results: Vec<&Node> = document
            .into_iter()
            .filter(|node| node.class() == Class::Block && is_result(node))
            .collect();
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        results.truncate(results.len().saturating_sub(keep));
        results.retain(|node| {
            !node.attributes.contains_key("data_cleared")
                && self.tree.children(&node.id).is_empty()
                && weight(node, Measure::Bytes) > PLACEHOLDER.len() as u64
        });
        results.sort_by(|left, right| left.pruning_order().cmp(&right.pruning_order()));
        results.into_iter().map(|node| node.id.clone()).collect()
    }

    /// Returns whether a result has been cleared by this commit.
    pub(super) fn is_cleared(&self, result: &String) -> bool {
        let node = self.tree.nodes.get(result);
        node.is_some_and(|node| node.attributes.contains_key("data_cleared"))
    }

    /// Clears results until a scope is small enough, or none is left.
    pub(super) fn clear_scope(
        &mut self,
        scope: &str,
        measure: Measure,
        limit: u64,
        policy: &Policy,
        results: &[String],
    ) {
        // A placeholder is as much a block as the result was.
        if measure == Measure::Nodes {
            return;
        }
        for id in results {
            if self.measured(scope, measure) <= limit {
                return;
            }
            let in_scope = self.tree.subtree_ids(scope).contains(id);
            let Some(node) = self.tree.nodes.get(id).filter(|_| in_scope) else { continue };
            let stays = node.has_pin()
                || self.is_cleared(id)
                || self.is_excluded(node, policy)
                || self.is_protected(node, policy)
                || self.is_held(id, &BTreeSet::from([id.clone()]));
            if let Some(node) = self.tree.nodes.get_mut(id).filter(|_| !stays) {
                node.content = Some(Value::from(PLACEHOLDER));
                (node.mime, node.encoding) = (None, None);
                node.attributes.insert("data_cleared".to_owned(), Value::from(id.as_str()));
            }
        }
    }

    /// Gives placeholders their ids.
    pub(super) fn put_placeholders(&mut self, results: &[String], report: &mut Report) {
        for id in results {
            if !self.is_cleared(id) {
                continue;
            }
            let mut ids = (2..).map(|number| format!("{id}~{number}"));
            let new = ids.find(|id| !self.is_taken(id)).expect("an unused id exists");
            if let Some(mut node) = self.tree.nodes.remove(id) {
                node.id.clone_from(&new);
                self.tree.nodes.insert(new.clone(), node);
                report.cleared.push((id.clone(), new));
            }
        }
    }
}

fn is_result(node: &Node) -> bool {
    let kind = node.kind.as_deref().unwrap_or_default();
    let is_call = ["call", "tool_call", "tool_use"].contains(&kind);
    ["result", "tool_result"].contains(&kind) || !is_call && node.role.as_deref() == Some("tool")
}
