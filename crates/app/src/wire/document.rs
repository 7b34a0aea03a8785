//! Texts that come with a request.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text with the name that messages call it by: a file, standard input, a field of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its name, for messages.
    #[serde(default)]
    pub name: String,
    /// The text. In JSON it is a string; a door that reads files may pass any bytes, and gets an error that names the bad one.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    #[schemars(with = "String")]
    pub text: Vec<u8>,
}

impl Document {
    /// Returns a document.
    pub fn new(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Document {
        Document { name: name.into(), text: text.into() }
    }
}

fn write<S: Serializer>(text: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(text))
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    String::deserialize(deserializer).map(String::into_bytes)
}
