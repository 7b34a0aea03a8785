//! Nodes with their headers, content and place.

use std::borrow::Cow;

use contextree::query::depth_of;
use contextree::{Class, Edition, NodeRef, Region, content_hash};
use contextree_json::{Number, Object, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::AnyValue;

/// Headers that every node has, in the order of the specification.
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

/// A node, without its children: headers, attributes and content as an export has them, and what follows from its place under
/// `derived`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Headers, attributes and content.
    pub fields: Object,
    /// What follows from the node's place and content.
    pub derived: Derived,
}

/// What follows from a node's place and content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The length of the content in bytes.
    pub bytes: u64,
    /// What the node is.
    pub class: NodeClass,
    /// The hash of the content.
    pub content_hash: String,
    /// The depth that selectors know: −1 for the system region, 0 for the head, 1 for the newest sealed turn.
    pub depth: Option<i64>,
    /// The id of the parent.
    pub parent: Option<String>,
    /// The ids of all ancestors, from the root down.
    pub path: Vec<String>,
    /// The region that the node is, or is in: `^sys`, `^seq` or `^ah`.
    pub region: Option<String>,
    /// The name of the tool that is called, or that returned this result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether pruning keeps it, if that was decided after it was sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Its priority for pruning, if that was set after it was sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub priority: Option<Value>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeClass {
    /// The root.
    Root,
    /// A region.
    Region,
    /// A sealed turn.
    Turn,
    /// A container.
    Container,
    /// A block.
    Block,
}

impl From<Class> for NodeClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Root => NodeClass::Root,
            Class::Region => NodeClass::Region,
            Class::Turn => NodeClass::Turn,
            Class::Container => NodeClass::Container,
            Class::Block => NodeClass::Block,
        }
    }
}

impl Node {
    /// Returns the wire form of a node. Depths of turns with equal stamps depend on the edition of selectors.
    #[must_use]
    pub fn new(node: NodeRef<'_>, edition: Edition) -> Self {
        let mut fields = Object::new();
        for name in HEADERS {
            if let Some(value) = node.header(name) {
                fields.insert(name, value);
            }
        }
        if let Some(body) = node.body() {
            for (name, value) in &body.attributes {
                fields.insert(name, value.clone());
            }
        }
        if let Some(content) = node.content().to_value() {
            fields.insert("content", content);
        }
        let mut path: Vec<String> = node.ancestors().map(|above| above.id().to_owned()).collect();
        path.reverse();
        let derived = Derived {
            bytes: node.content().byte_len() as u64,
            class: node.class().into(),
            content_hash: content_hash(node).to_string(),
            depth: depth_of(node, edition),
            parent: node.parent_id().map(Into::into),
            path,
            region: region(node).map(|region| region.word().to_owned()),
            tool: super::tools::own(node),
            pinned: node.policy().pinned,
            priority: node.policy().priority.map(|priority| Value::Number(priority.to_number())),
        };
        Node { fields, derived }
    }
}

/// Returns the region that a node is, or is in.
fn region(node: NodeRef<'_>) -> Option<Region> {
    node.as_region().or_else(|| node.region())
}

impl Node {
    fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text("id").unwrap_or_default()
    }

    /// Returns the type: `block`, `^ah`, `cont:NAME` …
    #[must_use]
    pub fn node_type(&self) -> &str {
        self.text("nodeType").unwrap_or_default()
    }

    /// Returns the role.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        self.text("role")
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.text("kind")
    }

    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.text("key")
    }

    /// Returns the tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let tags = self.fields.get("tags").and_then(Value::as_array).unwrap_or_default();
        tags.iter().filter_map(Value::as_str)
    }

    /// Returns how many commits the node survives; `None` for ever.
    #[must_use]
    pub fn ttl(&self) -> Option<u64> {
        self.fields.get("ttl").and_then(Value::as_u64)
    }

    /// Returns the offset.
    #[must_use]
    pub fn offset(&self) -> Option<&Number> {
        self.fields.get("offset").and_then(Value::as_number)
    }

    /// Returns the priority that pruning follows.
    #[must_use]
    pub fn priority(&self) -> Option<&Number> {
        let priority = self.derived.priority.as_ref().or(self.fields.get("priority"));
        priority.and_then(Value::as_number)
    }

    /// Returns when the node was created, in nanoseconds since 1970.
    #[must_use]
    pub fn created_at_ns(&self) -> i64 {
        self.fields.get("created_at_ns").and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns whether the node is protected from pruning.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        let header = self.fields.get("pinned").and_then(Value::as_bool) == Some(true);
        self.derived.pinned.unwrap_or(header)
    }

    /// Returns whether the container is removed when it is empty.
    #[must_use]
    pub fn is_removable(&self) -> bool {
        self.fields.get("removable").and_then(Value::as_bool) == Some(true)
    }

    /// Returns the content.
    #[must_use]
    pub fn content(&self) -> Option<&Value> {
        self.fields.get("content")
    }

    /// Returns the sealed turn that the node is in; `None` for a turn itself.
    #[must_use]
    pub fn turn(&self) -> Option<&str> {
        match self.derived.region.as_deref() {
            // Root, region, turn.
            Some("^seq") => self.derived.path.get(2).map(String::as_str),
            _ => None,
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = self.fields.clone();
        object.insert("derived", super::to_value(&self.derived));
        object.serialize(serializer)
    }
}

/// Reads all fields as JSON first: derived code would buffer them in a form without integers beyond 64 bits.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Object::deserialize(deserializer)?;
        let derived = fields.remove("derived").ok_or(de::Error::missing_field("derived"))?;
        let derived = contextree_json::from_value(derived).map_err(de::Error::custom)?;
        match fields.get("id").and_then(Value::as_str) {
            Some(_) => Ok(Node { fields, derived }),
            None => Err(de::Error::missing_field("id")),
        }
    }
}

/// A node without its children. Keys that are not listed here are attributes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schemars(rename = "Node")]
struct NodeForm {
    /// The id, unique within the context.
    id: String,
    /// The type: `block`, `^ah`, `cont:NAME` …
    #[schemars(rename = "nodeType")]
    node_type: String,
    /// The place among siblings: below 0 before the core of a turn, above 0 after it.
    offset: AnyValue,
    /// How many commits it survives; null for ever.
    ttl: Option<u64>,
    /// Pruning takes the lowest first.
    priority: AnyValue,
    /// The commit that it was added for.
    cycle: u32,
    /// When it was created, in nanoseconds since 1970.
    created_at_ns: i64,
    /// The same as text.
    created_at_iso: String,
    /// Counts nodes in the order of their creation.
    creation_index: u64,
    /// The role.
    #[schemars(default)]
    role: Option<String>,
    /// The kind.
    #[schemars(default)]
    kind: Option<String>,
    /// Removed when it is empty.
    #[schemars(default)]
    removable: bool,
    /// Protected from pruning.
    #[schemars(default)]
    pinned: bool,
    /// The content: a text, or any JSON value.
    #[schemars(default)]
    content: Option<AnyValue>,
    /// What follows from its place and content.
    derived: Derived,
}

impl JsonSchema for Node {
    fn schema_name() -> Cow<'static, str> {
        "Node".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        NodeForm::json_schema(generator)
    }
}
