//! Operations: `{"op":"add","parent":"^ah","node":{"role":"user","content":"Hello"}}`.
//!
//! This is the form in which operations are sent, logged and listed in the conformance corpus. Places are keys of the operation
//! itself: `parent` with `offset`, `parent` with `cue` (`start`, `end`, `+2`, `-2`), `turn` with `zone` (`pre`, `core`, `post`), or
//! `at` with a position in the words of the selector language.

use std::borrow::Cow;
use std::fmt;

use contextree::engine::{self, Cue, Edit};
use contextree::{Content, Context, Edition};
use contextree_json::{Object, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{AnyObject, AnyValue};
use crate::Error;

/// An operation on the working state.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "most operations are additions")]
pub enum Op {
    /// Adds a node.
    Add {
        /// Where.
        place: Place,
        /// What.
        node: NewNode,
    },
    /// Changes a node of the turn in progress.
    Edit {
        /// The node.
        node: String,
        /// The new content, if it changes.
        content: Option<Value>,
        /// `key`, `tags`, `provenance`, `mime`, `encoding` and attributes to set.
        set: Object,
        /// The same, to remove.
        unset: Vec<String>,
    },
    /// Removes a node and everything below it.
    Remove {
        /// The node.
        node: String,
    },
    /// Moves a node and everything below it.
    Move {
        /// The node.
        node: String,
        /// Where to.
        place: Place,
    },
    /// Changes a priority on behalf of a policy.
    SetPriority {
        /// The node.
        node: String,
        /// The new priority.
        priority: i64,
        /// The name of the policy.
        policy: String,
    },
    /// Protects a node from pruning.
    Pin {
        /// The node.
        node: String,
    },
    /// Removes the protection.
    Unpin {
        /// The node.
        node: String,
    },
}

/// Where a node is placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into a parent (an id, `^sys` or `^ah`), at an offset.
    Into {
        /// The parent.
        parent: String,
        /// The offset; absent: 0, or for a move the node's own.
        offset: Option<i64>,
    },
    /// Into a zone of a turn.
    Zone {
        /// The id of the turn, or `^ah`.
        turn: String,
        /// The zone.
        zone: Zone,
    },
    /// At a position among the children of a parent.
    Cue {
        /// The parent.
        parent: String,
        /// `start`, `end`, `+N` (after the Nth child) or `-N` (before it).
        cue: String,
    },
    /// At a position in the words of the selector language: `(d0, cont[offset=0], end)`.
    At {
        /// The position.
        at: String,
    },
}

impl Default for Place {
    /// The core of the turn in progress.
    fn default() -> Self {
        Place::Into { parent: "^ah".to_owned(), offset: None }
    }
}

/// A zone of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Before the core: offset −1.
    Pre,
    /// The core: offset 0.
    Core,
    /// After the core: offset 1.
    Post,
}

/// A node to add. Keys that are not listed here are attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewNode(pub engine::NewNode);

/// Why a JSON value is not an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError(String);

impl fmt::Display for OpError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for OpError {}

fn wrong<T>(message: impl Into<String>) -> Result<T, OpError> {
    Err(OpError(message.into()))
}

impl Op {
    /// Reads an operation. Keys that the operation does not have are ignored.
    ///
    /// # Errors
    ///
    /// If a key is missing or has the wrong type.
    pub fn from_value(value: &Value) -> Result<Op, OpError> {
        let node = || text(value, "node");
        Ok(match text(value, "op")?.as_str() {
            "add" => {
                let (node, offset) = NewNode::read(value.get("node").unwrap_or(&Value::Null))?;
                Op::Add { place: Place::read(value, offset)?, node }
            }
            "edit" => Op::Edit {
                node: node()?,
                content: value.get("content").cloned(),
                set: value.get("set").and_then(Value::as_object).cloned().unwrap_or_default(),
                unset: texts(value.get("unset").unwrap_or(&Value::Null))?,
            },
            "remove" => Op::Remove { node: node()? },
            "move" => Op::Move { node: node()?, place: Place::read(value, None)? },
            "set_priority" => {
                let priority = value.get("priority").and_then(Value::as_i64);
                let priority = priority.ok_or(OpError("`priority` is not an integer".into()))?;
                Op::SetPriority { node: node()?, priority, policy: text(value, "policy")? }
            }
            "pin" => Op::Pin { node: node()? },
            "unpin" => Op::Unpin { node: node()? },
            other => return wrong(format!("unknown operation `{other}`")),
        })
    }

    /// Returns the JSON of the operation.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let op = |name: &str| Object::from_iter([("op", Value::from(name))]);
        let on = |name: &str, node: &str| {
            Object::from_iter([("op", Value::from(name)), ("node", Value::from(node))])
        };
        Value::Object(match self {
            Op::Add { place, node } => {
                let mut object = op("add");
                object.insert("node", node.to_value());
                place.write(&mut object);
                object
            }
            Op::Edit { node, content, set, unset } => {
                let mut object = on("edit", node);
                if let Some(content) = content {
                    object.insert("content", content.clone());
                }
                if !set.is_empty() {
                    object.insert("set", set.clone().into());
                }
                if !unset.is_empty() {
                    let unset = unset.iter().map(|name| Value::from(name.as_str())).collect();
                    object.insert("unset", Value::Array(unset));
                }
                object
            }
            Op::Remove { node } => on("remove", node),
            Op::Move { node, place } => {
                let mut object = on("move", node);
                place.write(&mut object);
                object
            }
            Op::SetPriority { node, priority, policy } => {
                let mut object = on("set_priority", node);
                object.insert("priority", (*priority).into());
                object.insert("policy", policy.as_str().into());
                object
            }
            Op::Pin { node } => on("pin", node),
            Op::Unpin { node } => on("unpin", node),
        })
    }

    /// Returns the operation of the engine. `context` and `edition` resolve a position in words.
    ///
    /// # Errors
    ///
    /// If a cue or a position is invalid, or leads nowhere.
    pub fn resolve(
        self,
        context: &mut Context,
        edition: Option<Edition>,
    ) -> Result<engine::Op, Error> {
        Ok(match self {
            Op::Add { place, node } => {
                engine::Op::Add { place: place.resolve(context, edition)?, node: node.0 }
            }
            Op::Edit { node, content, set, unset } => {
                let set = set.into_iter().map(|(name, value)| (name.into(), value)).collect();
                let edit = Edit { content: content.map(Content::from), set, unset };
                engine::Op::Edit { node, edit }
            }
            Op::Remove { node } => engine::Op::Remove { node },
            Op::Move { node, place } => {
                engine::Op::Move { node, place: place.resolve(context, edition)? }
            }
            Op::SetPriority { node, priority, policy } => {
                engine::Op::SetPriority { node, priority, policy }
            }
            Op::Pin { node } => engine::Op::Pin { node },
            Op::Unpin { node } => engine::Op::Unpin { node },
        })
    }
}

impl Op {
    /// Returns the form of an operation of the engine; `None` for one that this version does not know.
    #[must_use]
    pub fn of(op: &engine::Op) -> Option<Op> {
        Some(match op {
            engine::Op::Add { place, node } => {
                Op::Add { place: place.into(), node: NewNode(node.clone()) }
            }
            engine::Op::Edit { node, edit } => Op::Edit {
                node: node.clone(),
                content: edit.content.as_ref().and_then(Content::to_value),
                set: edit.set.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
                unset: edit.unset.clone(),
            },
            engine::Op::Remove { node } => Op::Remove { node: node.clone() },
            engine::Op::Move { node, place } => {
                Op::Move { node: node.clone(), place: place.into() }
            }
            engine::Op::SetPriority { node, priority, policy } => {
                Op::SetPriority { node: node.clone(), priority: *priority, policy: policy.clone() }
            }
            engine::Op::Pin { node } => Op::Pin { node: node.clone() },
            engine::Op::Unpin { node } => Op::Unpin { node: node.clone() },
            _ => return None,
        })
    }
}

impl Place {
    fn read(value: &Value, offset: Option<i64>) -> Result<Place, OpError> {
        if value.get("at").is_some() {
            return Ok(Place::At { at: text(value, "at")? });
        }
        if value.get("turn").is_some() {
            let zone = match text(value, "zone")?.as_str() {
                "pre" => Zone::Pre,
                "core" => Zone::Core,
                "post" => Zone::Post,
                other => return wrong(format!("unknown zone `{other}`")),
            };
            return Ok(Place::Zone { turn: text(value, "turn")?, zone });
        }
        let parent = match value.get("parent") {
            None => "^ah".to_owned(),
            Some(_) => text(value, "parent")?,
        };
        match value.get("cue") {
            Some(_) => {
                let cue = text(value, "cue")?;
                cue_of(&cue).map(|_| Place::Cue { parent, cue })
            }
            None => {
                let offset = match value.get("offset") {
                    None | Some(Value::Null) => offset,
                    Some(value) => match value.as_i64() {
                        Some(offset) => Some(offset),
                        None => return wrong("`offset` is not an integer"),
                    },
                };
                Ok(Place::Into { parent, offset })
            }
        }
    }

    fn write(&self, object: &mut Object) {
        match self {
            Place::Into { parent, offset } => {
                object.insert("parent", parent.as_str().into());
                if let Some(offset) = offset {
                    object.insert("offset", (*offset).into());
                }
            }
            Place::Zone { turn, zone } => {
                object.insert("turn", turn.as_str().into());
                object.insert("zone", super::to_value(zone));
            }
            Place::Cue { parent, cue } => {
                object.insert("parent", parent.as_str().into());
                object.insert("cue", cue.as_str().into());
            }
            Place::At { at } => {
                object.insert("at", at.as_str().into());
            }
        }
    }

    /// Returns the place of the engine.
    ///
    /// # Errors
    ///
    /// If a cue or a position is invalid, or leads nowhere.
    pub fn resolve(
        self,
        context: &mut Context,
        edition: Option<Edition>,
    ) -> Result<engine::Place, Error> {
        Ok(match self {
            Place::Into { parent, offset } => engine::Place::Into { parent, offset },
            Place::Zone { turn, zone } => engine::Place::Zone { turn, zone: zone.into() },
            Place::Cue { parent, cue } => {
                let cue = cue_of(&cue).map_err(|error| Error::usage(error.to_string()))?;
                engine::Place::Cue { parent, cue }
            }
            Place::At { at } => crate::workspace::place_of(context, &at, edition)?,
        })
    }
}

impl From<&engine::Place> for Place {
    fn from(place: &engine::Place) -> Self {
        match place {
            engine::Place::Into { parent, offset } => {
                Place::Into { parent: parent.clone(), offset: *offset }
            }
            engine::Place::Zone { turn, zone } => Place::Zone {
                turn: turn.clone(),
                zone: match zone {
                    engine::Zone::Pre => Zone::Pre,
                    engine::Zone::Core => Zone::Core,
                    engine::Zone::Post => Zone::Post,
                },
            },
            engine::Place::Cue { parent, cue } => Place::Cue {
                parent: parent.clone(),
                cue: match cue {
                    Cue::Start => "start".to_owned(),
                    Cue::End => "end".to_owned(),
                    Cue::After(child) => format!("+{child}"),
                    Cue::Before(child) => format!("-{child}"),
                },
            },
        }
    }
}

impl From<Zone> for engine::Zone {
    fn from(zone: Zone) -> Self {
        match zone {
            Zone::Pre => engine::Zone::Pre,
            Zone::Core => engine::Zone::Core,
            Zone::Post => engine::Zone::Post,
        }
    }
}

/// Reads `start`, `end`, `+2` (after the second child) or `-2` (before it).
fn cue_of(text: &str) -> Result<Cue, OpError> {
    let number =
        |digits: &str| digits.parse().map_err(|_| OpError(format!("invalid cue `{text}`")));
    match text {
        "start" => Ok(Cue::Start),
        "end" => Ok(Cue::End),
        _ => match text.split_at_checked(1) {
            Some(("+", digits)) => Ok(Cue::After(number(digits)?)),
            Some(("-", digits)) => Ok(Cue::Before(number(digits)?)),
            _ => wrong(format!("invalid cue `{text}`")),
        },
    }
}

fn text(value: &Value, name: &str) -> Result<String, OpError> {
    let text = value.get(name).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| OpError(format!("`{name}` is not a text")))
}

/// Returns the texts of a list; an absent list is empty.
fn texts(value: &Value) -> Result<Vec<String>, OpError> {
    let texts = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    texts.ok_or(OpError("not a list of texts".into()))
}

impl NewNode {
    /// Reads a node, and the offset that it names.
    ///
    /// # Errors
    ///
    /// If a key has the wrong type.
    pub fn read(value: &Value) -> Result<(NewNode, Option<i64>), OpError> {
        let Some(fields) = value.as_object() else { return wrong("`node` is not an object") };
        let (mut node, mut offset) = (engine::NewNode::default(), None);
        for (name, value) in fields {
            let wrong = || OpError(format!("`{name}` of a node has the wrong type"));
            let text = || value.as_str().map(str::to_owned).ok_or_else(wrong);
            match name {
                "id" => node.id = Some(text()?),
                "nodeType" => node.node_type = Some(text()?),
                "role" => node.role = Some(text()?),
                "kind" => node.kind = Some(text()?),
                "key" => node.key = Some(text()?),
                "provenance" => node.provenance = Some(text()?),
                "mime" => node.mime = Some(text()?),
                "encoding" => node.encoding = Some(text()?),
                "tags" => node.tags = texts(value)?,
                "content" => node.content = Content::from(value.clone()),
                "ttl" if value.is_null() => {}
                "ttl" => node.ttl = Some(value.as_i64().ok_or_else(wrong)?),
                "offset" => offset = Some(value.as_i64().ok_or_else(wrong)?),
                "priority" => node.priority = value.as_i64().ok_or_else(wrong)?,
                "removable" => node.removable = value.as_bool().ok_or_else(wrong)?,
                "pinned" => node.pinned = value.as_bool().ok_or_else(wrong)?,
                _ => node.attributes.push((name.to_owned(), value.clone())),
            }
        }
        Ok((NewNode(node), offset))
    }

    /// Returns the JSON of the node; what has its default is left out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let node = &self.0;
        let mut object = Object::new();
        for (name, value) in &node.attributes {
            object.insert(name.as_str(), value.clone());
        }
        let texts = [
            ("id", &node.id),
            ("nodeType", &node.node_type),
            ("role", &node.role),
            ("kind", &node.kind),
            ("key", &node.key),
            ("provenance", &node.provenance),
            ("mime", &node.mime),
            ("encoding", &node.encoding),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                object.insert(name, text.as_str().into());
            }
        }
        if !node.tags.is_empty() {
            let tags = node.tags.iter().map(|tag| Value::from(tag.as_str())).collect();
            object.insert("tags", Value::Array(tags));
        }
        if let Some(content) = node.content.to_value() {
            object.insert("content", content);
        }
        if let Some(ttl) = node.ttl {
            object.insert("ttl", ttl.into());
        }
        if node.priority != 0 {
            object.insert("priority", node.priority.into());
        }
        for (name, truth) in [("removable", node.removable), ("pinned", node.pinned)] {
            if truth {
                object.insert(name, true.into());
            }
        }
        object.into()
    }
}

/// Implements serde's traits for a form that reads and writes values by hand.
macro_rules! by_hand {
    ($kind:ty, $read:expr, $write:expr) => {
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$kind) -> Value = $write;
                write(self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = Value::deserialize(deserializer)?;
                let read: fn(&Value) -> Result<$kind, OpError> = $read;
                read(&value).map_err(de::Error::custom)
            }
        }
    };
}

by_hand!(Op, Op::from_value, Op::to_value);
by_hand!(NewNode, |value| NewNode::read(value).map(|(node, _)| node), NewNode::to_value);
by_hand!(Place, |value| Place::read(value, None), |place| {
    let mut object = Object::new();
    place.write(&mut object);
    object.into()
});

/// Implements `JsonSchema` with the schema of another type.
macro_rules! schema_of {
    ($($kind:ident: $form:ty),*) => {
        $(impl JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$form>::json_schema(generator)
            }
        })*
    };
}

schema_of!(Op: OpForm, Place: PlaceForm, NewNode: NewNodeForm);

/// What the schema says of an operation.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schemars(tag = "op", rename_all = "snake_case")]
enum OpForm {
    /// Adds a node.
    Add {
        #[schemars(flatten)]
        place: PlaceForm,
        node: NewNodeForm,
    },
    /// Changes a node of the turn in progress.
    Edit {
        node: String,
        #[schemars(default)]
        content: Option<AnyValue>,
        #[schemars(default)]
        set: Option<AnyObject>,
        #[schemars(default)]
        unset: Vec<String>,
    },
    /// Removes a node and everything below it.
    Remove { node: String },
    /// Moves a node and everything below it.
    Move {
        node: String,
        #[schemars(flatten)]
        place: PlaceForm,
    },
    /// Changes a priority on behalf of a policy.
    SetPriority { node: String, priority: i64, policy: String },
    /// Protects a node from pruning.
    Pin { node: String },
    /// Removes the protection.
    Unpin { node: String },
}

/// What the schema says of a place.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct PlaceForm {
    /// The parent: an id, `^sys` or `^ah`; `^ah` if no place is given.
    #[schemars(default)]
    parent: Option<String>,
    /// The offset in the parent.
    #[schemars(default)]
    offset: Option<i64>,
    /// Instead of an offset: `start`, `end`, `+N` (after the Nth child) or `-N` (before it).
    #[schemars(default)]
    cue: Option<String>,
    /// Instead of a parent: the id of a turn, or `^ah`; with `zone`.
    #[schemars(default)]
    turn: Option<String>,
    /// The zone of the turn.
    #[schemars(default)]
    zone: Option<Zone>,
    /// Instead of all others: a position such as `(d0, cont[offset=0], end)`.
    #[schemars(default)]
    at: Option<String>,
}

/// What the schema says of a node to add. Keys that are not listed here are attributes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct NewNodeForm {
    /// The id; made if it is absent.
    #[schemars(default)]
    id: Option<String>,
    /// The type; absent for a block.
    #[schemars(default, rename = "nodeType")]
    node_type: Option<String>,
    /// How many commits it survives; absent for ever.
    #[schemars(default)]
    ttl: Option<u64>,
    /// Pruning takes the lowest first.
    #[schemars(default)]
    priority: i64,
    /// The role: `user`, `assistant`, `system`, `tool` …
    #[schemars(default)]
    role: Option<String>,
    /// The kind: `text`, `call`, `result` …
    #[schemars(default)]
    kind: Option<String>,
    /// A name that several nodes may share.
    #[schemars(default)]
    key: Option<String>,
    /// Tags.
    #[schemars(default)]
    tags: Vec<String>,
    /// Where it comes from.
    #[schemars(default)]
    provenance: Option<String>,
    /// The media type of the content.
    #[schemars(default)]
    mime: Option<String>,
    /// The encoding of the content.
    #[schemars(default)]
    encoding: Option<String>,
    /// The content: a text, or any JSON value.
    #[schemars(default)]
    content: Option<AnyValue>,
    /// A container that is removed when it is empty.
    #[schemars(default)]
    removable: bool,
    /// Protected from pruning.
    #[schemars(default)]
    pinned: bool,
}
