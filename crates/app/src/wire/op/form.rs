//! The schemas of operations, places and new nodes. Their readers are written by hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{NewNode, Op, Place, Zone};
use crate::wire::{AnyObject, AnyValue};

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

schema_of!(Op: OpForm, NewNode: NewNodeForm);

impl JsonSchema for Place {
    fn schema_name() -> Cow<'static, str> {
        "Place".into()
    }

    /// A place of its own has no other fields; in an operation, they are those of the operation.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = PlaceForm::json_schema(generator);
        schema.insert("additionalProperties".to_owned(), false.into());
        schema
    }
}

/// An operation on the working state.
#[derive(JsonSchema)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
#[schemars(tag = "op", rename_all = "snake_case")]
enum OpForm {
    /// Adds a node.
    Add {
        #[schemars(flatten)]
        place: PlaceForm,
        node: NewNode,
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

/// Where a node is placed.
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

/// A node to add. Keys that are not listed here are attributes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct NewNodeForm {
    /// The id; made if it is absent.
    #[schemars(default)]
    id: Option<String>,
    /// The type; absent for a block.
    #[schemars(default, rename = "nodeType")]
    node_type: Option<String>,
    /// How many commits it survives; forever if absent.
    #[schemars(default)]
    ttl: Option<u64>,
    /// In an operation: the offset in the parent, if the place names none.
    #[schemars(default)]
    offset: Option<i64>,
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
