//! The fields that two versions of a node differ in.

use std::borrow::Cow;
use std::collections::BTreeSet;

use contextree_json::Value;

use crate::body::{Body, Content, is_hashed_attribute};
use crate::node::NodeRef;
use crate::row::Header;

/// Returns the names of the fields that differ: the ten fields of the specification first, in its
/// order, then the rest by name.
///
/// `content_hash` covers content, role, kind and every `data_*` and `content_*` attribute. These
/// are compared directly instead of by hash: two contents are equal exactly when their hashes are,
/// and nothing has to be hashed.
#[must_use]
pub fn changed_fields<'a>(before: NodeRef<'a>, after: NodeRef<'a>) -> Vec<Cow<'a, str>> {
    let mut fields = Vec::new();
    if before.row.node == after.row.node && std::ptr::eq(before.row, after.row) {
        // The same version: only the ttl, which counts down with each commit, can differ.
        if before.ttl() != after.ttl() {
            fields.push(Cow::Borrowed("ttl"));
        }
        return fields;
    }
    let mut note = |name: &'static str, differs: bool| {
        if differs {
            fields.push(Cow::Borrowed(name));
        }
    };
    note("ttl", before.ttl() != after.ttl());
    note("priority", before.priority().to_number() != after.priority().to_number());
    note("parent", before.parent_id() != after.parent_id());
    note("offset", before.offset().to_number() != after.offset().to_number());
    note("nodeType", before.node_type() != after.node_type());
    note("role", before.role() != after.role());
    note("kind", before.kind() != after.kind());
    note("content_hash", !same_hash(before, after));
    note("created_at_ns", before.created_at_ns() != after.created_at_ns());
    note("creation_index", before.creation_index() != after.creation_index());
    let mut rest: BTreeSet<Cow<'a, str>> = other_attributes(before, after);
    if iso(before) != iso(after) {
        rest.insert("created_at_iso".into());
    }
    if before.cycle() != after.cycle() {
        rest.insert("cycle".into());
    }
    if before.header("removable") != after.header("removable") {
        rest.insert("removable".into());
    }
    if before.header("pinned") != after.header("pinned") {
        rest.insert("pinned".into());
    }
    fields.extend(rest);
    fields
}

fn iso(node: NodeRef<'_>) -> Option<String> {
    node.has_header(Header::CreatedAtIso).then(|| node.created_at_iso())
}

/// Returns whether everything that the content hash covers is equal.
pub(super) fn same_hash(before: NodeRef<'_>, after: NodeRef<'_>) -> bool {
    let same_symbols = before.role() == after.role() && before.kind() == after.kind();
    let same_raw = |name| before.attribute(name) == after.attribute(name);
    if !same_symbols || !same_raw("role") || !same_raw("kind") || !same_raw("content_hash") {
        return false;
    }
    match (before.body(), after.body()) {
        (Some(left), Some(right)) if std::ptr::eq(left, right) => true,
        (left, right) => same_content(left, right) && hashed(left).eq(hashed(right)),
    }
}

/// Absent content hashes like an empty text.
fn same_content(left: Option<&Body>, right: Option<&Body>) -> bool {
    static EMPTY: Content = Content::Absent;
    let content = |body: Option<&Body>| match body.map_or(&EMPTY, |body| &body.content) {
        Content::Text(text) if text.is_empty() => Content::Absent,
        other => other.clone(),
    };
    match (left.map(|body| &body.content), right.map(|body| &body.content)) {
        (Some(left), Some(right)) if left == right => true,
        _ => content(left) == content(right),
    }
}

fn hashed(body: Option<&Body>) -> impl Iterator<Item = (&str, &Value)> {
    body.into_iter()
        .flat_map(|body| body.attributes.iter())
        .filter(|(name, _)| is_hashed_attribute(name))
}

/// Returns whether a header is compared by its column, even if an import kept its original text.
fn has_column(name: &str) -> bool {
    matches!(name, "role" | "kind" | "content_hash" | "removable" | "pinned")
        || Header::REQUIRED.iter().any(|header| header.name() == name)
}

fn other_attributes<'a>(before: NodeRef<'a>, after: NodeRef<'a>) -> BTreeSet<Cow<'a, str>> {
    let names = |node: NodeRef<'a>| {
        node.body().into_iter().flat_map(|body| body.attributes.iter().map(|(name, _)| name))
    };
    names(before)
        .chain(names(after))
        .filter(|name| !has_column(name) && before.attribute(name) != after.attribute(name))
        .map(Cow::Borrowed)
        .collect()
}
