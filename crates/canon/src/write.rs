//! Writes nodes as canonical JSON: the export, and the reference bytes of the specification.

use std::iter::{Flatten, Peekable};
use std::option;

use contextree_json::{Object, Value, write};
use contextree_tree::{
    Class, Content, Cycle, Header, NodeChildren, NodeRef, Scalar, Tree, TreeRef, time,
};

use crate::digest::snapshot_digest;
use crate::hash::Hash;

/// The version in every export.
pub const SPEC_VERSION: &str = "PACT/0.1.0";

/// The attribute of the root that holds the keys of a foreign envelope, so that they are exported as
/// they were imported.
pub(crate) const ENVELOPE: &str = "contextree:envelope";

/// The key of an envelope with the digest of the snapshot. It is not part of what the digest covers.
pub(crate) const DIGEST: &str = "contextree:digest";

/// The key of the first line of a history that has an end.
pub(crate) const ENDS: &str = "contextree:end";

/// Returns the export of a tree: an envelope with every node, every header and every attribute,
/// children in canonical order.
///
/// The same tree always gives the same bytes, and importing them gives an equal tree.
#[must_use]
pub fn export(tree: TreeRef<'_>, cycle: Cycle) -> Vec<u8> {
    let mut out = Vec::new();
    export_to(&mut out, tree, cycle);
    out
}

/// Like [`export`], but with the digest of the snapshot in the envelope: an import refuses the document if anything in it was changed.
#[must_use]
pub fn export_with_digest(tree: &Tree) -> Vec<u8> {
    let mut out = Vec::new();
    let cycle = tree.view().next_cycle().previous();
    envelope(&mut out, tree.view(), cycle, Some(snapshot_digest(tree)));
    out
}

/// Like [`export`], but appends to a buffer.
pub fn export_to(out: &mut Vec<u8>, tree: TreeRef<'_>, cycle: Cycle) {
    envelope(out, tree, cycle, None);
}

fn envelope(out: &mut Vec<u8>, tree: TreeRef<'_>, cycle: Cycle, digest: Option<Hash>) {
    let root = tree.root();
    let foreign = root.attribute(ENVELOPE).and_then(Value::as_object);
    let mut foreign = foreign.into_iter().flat_map(Object::iter).peekable();
    let mut separator = b'{';
    // Foreign keys and the three of our own, in one order.
    let mut before = |out: &mut Vec<u8>, name: Option<&str>| {
        while let Some((key, value)) =
            foreign.next_if(|(key, _)| name.is_none_or(|name| *key < name))
        {
            out.push(std::mem::replace(&mut separator, b','));
            write::string(out, key);
            out.push(b':');
            write::value(out, value);
        }
        if let Some(name) = name {
            out.push(std::mem::replace(&mut separator, b','));
            write::string(out, name);
            out.push(b':');
        }
    };
    if let Some(digest) = digest {
        before(out, Some(DIGEST));
        write::string(out, &digest.to_string());
    }
    before(out, Some("cycle"));
    write::unsigned(out, u64::from(cycle));
    before(out, Some("root"));
    nodes(out, root, Style::Export);
    before(out, Some("spec_version"));
    write::string(out, SPEC_VERSION);
    before(out, None);
    out.push(b'}');
}

/// Returns the bytes of the specification's reference serializer for a node and its subtree.
///
/// It omits `creation_index` and all attributes, so importing it loses data; use [`export`]
/// instead.
#[must_use]
pub fn reference_bytes(node: NodeRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    nodes(&mut out, node, Style::Reference);
    out
}

/// Appends a single node; if it shows `children`, with an empty list.
pub(crate) fn flat_node(out: &mut Vec<u8>, node: NodeRef<'_>) {
    let mut writer = Columns::new(node, Style::Export);
    writer.before_children(out);
    if node.has_header(Header::Children) {
        writer.key(out, "children");
        out.extend_from_slice(b"[]");
    }
    writer.after_children(out);
}

/// A header that is written from a column of the tree, in the order of names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Content,
    CreatedAtIso,
    CreatedAtNs,
    CreationIndex,
    Cycle,
    Id,
    Kind,
    NodeType,
    Offset,
    Pinned,
    Priority,
    Removable,
    Role,
    Ttl,
}

impl Column {
    /// Everything before `children` in this order is an attribute; everything here sorts after it.
    const ALL: [Column; 14] = [
        Column::Content,
        Column::CreatedAtIso,
        Column::CreatedAtNs,
        Column::CreationIndex,
        Column::Cycle,
        Column::Id,
        Column::Kind,
        Column::NodeType,
        Column::Offset,
        Column::Pinned,
        Column::Priority,
        Column::Removable,
        Column::Role,
        Column::Ttl,
    ];

    fn name(self) -> &'static str {
        match self {
            Column::Content => "content",
            Column::CreatedAtIso => "created_at_iso",
            Column::CreatedAtNs => "created_at_ns",
            Column::CreationIndex => "creation_index",
            Column::Cycle => "cycle",
            Column::Id => "id",
            Column::Kind => "kind",
            Column::NodeType => "nodeType",
            Column::Offset => "offset",
            Column::Pinned => "pinned",
            Column::Priority => "priority",
            Column::Removable => "removable",
            Column::Role => "role",
            Column::Ttl => "ttl",
        }
    }
}

/// Which fields of a node are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Everything.
    Export,
    /// The fields of the reference serializer: no `creation_index`, no attributes, and the root's
    /// children sorted by their headers instead of by region.
    Reference,
}

impl Style {
    fn has(self, column: Column) -> bool {
        match column {
            Column::CreationIndex | Column::Pinned | Column::Removable => self != Style::Reference,
            _ => true,
        }
    }
}

/// Writes a node and its subtree, without recursion.
fn nodes<'a>(out: &mut Vec<u8>, start: NodeRef<'a>, style: Style) {
    let mut open: Vec<(Columns<'a>, Kids<'a>, bool)> = Vec::new();
    let mut next = Some(start);
    loop {
        if let Some(node) = next.take() {
            let mut writer = Columns::new(node, style);
            writer.before_children(out);
            if node.has_header(Header::Children) || node.child_count() > 0 {
                writer.key(out, "children");
                out.push(b'[');
                open.push((writer, Kids::of(node, style), true));
            } else {
                writer.after_children(out);
            }
        }
        let Some((writer, kids, first)) = open.last_mut() else { return };
        match kids.next() {
            Some(child) => {
                if !std::mem::take(first) {
                    out.push(b',');
                }
                next = Some(child);
            }
            None => {
                out.push(b']');
                writer.after_children(out);
                open.pop();
            }
        }
    }
}

enum Kids<'a> {
    Canonical(NodeChildren<'a>),
    Literal(std::vec::IntoIter<NodeRef<'a>>),
}

impl<'a> Kids<'a> {
    fn of(node: NodeRef<'a>, style: Style) -> Self {
        if node.class() != Class::Root || style != Style::Reference {
            return Kids::Canonical(node.children());
        }
        let mut regions: Vec<_> = node.children().collect();
        regions.sort_by(|left, right| {
            let key =
                |node: &NodeRef<'a>| (node.offset(), node.created_at_ns(), node.creation_index());
            key(left).cmp(&key(right)).then_with(|| left.id().cmp(right.id()))
        });
        Kids::Literal(regions.into_iter())
    }

    fn next(&mut self) -> Option<NodeRef<'a>> {
        match self {
            Kids::Canonical(children) => children.next(),
            Kids::Literal(nodes) => nodes.next(),
        }
    }
}

/// Writes the headers of one node, merging columns and attributes by name.
struct Columns<'a> {
    node: NodeRef<'a>,
    style: Style,
    attributes: Peekable<Flatten<option::IntoIter<contextree_json::Iter<'a>>>>,
    first: bool,
}

impl<'a> Columns<'a> {
    fn new(node: NodeRef<'a>, style: Style) -> Self {
        let attributes = node.body().map(|body| body.attributes.iter());
        Columns {
            node,
            style,
            attributes: attributes.into_iter().flatten().peekable(),
            first: true,
        }
    }

    fn key(&mut self, out: &mut Vec<u8>, name: &str) {
        out.push(if std::mem::take(&mut self.first) { b'{' } else { b',' });
        // Column names need no escapes.
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
    }

    fn before_children(&mut self, out: &mut Vec<u8>) {
        self.attributes_before(out, Some("children"));
    }

    fn after_children(&mut self, out: &mut Vec<u8>) {
        for column in Column::ALL {
            self.attributes_before(out, Some(column.name()));
            // An attribute named like a column is the original value from an import.
            match self.attributes.next_if(|(attribute, _)| *attribute == column.name()) {
                Some((_, value)) if self.style.has(column) => {
                    self.key(out, column.name());
                    write::value(out, value);
                }
                None if self.style.has(column) => self.column(out, column),
                _ => {}
            }
        }
        self.attributes_before(out, None);
        if self.first {
            out.push(b'{');
        }
        out.push(b'}');
    }

    /// Writes the attributes that sort before a name, or skips them if the style omits attributes.
    fn attributes_before(&mut self, out: &mut Vec<u8>, name: Option<&str>) {
        while let Some((attribute, value)) =
            self.attributes.next_if(|(attribute, _)| name.is_none_or(|name| *attribute < name))
        {
            let of_envelope = attribute == ENVELOPE && self.node.class() == Class::Root;
            if self.style != Style::Reference && !of_envelope {
                out.push(if std::mem::take(&mut self.first) { b'{' } else { b',' });
                write::string(out, attribute);
                out.push(b':');
                write::value(out, value);
            }
        }
    }

    fn column(&mut self, out: &mut Vec<u8>, column: Column) {
        let node = self.node;
        let has = |header| node.has_header(header);
        match column {
            Column::Content => match node.content() {
                Content::Absent => {}
                Content::Text(text) => self.text(out, column, Some(text)),
                Content::Json(value) => {
                    self.key(out, column.name());
                    write::value(out, value);
                }
            },
            Column::CreatedAtIso if has(Header::CreatedAtIso) => {
                self.key(out, column.name());
                out.push(b'"');
                time::write_iso(out, node.created_at_ns());
                out.push(b'"');
            }
            Column::CreatedAtNs if has(Header::CreatedAtNs) => {
                self.integer(out, column, node.created_at_ns());
            }
            Column::CreationIndex if has(Header::CreationIndex) => {
                self.integer(out, column, i64::from(node.creation_index()));
            }
            Column::Cycle if has(Header::Cycle) => {
                self.integer(out, column, i64::from(node.cycle()));
            }
            Column::Id if has(Header::Id) => self.text(out, column, Some(node.id())),
            Column::Kind => self.text(out, column, node.kind()),
            Column::NodeType if has(Header::NodeType) => {
                self.text(out, column, Some(node.node_type()));
            }
            Column::Offset if has(Header::Offset) => self.scalar(out, column, node.offset()),
            Column::Pinned => self.truth(out, column, node.is_pinned()),
            Column::Priority if has(Header::Priority) => self.scalar(out, column, node.priority()),
            Column::Removable => self.truth(out, column, node.is_removable()),
            Column::Role => self.text(out, column, node.role()),
            Column::Ttl if has(Header::Ttl) => match node.ttl() {
                Some(ttl) => self.integer(out, column, i64::from(ttl)),
                None => {
                    self.key(out, column.name());
                    out.extend_from_slice(b"null");
                }
            },
            _ => {}
        }
    }

    fn text(&mut self, out: &mut Vec<u8>, column: Column, text: Option<&str>) {
        if let Some(text) = text {
            self.key(out, column.name());
            write::string(out, text);
        }
    }

    fn integer(&mut self, out: &mut Vec<u8>, column: Column, value: i64) {
        self.key(out, column.name());
        write::integer(out, value);
    }

    fn scalar(&mut self, out: &mut Vec<u8>, column: Column, value: Scalar) {
        self.key(out, column.name());
        match value {
            Scalar::Int(value) => write::integer(out, value),
            Scalar::Float(value) => write::float(out, value),
        }
    }

    fn truth(&mut self, out: &mut Vec<u8>, column: Column, value: bool) {
        if value {
            self.key(out, column.name());
            out.extend_from_slice(b"true");
        }
    }
}
