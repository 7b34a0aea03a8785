//! Rules for names of attributes, types and roles.

use contextree_json::Value;
use contextree_tree::Class;

use crate::error::{OpError, Reason};

/// Names of headers, which custom attributes cannot have.
const RESERVED: [&str; 24] = [
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
    "key",
    "tags",
    "tag",
    "type",
    "content",
    "content_hash",
    "children",
    "parent",
    "removable",
    "pinned",
    "provenance",
    "mime",
    "encoding",
];

/// Headers that can be edited while a node is active.
const EDITABLE: [&str; 5] = ["key", "tags", "provenance", "mime", "encoding"];

/// The six type names of the two vocabularies.
const WORDS: [&str; 6] = ["mt", "mc", "cb", "seg", "cont", "block"];

/// Returns whether a role is well known or has a namespace.
pub(super) fn is_usual_role(role: &str) -> bool {
    matches!(role, "user" | "assistant" | "tool" | "system" | "other") || role.contains(':')
}

pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

pub(super) fn is_editable(name: &str) -> bool {
    EDITABLE.contains(&name)
}

/// Checks the name of a custom attribute that is not reserved.
pub(super) fn check_namespace(name: &str) -> Result<(), OpError> {
    let prefixed = ["data_", "content_"]
        .iter()
        .any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()));
    let spaced =
        name.split_once(':').is_some_and(|(space, rest)| !space.is_empty() && !rest.is_empty());
    if prefixed || spaced {
        Ok(())
    } else {
        Err(OpError::placement(Reason::AttributeNotNamespaced, name))
    }
}

/// Checks the type of a new node.
pub(super) fn check_type(node_type: &str) -> Result<Class, OpError> {
    if node_type.starts_with('^') {
        return Err(OpError::placement(Reason::ExtraRegion, node_type));
    }
    let class = Class::of(node_type);
    if class == Class::Turn {
        return Err(OpError::placement(Reason::TurnOutsideSequence, node_type));
    }
    let known = WORDS.contains(&node_type)
        || node_type
            .split_once(':')
            .is_some_and(|(space, name)| !space.is_empty() && !name.is_empty());
    if known { Ok(class) } else { Err(OpError::placement(Reason::TypeNotNamespaced, node_type)) }
}

/// Checks the value of an editable header.
pub(super) fn check_header(name: &str, value: &Value) -> Result<(), OpError> {
    let fits = match name {
        "tags" => {
            value.as_array().is_some_and(|tags| tags.iter().all(|tag| tag.as_str().is_some()))
        }
        _ => value.as_str().is_some(),
    };
    if fits { Ok(()) } else { Err(OpError::placement(Reason::InvalidHeader, name)) }
}
