//! `hash`: content hashes of nodes.

use contextree::canon::{content_hash_of_bytes, hashed_text};
use contextree_json::{Value, lines, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{AnyValue, Document};
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
    /// Why the hash does not identify the content: it is not JSON, and is hashed as an empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Hashes the contents of nodes: `content`, `kind`, `role`, and every `content_…` and `data_…`. A line that is not a JSON object has
/// the hash of an empty text, and a warning.
///
/// # Errors
///
/// If the command is canceled.
pub fn hash(request: &HashRequest, control: &Control<'_>) -> Result<HashResponse, Error> {
    control.check()?;
    let hash = |(index, line): (usize, &[u8])| {
        let (hash, warning) = content_hash_of_bytes(line);
        let node = parse(line).ok().filter(|_| warning.is_none());
        let object = node.as_ref().and_then(Value::as_object);
        HashedNode {
            id: object.and_then(|node| node.get("id")).cloned().unwrap_or_default(),
            line: index + 1,
            content_hash: (!request.hashed).then(|| hash.to_string()),
            hashed: request.hashed.then(|| object.map(hashed_text).unwrap_or_default()),
            warning: warning.map(|warning| warning.to_string()),
        }
    };
    let all = lines(&request.nodes.text).enumerate();
    let given = all.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    Ok(HashResponse { nodes: given.map(hash).collect() })
}
