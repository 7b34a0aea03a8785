//! Checks kinds about raw nodes: hashes, order, reference bytes.

use contextree::{Context, Hash, NodeRef, Profile, Region};
use contextree_json::{Object, Value};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{head_with, ids, object, options, snapshot, texts};

pub(super) fn content_hash(case: &Case, edition: Edition) -> Result<Got, String> {
    let mut got = Got::new();
    let Value::Object(node) = case.field("node") else {
        // A vector cannot contain content that is not JSON, except as text.
        let text = case.field("text").as_str().unwrap_or(r#"{"content":NaN}"#);
        let (hash, warning) = contextree::canon::content_hash_of_bytes(text.as_bytes());
        let warning = warning.ok_or("there is no warning about the content")?;
        got.insert("content_hash", hash.to_string().into());
        got.insert("log", warning.to_string().into());
        return Ok(got);
    };
    let hash = contextree::canon::content_hash_of_document(node);
    let stored = hash_in_a_tree(node, edition)?;
    if stored != hash {
        return Err(format!("{hash} as a document, but {stored} in a tree"));
    }
    if let Some(literal) = case.field("literal_reference_hash").as_str() {
        let found = literal_hash(node);
        if found.to_string() != literal || found == hash {
            return Err(format!("the unmodified reference algorithm gives {found}"));
        }
    }
    got.insert("content_hash", hash.to_string().into());
    got.insert("hashed_json", contextree::canon::hashed_text(node).into());
    Ok(got)
}

/// Checks that the same node hashes the same inside a tree.
fn hash_in_a_tree(node: &Object, edition: Edition) -> Result<Hash, String> {
    let mut node = node.clone();
    if !node.contains_key("id") {
        node.insert("id", "x".into());
    }
    let id = node.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let context = snapshot(&head_with(vec![node.into()]), edition)?;
    let found = context.working().get(&id).map(contextree::content_hash);
    found.ok_or_else(|| "the node was not imported".to_owned())
}

/// Returns the hash by the specification's algorithm as printed, which also hashes a stored
/// `content_hash`.
fn literal_hash(node: &Object) -> Hash {
    let empty = || Value::from("");
    let mut hashed = Object::new();
    for name in ["content", "kind", "role"] {
        hashed.insert(name, node.get(name).cloned().unwrap_or_else(empty));
    }
    for (name, value) in node {
        if name.starts_with("content_") || name.starts_with("data_") {
            hashed.insert(name, value.clone());
        }
    }
    Hash::of(&Value::Object(hashed).to_canonical())
}

pub(super) fn order(case: &Case, edition: Edition) -> Result<Got, String> {
    let siblings = case.field("siblings");
    let sorted = contextree::canon::order_siblings(siblings).map_err(|error| error.to_string())?;
    let sorted = texts(sorted.iter().filter_map(|node| node.get("id").and_then(Value::as_str)));
    // The order of the tree, independent of the order in the document.
    let nodes: Vec<Value> = siblings.as_array().unwrap_or_default().to_vec();
    for permutation in [nodes.clone(), nodes.into_iter().rev().collect()] {
        let context = snapshot(&head_with(permutation), edition)?;
        let observed = ids(context.working().region(Region::Head).children());
        if observed != sorted {
            return Ok(Got::from_iter([("ids", observed)]));
        }
    }
    Ok(Got::from_iter([("ids", sorted)]))
}

pub(super) fn prune_order(case: &Case, edition: Edition) -> Result<Got, String> {
    let nodes = case.field("nodes").as_array().ok_or("`nodes` is not a list")?;
    let context = snapshot(&head_with(nodes.to_vec()), edition)?;
    let candidates: Vec<NodeRef<'_>> = context.working().region(Region::Head).children().collect();
    Ok(Got::from_iter([("ids", ids(contextree::engine::prune_order(candidates)))]))
}

pub(super) fn serialize_snapshot(case: &Case, edition: Edition) -> Result<Got, String> {
    let tree = case.field("tree");
    let bytes =
        contextree::canon::reference_bytes_of_document(tree).map_err(|error| error.to_string())?;
    // A whole tree whose regions are in order gives the same bytes from a snapshot.
    if tree.get("nodeType").and_then(Value::as_str) == Some("^root") {
        let document = object([("root", tree.clone())]).to_canonical();
        let context = Context::import_snapshot(&document, Profile::Lenient, options(edition))
            .map_err(|error| error.to_string())?;
        let snapshot = context.newest().ok_or("the import left no snapshot")?;
        if snapshot.reference_bytes() != bytes {
            return Err("the snapshot serializes differently from its document".to_owned());
        }
    }
    let text = String::from_utf8(bytes.clone()).map_err(|error| error.to_string())?;
    Ok(Got::from_iter([
        ("bytes_ascii", Value::from(text)),
        ("length", Value::from(bytes.len() as u64)),
        ("sha256", Value::from(Hash::of(&bytes).to_string())),
    ]))
}
