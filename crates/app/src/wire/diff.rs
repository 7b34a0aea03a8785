//! What changed between two states.

use std::collections::BTreeMap;

use contextree::diff;
use contextree_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AnyValue;

/// What changed, by id, in the order of the newer state; removed ids by code point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diff {
    /// Ids that only the newer state has.
    pub added: Vec<String>,
    /// Ids that only the older state has.
    pub removed: Vec<String>,
    /// Ids that both have, with the names of the fields that differ.
    pub changed: Vec<Changed>,
}

impl Diff {
    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// A node that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The id.
    pub id: String,
    /// The fields that differ.
    pub fields: Vec<String>,
}

/// Two ids of one content: a node that was probably moved, or the same message in two contexts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The id in the first state.
    pub from: String,
    /// The id in the second state.
    pub to: String,
}

impl From<&diff::Diff> for Diff {
    fn from(diff: &diff::Diff) -> Self {
        let changed = diff.changed.iter();
        Diff {
            added: diff.added.clone(),
            removed: diff.removed.clone(),
            changed: changed
                .map(|node| Changed { id: node.id.clone(), fields: node.fields.clone() })
                .collect(),
        }
    }
}

/// Everything that changed, with values: enough to turn the older state into the newer one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Ids of added nodes, in the order of the newer state.
    pub components_added: Vec<String>,
    /// Ids of removed nodes, by code point.
    pub components_removed: Vec<String>,
    /// Changed nodes, in the order of the newer state.
    pub components_modified: Vec<ModifiedNode>,
    /// By parent: the children it got, moved ones included.
    pub children_added: BTreeMap<String, Vec<String>>,
    /// By parent: the children it lost, moved ones included.
    pub children_removed: BTreeMap<String, Vec<String>>,
    /// Nodes with a new parent, in the order of the newer state.
    pub parent_changed: Vec<ParentChange>,
}

/// A node whose fields changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModifiedNode {
    /// The id.
    pub id: String,
    /// The fields.
    pub fields: Vec<FieldChange>,
}

/// A field that changed. A value that is left out is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// The name of the field.
    pub field: String,
    /// The value in the older state.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "Option<AnyValue>")]
    pub from: Option<Value>,
    /// The value in the newer state.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "Option<AnyValue>")]
    pub to: Option<Value>,
}

/// Reads a value that is there, so that `null` is a value and not an absent one.
pub(super) fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A node with a new parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParentChange {
    /// The id.
    pub id: String,
    /// The parent in the older state.
    pub previous_parent_id: String,
    /// The parent in the newer state.
    pub new_parent_id: String,
}

impl From<&diff::Changes> for Changes {
    fn from(changes: &diff::Changes) -> Self {
        let field = |change: &diff::FieldChange| FieldChange {
            field: change.field.clone(),
            from: change.from.clone(),
            to: change.to.clone(),
        };
        let modified = changes.components_modified.iter().map(|(id, fields)| ModifiedNode {
            id: id.clone(),
            fields: fields.iter().map(field).collect(),
        });
        let parents = changes.parent_changed.iter().map(|change| ParentChange {
            id: change.id.clone(),
            previous_parent_id: change.previous_parent_id.clone(),
            new_parent_id: change.new_parent_id.clone(),
        });
        Changes {
            components_added: changes.components_added.clone(),
            components_removed: changes.components_removed.clone(),
            components_modified: modified.collect(),
            children_added: changes.children_added.clone(),
            children_removed: changes.children_removed.clone(),
            parent_changed: parents.collect(),
        }
    }
}
