//! Pruning policies: plain values that describe limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree_json::{Object, Value};
use contextree_tree::{NodeRef, Region};

/// What to prune at a commit. The same tree and the same policy always give the same result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The newest K turns are protected; the head that is about to be sealed is the newest.
    pub protect_turns: u64,
    /// Protects the newest user message, in whichever turn it is: the task that the calls after it
    /// serve.
    pub protect_user: bool,
    /// Applied in order.
    pub limits: Vec<Limit>,
    /// Selectors of the context's edition, without a time prefix: the nodes they match, and their
    /// subtrees, are never pruned.
    pub exclude: Vec<String>,
    /// Selectors like those of `exclude`: the containers they match, except cores, are removed when
    /// they are empty, as if they had been created removable.
    pub removable: Vec<String>,
    /// Clears old tool results before a limit removes anything; `None` clears nothing.
    pub clear: Option<Clear>,
    /// Once a limit of the whole is exceeded, prunes until this much is free below it: room for the
    /// summary of what was removed.
    pub reserve: u64,
}

/// How old tool results are cleared: a placeholder takes the place of the result, so that the call
/// keeps a result and its provider accepts the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clear {
    /// The newest results, which are not cleared.
    pub keep: u64,
    /// The content of the placeholder.
    pub placeholder: String,
}

impl Clear {
    /// The content of a placeholder unless a policy has its own.
    pub const PLACEHOLDER: &'static str = "[old tool result cleared]";

    /// Clears all results but the newest `keep`.
    #[must_use]
    pub fn all_but(keep: u64) -> Self {
        Clear { keep, placeholder: Clear::PLACEHOLDER.to_owned() }
    }

    fn to_value(&self) -> Value {
        let mut object = Object::from_iter([("keep", Value::from(self.keep))]);
        if self.placeholder != Clear::PLACEHOLDER {
            object.insert("placeholder", Value::from(self.placeholder.as_str()));
        }
        Value::Object(object)
    }

    fn from_value(value: &Value) -> Result<Clear, PolicyError> {
        let error = |at: &str, expected| PolicyError { at: at.to_owned(), expected };
        let object = value.as_object().ok_or_else(|| error("clear", "an object"))?;
        if let Some(other) = object.keys().find(|key| !["keep", "placeholder"].contains(key)) {
            return Err(error(&format!("clear.{other}"), "only `keep` and `placeholder`"));
        }
        let keep = object.get("keep").and_then(Value::as_u64);
        let keep = keep.ok_or_else(|| error("clear.keep", "a whole number"))?;
        match object.get("placeholder") {
            None => Ok(Clear::all_but(keep)),
            Some(text) => match text.as_str() {
                Some(text) => Ok(Clear { keep, placeholder: text.to_owned() }),
                None => Err(error("clear.placeholder", "a string")),
            },
        }
    }
}

impl Default for Policy {
    /// Returns a policy that prunes nothing.
    fn default() -> Self {
        Policy {
            protect_turns: 1,
            protect_user: false,
            limits: Vec::new(),
            exclude: Vec::new(),
            removable: Vec::new(),
            clear: None,
            reserve: 0,
        }
    }
}

/// One limit of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Removes at least this many blocks.
    Remove(
        /// The number of blocks.
        u64,
    ),
    /// Limits the whole tree.
    Total {
        /// The measure.
        measure: MeasureName,
        /// The maximum that may remain.
        max: u64,
    },
    /// Limits one region.
    Region {
        /// The region.
        region: Region,
        /// The measure.
        measure: MeasureName,
        /// The maximum that may remain.
        max: u64,
    },
    /// Limits each turn, and the head.
    Turn {
        /// The measure.
        measure: MeasureName,
        /// The maximum that may remain.
        max: u64,
    },
    /// Limits the number of turns, including the one about to be sealed: removes whole turns,
    /// oldest first.
    Depth(
        /// The number of turns.
        u64,
    ),
    /// Prunes in large steps to keep the cached prefix: if the limits before this one removed
    /// anything, removes further blocks until the total reaches `min`. Every pruning invalidates a
    /// provider's cache, so a small one costs as much as a large one.
    ClearAtLeast {
        /// The measure.
        measure: MeasureName,
        /// The minimum to remove in total, as long as anything may be removed.
        min: u64,
    },
}

/// What a limit measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasureName {
    /// Blocks.
    Nodes,
    /// Bytes of content.
    Bytes,
    /// A measure registered by the caller, by name: `tokens`.
    Named(
        /// Its name.
        String,
    ),
}

impl MeasureName {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            MeasureName::Nodes => "nodes",
            MeasureName::Bytes => "bytes",
            MeasureName::Named(name) => name,
        }
    }
}

impl From<&str> for MeasureName {
    fn from(name: &str) -> Self {
        match name {
            "nodes" => MeasureName::Nodes,
            "bytes" => MeasureName::Bytes,
            other => MeasureName::Named(other.to_owned()),
        }
    }
}

/// Measures a block. It must always return the same size for the same content.
pub trait Measure: Send + Sync {
    /// Returns the size of a block.
    fn measure(&self, block: NodeRef<'_>) -> u64;
}

impl<F: Fn(NodeRef<'_>) -> u64 + Send + Sync> Measure for F {
    fn measure(&self, block: NodeRef<'_>) -> u64 {
        self(block)
    }
}

/// The measures that a context has besides `nodes` and `bytes`.
#[derive(Clone, Default)]
pub(crate) struct Measures(pub(crate) BTreeMap<String, Arc<dyn Measure>>);

/// A measure for one commit, in place of the context's measure of the same name.
#[derive(Clone)]
pub struct BoundMeasure {
    /// The name.
    pub name: String,
    /// The measure.
    pub measure: Arc<dyn Measure>,
    /// What the whole measures besides its blocks: a request has settings, too. Counts for
    /// [`Limit::Total`] only.
    pub base: u64,
}

impl std::fmt::Debug for BoundMeasure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("BoundMeasure");
        fields.field("name", &self.name).field("base", &self.base).finish_non_exhaustive()
    }
}

/// The measures of a commit: its own, then those of the context.
#[derive(Clone, Copy)]
pub(crate) struct Measuring<'a> {
    pub(crate) bound: &'a [BoundMeasure],
    pub(crate) context: &'a Measures,
}

impl Measuring<'_> {
    /// Returns the size of a block; `None` if the measure is unknown.
    pub(crate) fn measure(self, name: &MeasureName, block: NodeRef<'_>) -> Option<u64> {
        match name {
            MeasureName::Nodes => Some(1),
            MeasureName::Bytes => Some(block.content().byte_len() as u64),
            MeasureName::Named(_) => Some(self.named(name)?.measure(block)),
        }
    }

    /// Returns a measure that is not built in.
    pub(crate) fn named(&self, name: &MeasureName) -> Option<&Arc<dyn Measure>> {
        let MeasureName::Named(name) = name else { return None };
        let bound = self.bound.iter().find(|bound| bound.name == *name);
        bound.map(|bound| &bound.measure).or_else(|| self.context.0.get(name))
    }

    /// Returns what the whole measures besides its blocks.
    pub(crate) fn base(&self, name: &MeasureName) -> u64 {
        self.bound.iter().find(|bound| bound.name == name.name()).map_or(0, |bound| bound.base)
    }
}

/// An invalid policy document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at `{at}` of the policy")]
pub struct PolicyError {
    /// The path of the invalid value: `limits[2].max`.
    pub at: String,
    /// What was expected.
    pub expected: &'static str,
}

impl PolicyError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_POLICY_INVALID"
    }
}

impl Policy {
    /// Returns the policy as JSON:
    /// `{"limits":[{"limit":"total","max":8000,"measure":"bytes"}],"protect_turns":1}`, and
    /// `protect_user` if it is true, `exclude` and `removable`, lists of selectors, if there are any,
    /// `clear` (`{"keep":3}`) if results are cleared, and `reserve` if it is not 0.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let limits = self.limits.iter().map(Limit::to_value).collect();
        let mut object = Object::from_iter([
            ("protect_turns", Value::from(self.protect_turns)),
            ("limits", Value::Array(limits)),
        ]);
        if self.protect_user {
            object.insert("protect_user", Value::from(true));
        }
        for (name, selectors) in [("exclude", &self.exclude), ("removable", &self.removable)] {
            if !selectors.is_empty() {
                let selectors = selectors.iter().map(|selector| Value::from(selector.as_str()));
                object.insert(name, Value::Array(selectors.collect()));
            }
        }
        if let Some(clear) = &self.clear {
            object.insert("clear", clear.to_value());
        }
        if self.reserve > 0 {
            object.insert("reserve", Value::from(self.reserve));
        }
        Value::Object(object)
    }

    /// Reads a policy from JSON. `protect_turns` defaults to 1, `protect_user` to false.
    ///
    /// # Errors
    ///
    /// If the value has any other shape; reports where.
    pub fn from_value(value: &Value) -> Result<Policy, PolicyError> {
        let error = |at: &str, expected| PolicyError { at: at.to_owned(), expected };
        let object = value.as_object().ok_or_else(|| error("", "an object"))?;
        let known =
            ["protect_turns", "protect_user", "limits", "exclude", "removable", "clear", "reserve"];
        if let Some(other) = object.keys().find(|key| !known.contains(key)) {
            let expected = "only `protect_turns`, `protect_user`, `limits`, `exclude`, `removable`, `clear` and `reserve`";
            return Err(error(other, expected));
        }
        let protect_turns = match object.get("protect_turns") {
            None => 1,
            Some(value) => {
                value.as_u64().ok_or_else(|| error("protect_turns", "a whole number"))?
            }
        };
        let protect_user = match object.get("protect_user") {
            None => false,
            Some(value) => value.as_bool().ok_or_else(|| error("protect_user", "a boolean"))?,
        };
        let limits = match object.get("limits") {
            None => &[][..],
            Some(value) => value.as_array().ok_or_else(|| error("limits", "a list"))?,
        };
        let limits = limits
            .iter()
            .enumerate()
            .map(|(index, limit)| Limit::from_value(limit, &format!("limits[{index}]")))
            .collect::<Result<_, _>>()?;
        let selectors = |name: &str| -> Result<Vec<String>, PolicyError> {
            let list = match object.get(name) {
                None => &[][..],
                Some(value) => value.as_array().ok_or_else(|| error(name, "a list"))?,
            };
            let selector = |(index, value): (usize, &Value)| {
                let text = value.as_str().map(str::to_owned);
                text.ok_or_else(|| error(&format!("{name}[{index}]"), "a selector"))
            };
            list.iter().enumerate().map(selector).collect()
        };
        let (exclude, removable) = (selectors("exclude")?, selectors("removable")?);
        let clear = object.get("clear").map(Clear::from_value).transpose()?;
        let reserve = match object.get("reserve") {
            None => 0,
            Some(value) => value.as_u64().ok_or_else(|| error("reserve", "a whole number"))?,
        };
        Ok(Policy { protect_turns, protect_user, limits, exclude, removable, clear, reserve })
    }
}

impl Limit {
    fn to_value(&self) -> Value {
        let scope = |word: &str, measure: &MeasureName, max: u64| {
            vec![
                ("limit", Value::from(word)),
                ("measure", Value::from(measure.name())),
                ("max", Value::from(max)),
            ]
        };
        let entries = match self {
            Limit::Remove(count) => {
                vec![("limit", Value::from("remove")), ("count", Value::from(*count))]
            }
            Limit::Depth(max) => vec![("limit", Value::from("depth")), ("max", Value::from(*max))],
            Limit::ClearAtLeast { measure, min } => vec![
                ("limit", Value::from("clear_at_least")),
                ("measure", Value::from(measure.name())),
                ("min", Value::from(*min)),
            ],
            Limit::Total { measure, max } => scope("total", measure, *max),
            Limit::Turn { measure, max } => scope("turn", measure, *max),
            Limit::Region { region, measure, max } => {
                let mut entries = scope("region", measure, *max);
                entries.push(("region", Value::from(region.word())));
                entries
            }
        };
        Value::Object(entries.into_iter().collect())
    }

    fn from_value(value: &Value, at: &str) -> Result<Limit, PolicyError> {
        let error = |name: &str, expected| PolicyError {
            at: if name.is_empty() { at.to_owned() } else { format!("{at}.{name}") },
            expected,
        };
        let object = value.as_object().ok_or_else(|| error("", "an object"))?;
        let number = |name: &str| {
            object.get(name).and_then(Value::as_u64).ok_or_else(|| error(name, "a whole number"))
        };
        let text = |name: &str| {
            object.get(name).and_then(Value::as_str).ok_or_else(|| error(name, "a string"))
        };
        let (limit, known) = match text("limit")? {
            "remove" => (Limit::Remove(number("count")?), &["limit", "count"][..]),
            "depth" => (Limit::Depth(number("max")?), &["limit", "max"][..]),
            "total" => (
                Limit::Total { measure: text("measure")?.into(), max: number("max")? },
                &["limit", "measure", "max"][..],
            ),
            "turn" => (
                Limit::Turn { measure: text("measure")?.into(), max: number("max")? },
                &["limit", "measure", "max"][..],
            ),
            "clear_at_least" => (
                Limit::ClearAtLeast { measure: text("measure")?.into(), min: number("min")? },
                &["limit", "measure", "min"][..],
            ),
            "region" => {
                let region = Region::from_word(text("region")?)
                    .ok_or_else(|| error("region", "`^sys`, `^seq` or `^ah`"))?;
                let measure = text("measure")?.into();
                (
                    Limit::Region { region, measure, max: number("max")? },
                    &["limit", "region", "measure", "max"][..],
                )
            }
            _ => {
                let words = "`remove`, `total`, `region`, `turn`, `depth` or `clear_at_least`";
                return Err(error("limit", words));
            }
        };
        match object.keys().find(|key| !known.contains(key)) {
            Some(other) => Err(error(other, "no such field")),
            None => Ok(limit),
        }
    }
}
