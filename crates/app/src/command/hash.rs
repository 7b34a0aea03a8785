//! `hash`: content hashes of nodes.

use contextree::canon::{content_hash_of_document, hashed_text};
use contextree_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{AnyValue, Document};
use crate::workspace::objects;
use crate::{Control, Error};

/// Hashes the contents of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HashRequest {
    /// Nodes as JSON Lines, each as an export has it.
    pub nodes: Document,
    /// Returns the text that is hashed instead of its hash.
    #[serde(default)]
    pub hashed: bool,
}

/// The hashes of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HashResponse {
    /// One for each line that is not empty.
    pub nodes: Vec<HashedNode>,
}

/// The hash of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HashedNode {
    /// Its id; null if it has none.
    #[schemars(with = "AnyValue")]
    pub id: Value,
    /// Its line.
    pub line: usize,
    /// The hash of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// The text that is hashed, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hashed: Option<String>,
}

/// Hashes the contents of nodes: `content`, `kind`, `role`, and every `content_…` and `data_…`.
///
/// # Errors
///
/// If a line is not a JSON object.
pub fn hash(request: &HashRequest, control: &Control<'_>) -> Result<HashResponse, Error> {
    control.check()?;
    let nodes = objects(&request.nodes.name, &request.nodes.text)?;
    let hash = |(line, node): &(usize, contextree_json::Object)| HashedNode {
        id: node.get("id").cloned().unwrap_or_default(),
        line: *line,
        content_hash: (!request.hashed).then(|| content_hash_of_document(node).to_string()),
        hashed: request.hashed.then(|| hashed_text(node)),
    };
    Ok(HashResponse { nodes: nodes.iter().map(hash).collect() })
}
