//! Bytes in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes; a text in base64 (standard alphabet, padded) in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Returns the text.
    pub(crate) fn to_text(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// Reads the text.
    pub(crate) fn from_text(text: &str) -> Result<Bytes, base64::DecodeError> {
        STANDARD.decode(text).map(Bytes)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Bytes::from_text(&text).map_err(|error| de::Error::custom(format!("not base64: {error}")))
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "contentEncoding": "base64",
            "description": "Bytes as base64 (standard alphabet, padded)."
        })
    }
}
