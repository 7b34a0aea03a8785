//! Operations: `{"op":"add","parent":"^ah","node":{"role":"user","content":"Hello"}}`.
//!
//! This is the form in which operations are sent, logged and listed in the conformance corpus. Places are keys of the operation
//! itself: `parent` with `offset`, `parent` with `cue` (`start`, `end`, `+2`, `-2`), `turn` with `zone` (`pre`, `core`, `post`), or
//! `at` with a position in the words of the selector language.

mod form;
mod new_node;
mod place;

use std::fmt;

use contextree::engine::{self, Edit};
use contextree::query::QueryLimits;
use contextree::{Content, Context, Edition};
use contextree_json::{Object, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use new_node::NewNode;
pub use place::{Place, Zone};

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
                set: match value.get("set") {
                    None | Some(Value::Null) => Object::new(),
                    Some(Value::Object(set)) => set.clone(),
                    Some(_) => return wrong("`set` is not an object"),
                },
                unset: match value.get("unset") {
                    None => Vec::new(),
                    Some(names) => texts(names)
                        .ok_or_else(|| OpError("`unset` is not a list of texts".into()))?,
                },
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
        self.resolve_within(context, edition, &QueryLimits::default())
    }

    /// Like [`Op::resolve`], but evaluates a position within limits.
    pub(crate) fn resolve_within(
        self,
        context: &mut Context,
        edition: Option<Edition>,
        limits: &QueryLimits,
    ) -> Result<engine::Op, Error> {
        Ok(match self {
            Op::Add { place, node } => engine::Op::Add {
                place: place.resolve_within(context, edition, limits)?,
                node: node.0,
            },
            Op::Edit { node, content, set, unset } => {
                let set = set.into_iter().map(|(name, value)| (name.into(), value)).collect();
                let edit = Edit { content: content.map(Content::from), set, unset };
                engine::Op::Edit { node, edit }
            }
            Op::Remove { node } => engine::Op::Remove { node },
            Op::Move { node, place } => {
                engine::Op::Move { node, place: place.resolve_within(context, edition, limits)? }
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

fn text(value: &Value, name: &str) -> Result<String, OpError> {
    let text = value.get(name).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| OpError(format!("`{name}` is not a text")))
}

/// Returns the text of a field; `None` if it is absent or null.
fn optional(value: &Value, name: &str) -> Result<Option<String>, OpError> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(value, name).map(Some),
    }
}

/// Returns the texts of a list; `None` if the value is not a list of texts.
fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
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
by_hand!(Place, Place::read_alone, |place| {
    let mut object = Object::new();
    place.write(&mut object);
    object.into()
});
