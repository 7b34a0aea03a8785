//! Loads trees of the corpus leniently, as the vectors require.

use std::collections::BTreeMap;

use contextree_json::Value;

use super::tree::{Node, Tree};

/// Returns the cases of a file of the corpus.
pub(crate) fn cases(text: &str) -> Vec<Value> {
    let file = contextree_json::parse(text.as_bytes()).unwrap();
    file.get("cases").unwrap().as_array().unwrap().to_vec()
}

/// Returns the string under a key; an empty one if it is missing.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the list under a key; an empty one if it is missing.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

/// Returns the strings in the list under a key.
pub(crate) fn texts(value: &Value, key: &str) -> Vec<String> {
    list(value, key).iter().map(|entry| entry.as_str().unwrap().to_owned()).collect()
}

/// Returns the tree of a snapshot document.
pub(crate) fn tree(document: &Value) -> Tree {
    let mut nodes = BTreeMap::new();
    load(document.get("root").unwrap(), None, &mut nodes);
    Tree { nodes }
}

fn load(value: &Value, parent: Option<&str>, nodes: &mut BTreeMap<String, Node>) {
    let node_type = match (text(value, "nodeType"), parent) {
        ("", None) => "^root",
        ("", Some(_)) => "block",
        (given, _) => given,
    };
    // Document order starts at the node with the id `root`.
    let id = if parent.is_none() { "root" } else { text(value, "id") };
    let mut node = Node::bare(id, node_type, parent);
    let integer = |key: &str| value.get(key).and_then(Value::as_i64);
    let owned = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    node.offset = integer("offset").unwrap_or(0);
    node.ttl = integer("ttl");
    node.priority = integer("priority").unwrap_or(0);
    node.cycle = integer("cycle").unwrap_or(0) as u64;
    node.created_at_ns = integer("created_at_ns").unwrap_or(0) as u64;
    // Regions have a rank of their own; the model expresses it by stamps.
    let rank = ["^sys", "^seq", "^ah"].iter().position(|word| *word == node_type);
    node.creation_index =
        rank.map_or(integer("creation_index").unwrap_or(0) as u64, |rank| rank as u64);
    node.role = owned("role");
    node.kind = owned("kind");
    node.provenance = owned("provenance");
    node.content = value.get("content").cloned();
    for (name, value) in value.as_object().unwrap() {
        if name.starts_with("data_") {
            node.attributes.insert(name.to_owned(), value.clone());
        }
    }
    nodes.insert(id.to_owned(), node);
    for child in list(value, "children") {
        load(child, Some(id), nodes);
    }
}
