//! The commit: expire, cascade, prune, cascade again, seal.

use std::collections::BTreeSet;

use super::state::State;
use super::tree::{Class, Node, Tree};
use crate::script::Policy;

/// The report of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of the commit.
    pub cycle: u64,
    /// Due nodes that were removed, in document order.
    pub expired: Vec<String>,
    /// Due nodes that were held, in document order.
    pub deferred: Vec<String>,
    /// Nodes that were not due but had an ancestor that was removed, in document order.
    pub along: Vec<String>,
    /// Empty removable containers, in the order in which they were removed.
    pub cascaded: Vec<String>,
    /// Cleared results with their placeholders, in pruning order.
    pub cleared: Vec<(String, String)>,
    /// Pruned blocks and turns, in the order in which they were removed.
    pub pruned: Vec<String>,
    /// The id of the new turn.
    pub sealed: String,
    /// The id of the core, if sealing created one.
    pub core_created: Option<String>,
}

impl State {
    /// Runs the whole sequence; the caller keeps a copy of the tree as the snapshot.
    pub(crate) fn commit(&mut self, policy: Option<&Policy>) -> Report {
        let mut report = Report { cycle: self.cycle, ..Report::default() };
        let removable = policy.map_or(&[][..], |policy| &policy.removable);
        self.expire(&mut report);
        self.cascade(removable, &mut report);
        if let Some(policy) = policy {
            self.prune(policy, &mut report);
            self.cascade(removable, &mut report);
        }
        self.seal(&mut report);
        let places = self.tree.nodes.iter();
        let places = places.map(|(id, node)| (id.clone(), (node.parent.clone(), node.offset)));
        self.committed = places.collect();
        self.cycle += 1;
        self.next_index = 0;
        report
    }

    /// Returns whether a handle holds a node, or a reference from a node outside of `going`.
    pub(crate) fn is_held(&self, id: &str, going: &BTreeSet<String>) -> bool {
        self.handles.contains_key(id)
            || self.tree.nodes.values().any(|carrier| {
                !going.contains(&carrier.id)
                    && Tree::references(carrier).iter().any(|target| target == id)
            })
    }

    fn expire(&mut self, report: &mut Report) {
        let document: Vec<Node> = self.tree.document().into_iter().cloned().collect();
        let due: BTreeSet<String> = document
            .iter()
            .filter(|node| node.ttl == Some(0))
            .map(|node| node.id.clone())
            .collect();
        let mut leaving = due.clone();
        let mut gone;
        loop {
            gone = self.union_of_subtrees(&leaving);
            let held: Vec<String> = leaving
                .iter()
                .filter(|id| {
                    self.tree.subtree(id).into_iter().any(|node| self.is_held(&node.id, &gone))
                })
                .cloned()
                .collect();
            if held.is_empty() {
                break;
            }
            for id in held {
                leaving.remove(&id);
            }
        }

        for node in &document {
            if leaving.contains(&node.id) {
                report.expired.push(node.id.clone());
            } else if due.contains(&node.id) {
                report.deferred.push(node.id.clone());
            } else if gone.contains(&node.id) {
                report.along.push(node.id.clone());
            }
        }
        self.tree.nodes.retain(|id, _| !gone.contains(id));
        for node in self.tree.nodes.values_mut() {
            node.ttl = node.ttl.map(|ttl| if ttl == 0 { 0 } else { ttl - 1 });
        }
    }

    fn union_of_subtrees(&self, tops: &BTreeSet<String>) -> BTreeSet<String> {
        tops.iter().flat_map(|top| self.tree.subtree_ids(top)).collect()
    }

    /// Removes the first empty removable container in document order that is not held, until there
    /// is none. A container's own references do not keep it.
    fn cascade(&mut self, removable: &[String], report: &mut Report) {
        loop {
            let next = self.tree.document().into_iter().find(|node| {
                node.class() == Class::Container
                    && (node.removable || removable.contains(&node.id) && !self.tree.is_core(node))
                    && self.tree.children(&node.id).is_empty()
                    && !self.is_held(&node.id, &BTreeSet::from([node.id.clone()]))
            });
            let Some(id) = next.map(|node| node.id.clone()) else { return };
            self.tree.remove_subtree(&id);
            report.cascaded.push(id);
        }
    }

    fn seal(&mut self, report: &mut Report) {
        if self.tree.children("ah").into_iter().all(|node| !self.tree.is_core(node)) {
            report.core_created = Some(self.create_core());
        }
        let mut turn = Node::bare("", "seg", Some("seq"));
        self.stamp(&mut turn);
        turn.id = self.made_id(Class::Turn, false, turn.creation_index);
        for node in self.tree.nodes.values_mut() {
            if node.parent.as_deref() == Some("ah") {
                node.parent = Some(turn.id.clone());
            }
        }
        report.sealed = turn.id.clone();
        self.tree.nodes.insert(turn.id.clone(), turn);
    }
}
