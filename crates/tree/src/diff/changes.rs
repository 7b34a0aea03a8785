//! The detailed form of a diff: values, parents and children.

use std::collections::BTreeMap;

use contextree_json::Value;

use super::{Pair, changed_fields, pairs};
use crate::node::NodeRef;
use crate::view::TreeRef;

/// Everything that changed, with values; enough to turn the older tree into the newer one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Added ids, in the order of the newer tree.
    pub components_added: Vec<String>,
    /// Removed ids, by code point.
    pub components_removed: Vec<String>,
    /// Changed ids, with old and new values, in the order of the newer tree.
    pub components_modified: Vec<(String, Vec<FieldChange>)>,
    /// By parent: added children, including moved ones.
    pub children_added: BTreeMap<String, Vec<String>>,
    /// By parent: removed children, including moved ones.
    pub children_removed: BTreeMap<String, Vec<String>>,
    /// Nodes whose parent changed, in the order of the newer tree.
    pub parent_changed: Vec<ParentChange>,
}

/// One field of a node that changed. `None` means that the field is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The field's name.
    pub field: String,
    /// The value in the older tree.
    pub from: Option<Value>,
    /// The value in the newer tree.
    pub to: Option<Value>,
}

/// A node whose parent changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentChange {
    /// The node.
    pub id: String,
    /// Its parent in the older tree.
    pub previous_parent_id: String,
    /// Its parent in the newer tree.
    pub new_parent_id: String,
}

/// Returns everything that changed from the older tree to the newer one, with values.
#[must_use]
pub fn changes(older: TreeRef<'_>, newer: TreeRef<'_>) -> Changes {
    let mut all = Changes::default();
    for pair in pairs(older, newer) {
        match pair {
            Pair::Added(node) => {
                all.components_added.push(node.id().into());
                note_child(&mut all.children_added, node);
            }
            Pair::Removed(node) => {
                all.components_removed.push(node.id().into());
                note_child(&mut all.children_removed, node);
            }
            Pair::Both(before, after) => {
                let fields = changed_fields(before, after);
                if fields.is_empty() {
                    continue;
                }
                if fields.iter().any(|field| field == "parent") {
                    note_child(&mut all.children_removed, before);
                    note_child(&mut all.children_added, after);
                    all.parent_changed.push(ParentChange {
                        id: after.id().into(),
                        previous_parent_id: before.parent_id().unwrap_or_default().into(),
                        new_parent_id: after.parent_id().unwrap_or_default().into(),
                    });
                }
                let changed = fields
                    .into_iter()
                    .map(|field| FieldChange {
                        from: value(before, &field),
                        to: value(after, &field),
                        field: field.into_owned(),
                    })
                    .collect();
                all.components_modified.push((after.id().into(), changed));
            }
        }
    }
    all
}

fn note_child(lists: &mut BTreeMap<String, Vec<String>>, node: NodeRef<'_>) {
    if let Some(parent) = node.parent_id() {
        lists.entry(parent.into()).or_default().push(node.id().into());
    }
}

/// Returns the value of a field. `content_hash` is reported with the content itself, which is what
/// readers want to see and what can be applied.
fn value(node: NodeRef<'_>, field: &str) -> Option<Value> {
    match field {
        "parent" => node.parent_id().map(Value::from),
        "content_hash" => node.content().to_value(),
        _ => node.header(field),
    }
}
