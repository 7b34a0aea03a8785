//! What models may say to a tool. Doc comments are the descriptions that they read.

use contextree_app::{Address, Compared, StateRef};
use schemars::JsonSchema;
use serde::Deserialize;

/// Arguments of `contexts`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Contexts {}

/// Arguments of `show`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Show {
    /// A state such as `@t0`, the id of a node, or a selector; the working state if it is absent.
    pub(super) what: Option<String>,
    /// Shows whole contents instead of their beginnings.
    pub(super) full: bool,
}

/// Arguments of `select`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    /// The selector.
    pub(super) selector: String,
    /// Shows whole contents instead of their beginnings.
    #[serde(default)]
    pub(super) full: bool,
}

/// Arguments of `diff`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Diff {
    /// The older state; `@t0` if it is absent.
    #[schemars(with = "Option<String>")]
    pub(super) from: Option<Compared>,
    /// The newer state; the working state `@` if it is absent.
    #[schemars(with = "Option<String>")]
    pub(super) to: Option<StateRef>,
    /// Shows whole contents instead of their beginnings.
    pub(super) full: bool,
}

/// Arguments of `log`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Log {
    /// How many calls; 50 if it is absent.
    #[schemars(range(min = 1))]
    pub(super) calls: Option<u32>,
}

/// Arguments of `tokens`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tokens {
    /// The state; the working state if it is absent.
    #[schemars(with = "Option<String>")]
    pub(super) at: Option<Address>,
    /// Counts separately by `region`, `turn`, `role`, `kind` or `key`; by region if it is absent.
    pub(super) by: Option<String>,
}

/// Arguments of `cache`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Cache {
    /// Lists only calls that could have read more from the cache.
    pub(super) misses_only: bool,
}

/// Arguments of `note`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    /// The text.
    pub(super) text: String,
    /// How many calls see it; all that follow if it is absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) ttl: Option<i64>,
    /// A short name by which selectors find it: `#name`.
    #[serde(default)]
    pub(super) key: Option<String>,
    /// Tags by which selectors find it: `+tag`.
    #[serde(default)]
    pub(super) tags: Vec<String>,
}

/// Arguments of `pin` and `unpin`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nodes {
    /// Ids of nodes, or selectors.
    #[schemars(length(min = 1))]
    pub(super) nodes: Vec<String>,
}

/// Arguments of `set_priority`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Priority {
    /// Ids of nodes.
    #[schemars(length(min = 1))]
    pub(super) nodes: Vec<String>,
    /// The new priority.
    pub(super) priority: i64,
}

/// Arguments of `fork`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    /// The name of the new context.
    pub(super) name: String,
    /// The state that it begins with; the working state if it is absent.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(super) at: Option<Address>,
}

/// Arguments of `restore`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Restore {
    /// The id of the node.
    pub(super) node: String,
    /// A state that has it; the last one if this is absent.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(super) at: Option<Address>,
    /// How many calls see it; 1 if it is absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) ttl: Option<i64>,
}
