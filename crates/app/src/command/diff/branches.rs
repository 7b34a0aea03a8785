//! Compares states of two contexts. Ids are made per context, so after a fork the same id may name different messages:
//! nodes are matched by id *and* content, and what is left by content alone.

use std::collections::{BTreeMap, BTreeSet};

use contextree::diff::changed_fields;
use contextree::{Class, Hash, NodeRef, TreeRef, content_hash};

use crate::wire::{Changed, Diff, Moved};

/// Fields that differ whenever two contexts do the same at different times.
const STAMPS: [&str; 4] = ["created_at_ns", "created_at_iso", "creation_index", "cycle"];

/// What two contexts have in common and what not.
pub(super) struct Matched {
    /// Nodes that only one side has, and nodes on both sides whose fields differ.
    pub(super) diff: Diff,
    /// Nodes of equal content under different ids, in the order of the right side.
    pub(super) same: Vec<Moved>,
}

/// Compares two trees of different contexts.
pub(super) fn compare(left: TreeRef<'_>, right: TreeRef<'_>) -> Matched {
    let mut diff = Diff::default();
    let mut left_alone = Vec::new();
    for (_, node) in left.nodes() {
        if !is_same(Some(node), right.get(node.id())) {
            left_alone.push(node);
        }
    }
    let mut by_content: BTreeMap<Hash, Vec<NodeRef<'_>>> = BTreeMap::new();
    // The first one with a content is the last of its list, from where it is taken.
    for node in left_alone.iter().rev().filter(|node| has_content(**node)) {
        by_content.entry(content_hash(*node)).or_default().push(*node);
    }
    let mut same = Vec::new();
    let mut matched_left: BTreeSet<&str> = BTreeSet::new();
    for (_, node) in right.nodes() {
        let twin = left.get(node.id());
        if is_same(twin, Some(node)) {
            let Some(twin) = twin else { continue };
            let fields: Vec<String> = changed_fields(twin, node)
                .into_iter()
                .filter(|field| !STAMPS.contains(&field.as_ref()))
                .map(Into::into)
                .collect();
            if !fields.is_empty() {
                diff.changed.push(Changed { id: node.id().to_owned(), fields });
            }
            continue;
        }
        let found = match has_content(node) {
            true => by_content.get_mut(&content_hash(node)).and_then(Vec::pop),
            false => None,
        };
        match found {
            Some(from) => {
                matched_left.insert(from.id());
                same.push(Moved { from: from.id().to_owned(), to: node.id().to_owned() });
            }
            None => diff.added.push(node.id().to_owned()),
        }
    }
    let removed = left_alone.iter().filter(|node| !matched_left.contains(node.id()));
    diff.removed = removed.map(|node| node.id().to_owned()).collect();
    Matched { diff, same }
}

/// Returns whether two nodes of the same id are the same node: with equal content, or without any, as containers are.
fn is_same(left: Option<NodeRef<'_>>, right: Option<NodeRef<'_>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            left.class() == right.class() && content_hash(left) == content_hash(right)
        }
        _ => false,
    }
}

fn has_content(node: NodeRef<'_>) -> bool {
    node.class() == Class::Block && node.content().byte_len() > 0
}
