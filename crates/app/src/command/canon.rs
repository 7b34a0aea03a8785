//! `canon`: the bytes of the specification's reference serializer.

use contextree::canon::reference_bytes_of_document;
use contextree_json::parse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::Document;
use crate::{Control, Error};

/// Serializes a root node as the specification does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanonRequest {
    /// A root node, or a snapshot whose root is taken.
    pub node: Document,
}

/// The reference bytes of a root node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanonResponse {
    /// The bytes.
    pub text: String,
}

/// Serializes a root node as the specification does: without attributes and `creation_index`.
///
/// # Errors
///
/// If the text is not JSON, or not a root node.
pub fn canon(request: &CanonRequest, control: &Control<'_>) -> Result<CanonResponse, Error> {
    control.check()?;
    let place = &request.node.name;
    let value = parse(&request.node.text).map_err(|error| {
        Error::new(error.code(), format!("{place}: {error}"))
            .with_hint("pass a root node, `{\"id\":…,\"children\":[…]}`, or a snapshot")
    })?;
    let node = value.get("root").unwrap_or(&value);
    let bytes =
        reference_bytes_of_document(node).map_err(|error| Error::document(place, &error))?;
    Ok(CanonResponse { text: super::ascii(bytes) })
}
