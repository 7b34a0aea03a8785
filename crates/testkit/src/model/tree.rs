//! Nodes in one map, found and ordered by examining all of them.

use std::collections::BTreeMap;

use contextree_json::Value;

/// The ids of the root and the three regions, with the words that also name them.
pub(crate) const FIXED: [(&str, &str); 4] =
    [("root", "^root"), ("sys", "^sys"), ("seq", "^seq"), ("ah", "^ah")];

/// What a node may do, determined by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The root or one of the three regions.
    Fixed,
    /// A sealed turn.
    Turn,
    /// A core or a group.
    Container,
    /// Everything else.
    Block,
}

/// A node with all its headers; `parent` is `None` only for the root.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) node_type: String,
    pub(crate) parent: Option<String>,
    pub(crate) offset: i64,
    pub(crate) ttl: Option<i64>,
    pub(crate) priority: i64,
    pub(crate) cycle: u64,
    pub(crate) created_at_ns: u64,
    pub(crate) creation_index: u64,
    pub(crate) role: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) provenance: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) encoding: Option<String>,
    pub(crate) content: Option<Value>,
    pub(crate) removable: bool,
    pub(crate) pinned: bool,
    /// The pin that was set or taken away after the node was sealed.
    pub(crate) policy_pin: Option<bool>,
    /// The priority that was set after the node was sealed.
    pub(crate) policy_priority: Option<i64>,
    pub(crate) attributes: BTreeMap<String, Value>,
}

impl Node {
    /// Returns a node of cycle 0 with only an id, a type and a parent.
    pub(crate) fn bare(id: &str, node_type: &str, parent: Option<&str>) -> Node {
        Node {
            id: id.to_owned(),
            node_type: node_type.to_owned(),
            parent: parent.map(str::to_owned),
            offset: 0,
            ttl: None,
            priority: 0,
            cycle: 0,
            created_at_ns: 0,
            creation_index: 0,
            role: None,
            kind: None,
            key: None,
            tags: Vec::new(),
            provenance: None,
            mime: None,
            encoding: None,
            content: None,
            removable: false,
            pinned: false,
            policy_pin: None,
            policy_priority: None,
            attributes: BTreeMap::new(),
        }
    }

    /// Returns the class of the node's type.
    pub(crate) fn class(&self) -> Class {
        class(&self.node_type)
    }

    /// Returns the canonical sort key of siblings: offset, stamp, index, id by code point.
    pub(crate) fn order(&self) -> (i64, u64, u64, &str) {
        (self.offset, self.created_at_ns, self.creation_index, &self.id)
    }

    /// Returns the sort key of pruning: priority, age, id.
    pub(crate) fn pruning_order(&self) -> (i64, u64, &str) {
        (self.policy_priority.unwrap_or(self.priority), self.created_at_ns, &self.id)
    }

    /// Returns whether pruning must keep the node.
    pub(crate) fn has_pin(&self) -> bool {
        self.policy_pin.unwrap_or(self.pinned)
    }
}

/// Returns the class of a node type, determined by what precedes the first `:`.
pub(crate) fn class(node_type: &str) -> Class {
    if node_type.starts_with('^') {
        return Class::Fixed;
    }
    match node_type.split(':').next() {
        Some("mt" | "seg") => Class::Turn,
        Some("mc" | "cont") => Class::Container,
        _ => Class::Block,
    }
}

/// Returns whether a node of this type at offset 0 of a turn is its core.
pub(crate) fn is_core_type(node_type: &str) -> bool {
    class(node_type) == Class::Container && !node_type.contains(':')
}

/// All nodes of one tree, by id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(crate) nodes: BTreeMap<String, Node>,
}

impl Tree {
    /// Returns the tree of a new context: the root and the three regions.
    pub(crate) fn new() -> Tree {
        let mut nodes = BTreeMap::new();
        for (position, (id, word)) in FIXED.into_iter().enumerate() {
            let mut node = Node::bare(id, word, (id != "root").then_some("root"));
            node.creation_index = (position as u64).saturating_sub(1);
            nodes.insert(id.to_owned(), node);
        }
        Tree { nodes }
    }

    /// Returns the id that a name refers to: one of the four words, or the id of a node.
    pub(crate) fn resolve(&self, name: &str) -> Option<String> {
        let id = FIXED.into_iter().find(|(_, word)| *word == name).map_or(name, |(id, _)| id);
        self.nodes.contains_key(id).then(|| id.to_owned())
    }

    /// Returns a node that is known to exist.
    pub(crate) fn node(&self, id: &str) -> &Node {
        self.nodes.get(id).expect("the id was taken from this tree")
    }

    /// Returns a node that is known to exist, for changes.
    pub(crate) fn node_mut(&mut self, id: &str) -> &mut Node {
        self.nodes.get_mut(id).expect("the id was taken from this tree")
    }

    /// Returns the children of a node in canonical order.
    pub(crate) fn children(&self, id: &str) -> Vec<&Node> {
        let mut children: Vec<&Node> =
            self.nodes.values().filter(|node| node.parent.as_deref() == Some(id)).collect();
        children.sort_by(|left, right| left.order().cmp(&right.order()));
        children
    }

    /// Returns a node and its descendants in document order.
    pub(crate) fn subtree(&self, id: &str) -> Vec<&Node> {
        let mut children_of: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
        for node in self.nodes.values() {
            if let Some(parent) = node.parent.as_deref() {
                children_of.entry(parent).or_default().push(node);
            }
        }
        for children in children_of.values_mut() {
            children.sort_by(|left, right| left.order().cmp(&right.order()));
        }
        let mut found = Vec::new();
        let mut waiting = vec![self.node(id)];
        while let Some(node) = waiting.pop() {
            found.push(node);
            if let Some(children) = children_of.get(node.id.as_str()) {
                waiting.extend(children.iter().rev());
            }
        }
        found
    }

    /// Returns all nodes in document order.
    pub(crate) fn document(&self) -> Vec<&Node> {
        self.subtree("root")
    }

    /// Returns the ids of a node and its descendants in document order.
    pub(crate) fn subtree_ids(&self, id: &str) -> Vec<String> {
        self.subtree(id).into_iter().map(|node| node.id.clone()).collect()
    }

    /// Removes a node and its descendants from the tree.
    pub(crate) fn remove_subtree(&mut self, id: &str) {
        for gone in self.subtree_ids(id) {
            self.nodes.remove(&gone);
        }
    }

    /// Returns the node and its ancestors, the node first, the root last.
    pub(crate) fn lineage(&self, id: &str) -> Vec<&Node> {
        let mut lineage = vec![self.node(id)];
        while let Some(parent) = lineage.last().and_then(|node| node.parent.as_deref()) {
            lineage.push(self.node(parent));
        }
        lineage
    }

    /// Returns the id of the region that a node is or is in; `root` for the root.
    pub(crate) fn region(&self, id: &str) -> String {
        let lineage = self.lineage(id);
        let region = lineage.iter().rev().nth(1).unwrap_or(&lineage[0]);
        region.id.clone()
    }

    /// Returns the turns, oldest first.
    pub(crate) fn turns(&self) -> Vec<&Node> {
        self.children("seq")
    }

    /// Returns whether a node is the core of a turn or of the head.
    pub(crate) fn is_core(&self, node: &Node) -> bool {
        let Some(parent) = node.parent.as_deref() else { return false };
        let zoned = parent == "ah" || self.node(parent).class() == Class::Turn;
        zoned && node.offset == 0 && is_core_type(&node.node_type)
    }

    /// Returns whether a node is the core of a sealed turn, or is in one.
    pub(crate) fn in_sealed_core(&self, id: &str) -> bool {
        self.region(id) == "seq" && self.lineage(id).into_iter().any(|node| self.is_core(node))
    }

    /// Returns what the `data_refs` of a node may refer to: every text, number and key in it.
    pub(crate) fn references(node: &Node) -> Vec<String> {
        node.attributes.get("data_refs").map(texts_in).unwrap_or_default()
    }
}

fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.to_string()],
        Value::Number(_) => vec![String::from_utf8(value.to_canonical()).expect("JSON is UTF-8")],
        Value::Array(values) => values.iter().flat_map(texts_in).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| [vec![key.to_owned()], texts_in(value)].concat())
            .collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}
