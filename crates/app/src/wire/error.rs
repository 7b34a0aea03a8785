//! Errors.

use contextree_json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failed command: `{"error":{"code":…,"message":…,"details":…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Why it failed.
    pub error: Error,
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Error {
    /// The stable code, such as `E_SNAPSHOT_NOT_FOUND`.
    pub code: String,
    /// The message.
    pub message: String,
    /// What the code calls for: `place`, `line`, `selector`, `errors`, `hints` …
    #[schemars(with = "super::AnyObject")]
    pub details: Object,
}
