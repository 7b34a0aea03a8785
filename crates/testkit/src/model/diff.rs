//! The difference between two snapshots, by id, in the order of the newer one.

use std::collections::BTreeSet;

use contextree_json::{Object, Value};

use super::output::headers;
use super::state::Model;
use super::tree::{Node, Tree};

/// The fields that come first, in this order; all others follow alphabetically.
const FIRST_FIELDS: [&str; 10] = [
    "ttl",
    "priority",
    "parent",
    "offset",
    "nodeType",
    "role",
    "kind",
    "content_hash",
    "created_at_ns",
    "creation_index",
];

impl Model {
    /// Returns what changed between two snapshots, from the older to the newer.
    pub fn diff(&self, a: usize, b: usize) -> Vec<u8> {
        diff(&self.snapshots[a.min(b)].tree, &self.snapshots[a.max(b)].tree)
    }
}

/// Returns what changed from one tree to another.
pub(crate) fn diff(older: &Tree, newer: &Tree) -> Vec<u8> {
    let mut added = Vec::new();
    let mut changed = Vec::new();
    for node in newer.document() {
        let Some(before) = older.nodes.get(&node.id) else {
            added.push(Value::from(node.id.as_str()));
            continue;
        };
        let fields = changed_fields(before, node);
        if !fields.is_empty() {
            let mut item = Object::new();
            item.insert("id", Value::from(node.id.as_str()));
            item.insert("fields", Value::from(fields));
            changed.push(Value::from(item));
        }
    }
    let removed: Vec<Value> = older
        .nodes
        .keys()
        .filter(|id| !newer.nodes.contains_key(*id))
        .map(|id| Value::from(id.as_str()))
        .collect();
    let mut object = Object::new();
    object.insert("added", Value::from(added));
    object.insert("changed", Value::from(changed));
    object.insert("removed", Value::from(removed));
    Value::from(object).to_canonical()
}

fn changed_fields(before: &Node, after: &Node) -> Vec<Value> {
    let before = tracked(before);
    let after = tracked(after);
    let mut names: BTreeSet<&str> = before
        .keys()
        .chain(after.keys())
        .filter(|name| before.get(name) != after.get(name))
        .collect();
    let mut fields: Vec<&str> =
        FIRST_FIELDS.into_iter().filter(|name| names.remove(name)).collect();
    fields.extend(names);
    fields.into_iter().map(Value::from).collect()
}

/// Returns everything that counts as a field, with the hashed text in place of the hash.
fn tracked(node: &Node) -> Object {
    let mut fields = headers(node);
    let mut hashed = Object::new();
    for name in ["content", "kind", "role"] {
        let value = fields.get(name).cloned().unwrap_or_else(|| Value::from(""));
        hashed.insert(name, value);
    }
    for (name, value) in &node.attributes {
        if name.starts_with("data_") || name.starts_with("content_") {
            hashed.insert(name.as_str(), value.clone());
        }
    }
    fields.insert("content_hash", Value::from(hashed));
    if let Some(parent) = &node.parent {
        fields.insert("parent", Value::from(parent.as_str()));
    }
    fields.remove("content");
    fields.remove("id");
    fields
}
