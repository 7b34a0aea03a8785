//! One node: its cells in a table, and its JSON.

use contextree::{Class, Content, NodeRef, Region, content_hash};
use contextree_json::{Object, Value};

use crate::output::style::{self, paint};
use crate::output::text::{one_line, size};

/// Headers that every node has in its JSON, in the order of the specification.
const HEADERS: [&str; 13] = [
    "id",
    "nodeType",
    "offset",
    "ttl",
    "priority",
    "cycle",
    "created_at_ns",
    "created_at_iso",
    "creation_index",
    "role",
    "kind",
    "removable",
    "pinned",
];

/// Returns a node for programs: headers, content and attributes as an export has them, without children, and what
/// follows from its place under `derived`.
pub(crate) fn to_value(node: NodeRef<'_>) -> Value {
    let mut object = Object::new();
    for name in HEADERS {
        if let Some(value) = node.header(name) {
            object.insert(name, value);
        }
    }
    if let Some(body) = node.body() {
        for (name, value) in &body.attributes {
            object.insert(name, value.clone());
        }
    }
    if let Some(content) = node.content().to_value() {
        object.insert("content", content);
    }
    let mut path: Vec<Value> = node.ancestors().map(|above| Value::from(above.id())).collect();
    path.reverse();
    let derived = Object::from_iter([
        ("bytes", Value::from(node.content().byte_len() as u64)),
        ("class", Value::from(class(node.class()))),
        ("content_hash", Value::from(content_hash(node).to_string())),
        ("depth", depth(node).map_or(Value::Null, Value::from)),
        ("parent", node.parent_id().map_or(Value::Null, Value::from)),
        ("path", Value::Array(path)),
        ("region", region(node).map_or(Value::Null, |region| Value::from(region.word()))),
    ]);
    object.insert("derived", derived.into());
    object.into()
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Root => "root",
        Class::Region => "region",
        Class::Turn => "turn",
        Class::Container => "container",
        Class::Block => "block",
    }
}

/// The region that a node is, or stands in.
pub(crate) fn region(node: NodeRef<'_>) -> Option<Region> {
    node.as_region().or_else(|| node.region())
}

/// The depth that selectors know: −1 for the system region, 0 for the head, 1 for the newest sealed turn.
pub(crate) fn depth(node: NodeRef<'_>) -> Option<i64> {
    match region(node)? {
        Region::Sys => Some(-1),
        Region::Head => Some(0),
        Region::Seq => {
            let mut line = std::iter::once(node).chain(node.ancestors());
            let turn = line.find(|node| node.class() == Class::Turn)?;
            i64::try_from(node.tree().turn_count() - turn.position()).ok()
        }
    }
}

/// Returns the content on one line.
pub(crate) fn preview(node: NodeRef<'_>) -> String {
    match node.content() {
        Content::Absent => String::new(),
        Content::Text(text) => one_line(text),
        Content::Json(value) => String::from_utf8_lossy(&value.to_canonical()).into_owned(),
    }
}

/// Returns the type, where it says more than the class.
pub(crate) fn special_type(node: NodeRef<'_>) -> String {
    match node.node_type() {
        "mt" | "mc" | "cb" | "seg" | "cont" | "block" => String::new(),
        other if other.starts_with('^') => String::new(),
        other => other.to_owned(),
    }
}

/// Returns role and kind.
pub(crate) fn speaker(node: NodeRef<'_>) -> String {
    node.role().map_or_else(String::new, |role| paint(style::role(role), role))
}

/// Returns the offset with its sign; nothing for 0.
pub(crate) fn offset(node: NodeRef<'_>) -> String {
    match (node.offset().signum(), node.header("offset")) {
        (0, _) | (_, None) => String::new(),
        (sign, Some(value)) => {
            let text = String::from_utf8_lossy(&value.to_canonical()).into_owned();
            if sign > 0 { format!("+{text}") } else { text }
        }
    }
}

/// Returns the ttl; one that is due is told apart.
pub(crate) fn ttl(node: NodeRef<'_>) -> String {
    match node.ttl() {
        None => String::new(),
        Some(0) => paint(style::DUE, "0 due"),
        Some(ttl) => paint(style::TTL, ttl),
    }
}

/// Returns the size of the content of a block.
pub(crate) fn bytes(node: NodeRef<'_>) -> String {
    match node.class() {
        Class::Block => paint(style::DIM, size(node.content().byte_len() as u64)),
        _ => String::new(),
    }
}

/// Returns key, tags, pin and priority, as far as there are any.
pub(crate) fn marks(node: NodeRef<'_>) -> String {
    let mut marks = Vec::new();
    if node.is_pinned() {
        marks.push("pinned".to_owned());
    }
    if node.is_removable() {
        marks.push("removable".to_owned());
    }
    if let Some(key) = node.key() {
        marks.push(format!("#{}", one_line(key)));
    }
    let tags = node.attribute("tags").and_then(Value::as_array).unwrap_or_default();
    marks.extend(tags.iter().filter_map(Value::as_str).map(|tag| format!("+{}", one_line(tag))));
    if let Some(value) = node.header("priority").filter(|value| value.as_i64() != Some(0)) {
        marks.push(format!("priority {}", String::from_utf8_lossy(&value.to_canonical())));
    }
    if marks.is_empty() { String::new() } else { paint(style::MARK, marks.join(" ")) }
}
