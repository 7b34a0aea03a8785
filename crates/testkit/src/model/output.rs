//! The outputs of a snapshot: the export, the provider thread, the reference bytes.

use contextree_json::{Object, Value, write};

use super::state::Model;
use super::tree::{Class, Node, Tree};

impl Model {
    /// Returns the export of a snapshot; 0 is the oldest.
    pub fn export(&self, index: usize) -> Vec<u8> {
        let snapshot = &self.snapshots[index];
        export(&snapshot.tree, snapshot.cycle)
    }

    /// Returns the export of the working tree with the number of the next commit.
    pub fn export_working(&self) -> Vec<u8> {
        export(&self.state.tree, self.state.cycle)
    }

    /// Returns the provider thread of a snapshot; 0 is the oldest.
    pub fn thread(&self, index: usize) -> Vec<u8> {
        thread(&self.snapshots[index].tree)
    }

    /// Returns the provider thread of the working tree.
    pub fn thread_working(&self) -> Vec<u8> {
        thread(&self.state.tree)
    }

    /// Returns the bytes of the specification's serializer for a snapshot; 0 is the oldest.
    pub fn reference_bytes(&self, index: usize) -> Vec<u8> {
        let tree = &self.snapshots[index].tree;
        reference(tree, tree.node("root")).to_canonical()
    }
}

/// Returns the exported headers and attributes of a node, without its children.
pub(crate) fn headers(node: &Node) -> Object {
    let mut object = Object::new();
    object.insert("id", Value::from(node.id.as_str()));
    object.insert("nodeType", Value::from(node.node_type.as_str()));
    object.insert("offset", Value::from(node.offset));
    object.insert("ttl", node.ttl.map_or(Value::Null, Value::from));
    object.insert("priority", Value::from(node.priority));
    object.insert("cycle", Value::from(node.cycle));
    object.insert("created_at_ns", Value::from(node.created_at_ns));
    object.insert("created_at_iso", Value::from(iso(node.created_at_ns)));
    object.insert("creation_index", Value::from(node.creation_index));
    let texts = [
        ("role", &node.role),
        ("kind", &node.kind),
        ("key", &node.key),
        ("provenance", &node.provenance),
        ("mime", &node.mime),
        ("encoding", &node.encoding),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            object.insert(name, Value::from(text.as_str()));
        }
    }
    if !node.tags.is_empty() {
        let tags: Vec<Value> = node.tags.iter().map(|tag| Value::from(tag.as_str())).collect();
        object.insert("tags", Value::from(tags));
    }
    if let Some(content) = &node.content {
        object.insert("content", content.clone());
    }
    if node.removable {
        object.insert("removable", Value::from(true));
    }
    if node.pinned {
        object.insert("pinned", Value::from(true));
    }
    for (name, value) in &node.attributes {
        object.insert(name.as_str(), value.clone());
    }
    object
}

/// Returns the export of a tree.
fn export(tree: &Tree, cycle: u64) -> Vec<u8> {
    let mut envelope = Object::new();
    envelope.insert("spec_version", Value::from("PACT/0.1.0"));
    envelope.insert("cycle", Value::from(cycle));
    envelope.insert("root", exported(tree, tree.node("root")));
    Value::from(envelope).to_canonical()
}

fn exported(tree: &Tree, node: &Node) -> Value {
    let mut object = headers(node);
    if node.class() != Class::Block {
        let children = tree.children(&node.id);
        let children: Vec<Value> =
            children.into_iter().map(|child| exported(tree, child)).collect();
        object.insert("children", Value::from(children));
    }
    Value::from(object)
}

/// The fields that the specification's serializer keeps.
const REFERENCE_FIELDS: [&str; 11] = [
    "id",
    "nodeType",
    "offset",
    "ttl",
    "priority",
    "cycle",
    "created_at_ns",
    "created_at_iso",
    "content",
    "role",
    "kind",
];

fn reference(tree: &Tree, node: &Node) -> Value {
    let all = headers(node);
    let mut object = Object::new();
    for field in REFERENCE_FIELDS {
        if let Some(value) = all.get(field) {
            object.insert(field, value.clone());
        }
    }
    if node.class() != Class::Block {
        let children = tree.children(&node.id);
        let children: Vec<Value> =
            children.into_iter().map(|child| reference(tree, child)).collect();
        object.insert("children", Value::from(children));
    }
    Value::from(object)
}

/// Returns the provider thread of a tree: its blocks in document order.
pub(crate) fn thread(tree: &Tree) -> Vec<u8> {
    let mut out = vec![b'['];
    for node in tree.document() {
        if node.class() != Class::Block {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        let in_sys = tree.lineage(&node.id).into_iter().any(|above| above.node_type == "^sys");
        let default_role = if in_sys { "system" } else { "user" };
        out.extend(b"{\"id\":");
        write::string(&mut out, &node.id);
        out.extend(b",\"role\":");
        write::string(&mut out, node.role.as_deref().unwrap_or(default_role));
        if let Some(kind) = &node.kind {
            out.extend(b",\"kind\":");
            write::string(&mut out, kind);
        }
        out.extend(b",\"content\":");
        match &node.content {
            Some(content) => write::value(&mut out, content),
            None => out.extend(b"\"\""),
        }
        out.push(b'}');
    }
    out.push(b']');
    out
}

/// Returns the instant in UTC with nine fractional digits, computed by counting off years and
/// months.
pub(crate) fn iso(created_at_ns: u64) -> String {
    let seconds = created_at_ns / 1_000_000_000;
    let fraction = created_at_ns % 1_000_000_000;
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let mut days = seconds / 86_400;
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let day = days + 1;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:09}Z")
}
