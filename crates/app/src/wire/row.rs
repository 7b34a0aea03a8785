//! Contexts of a store.

use contextree::store;
use contextree_json::{Value, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AnyValue;

/// A context of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRow {
    /// Its name.
    pub name: String,
    /// Counts the steps that were written to it.
    pub revision: u64,
    /// The newest snapshot; null before the first commit.
    pub head: Option<Head>,
    /// The number of snapshots, those before a fork included.
    pub snapshots: u64,
    /// Its settings.
    #[schemars(with = "AnyValue")]
    pub settings: Value,
    /// When it was created, in nanoseconds since 1970.
    pub created_ns: i64,
    /// When it was last written to, in nanoseconds since 1970.
    pub updated_ns: i64,
}

/// The newest snapshot of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The number of its commit.
    pub cycle: u32,
    /// Its digest.
    pub digest: String,
}

impl From<&store::ContextRow> for ContextRow {
    fn from(row: &store::ContextRow) -> Self {
        let head = row.head.map(|head| Head {
            cycle: head.cycle.get(),
            digest: contextree::Hash(head.digest).to_string(),
        });
        ContextRow {
            name: row.name.clone(),
            revision: row.revision.get(),
            head,
            snapshots: row.snapshots,
            settings: parse(row.settings.as_bytes()).unwrap_or_default(),
            created_ns: row.created_ns,
            updated_ns: row.updated_ns,
        }
    }
}
