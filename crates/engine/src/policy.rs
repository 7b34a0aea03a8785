//! Pruning policies: plain values that say what must not grow.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree_json::{Object, Value};
use contextree_tree::{NodeRef, Region};

/// What to prune at a commit. The same tree and the same policy always give the same result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The newest K turns are protected; the head that is about to be sealed is the newest.
    pub protect_turns: u64,
    /// Applied one after the other.
    pub limits: Vec<Limit>,
    /// Selectors, of the context's edition and without a time: what they match, and everything below it, is never pruned.
    pub exclude: Vec<String>,
}

impl Default for Policy {
    /// Prunes nothing.
    fn default() -> Self {
        Policy { protect_turns: 1, limits: Vec::new(), exclude: Vec::new() }
    }
}

/// One limit of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Take blocks until at least so many are gone.
    Remove(
        /// How many.
        u64,
    ),
    /// On the whole tree.
    Total {
        /// What is counted.
        measure: MeasureName,
        /// At most so much stays.
        max: u64,
    },
    /// On one region.
    Region {
        /// The region.
        region: Region,
        /// What is counted.
        measure: MeasureName,
        /// At most so much stays.
        max: u64,
    },
    /// On each turn, and on the head.
    Turn {
        /// What is counted.
        measure: MeasureName,
        /// At most so much stays.
        max: u64,
    },
    /// On the number of turns, the one about to be sealed included: whole turns go, oldest first.
    Depth(
        /// How many stay.
        u64,
    ),
    /// Prune rarely, but then enough of it: if the limits before this one took anything, blocks go until at least so much is gone in all.
    /// Every pruning changes what a provider has in its cache, so a small one costs as much as a large one.
    ClearAtLeast {
        /// What is counted.
        measure: MeasureName,
        /// At least so much goes, as long as there is something that may.
        min: u64,
    },
}

/// What a limit counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasureName {
    /// Blocks.
    Nodes,
    /// Bytes of content.
    Bytes,
    /// A measure of the caller's, by its name: `tokens`.
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

/// Counts a block. It must always give the same answer for the same content.
pub trait Measure: Send + Sync {
    /// Returns the size of a block.
    fn measure(&self, block: NodeRef<'_>) -> u64;
}

impl<F: Fn(NodeRef<'_>) -> u64 + Send + Sync> Measure for F {
    fn measure(&self, block: NodeRef<'_>) -> u64 {
        self(block)
    }
}

/// The measures that a context knows besides `nodes` and `bytes`.
#[derive(Clone, Default)]
pub(crate) struct Measures(pub(crate) BTreeMap<String, Arc<dyn Measure>>);

impl Measures {
    /// Returns the size of a block; nothing if the measure is not known.
    pub(crate) fn measure(&self, name: &MeasureName, block: NodeRef<'_>) -> Option<u64> {
        match name {
            MeasureName::Nodes => Some(1),
            MeasureName::Bytes => Some(block.content().byte_len() as u64),
            MeasureName::Named(name) => self.0.get(name).map(|measure| measure.measure(block)),
        }
    }
}

/// A policy document that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// Where: `limits[2].max`.
    pub at: String,
    /// What was expected there.
    pub expected: &'static str,
}

impl std::fmt::Display for PolicyError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "expected {} at `{}` of the policy", self.expected, self.at)
    }
}

impl std::error::Error for PolicyError {}

impl PolicyError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_POLICY_INVALID"
    }
}

impl Policy {
    /// Returns the policy as JSON: `{"limits":[{"limit":"total","max":8000,"measure":"bytes"}],"protect_turns":1}`, and `exclude`, a list of
    /// selectors, if there are any.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let limits = self.limits.iter().map(Limit::to_value).collect();
        let mut object = Object::from_iter([
            ("protect_turns", Value::from(self.protect_turns)),
            ("limits", Value::Array(limits)),
        ]);
        if !self.exclude.is_empty() {
            let exclude = self.exclude.iter().map(|selector| Value::from(selector.as_str()));
            object.insert("exclude", Value::Array(exclude.collect()));
        }
        Value::Object(object)
    }

    /// Reads a policy from JSON. An absent `protect_turns` is 1; nothing else is guessed.
    ///
    /// # Errors
    ///
    /// Any other shape, with the place.
    pub fn from_value(value: &Value) -> Result<Policy, PolicyError> {
        let error = |at: &str, expected| PolicyError { at: at.to_owned(), expected };
        let object = value.as_object().ok_or_else(|| error("", "an object"))?;
        let known = ["protect_turns", "limits", "exclude"];
        if let Some(other) = object.keys().find(|key| !known.contains(key)) {
            return Err(error(other, "only `protect_turns`, `limits` and `exclude`"));
        }
        let protect_turns = match object.get("protect_turns") {
            None => 1,
            Some(value) => {
                value.as_u64().ok_or_else(|| error("protect_turns", "a whole number"))?
            }
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
        let exclude = match object.get("exclude") {
            None => &[][..],
            Some(value) => value.as_array().ok_or_else(|| error("exclude", "a list"))?,
        };
        let selector = |(index, value): (usize, &Value)| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| error(&format!("exclude[{index}]"), "a selector"))
        };
        let exclude = exclude.iter().enumerate().map(selector).collect::<Result<_, _>>()?;
        Ok(Policy { protect_turns, limits, exclude })
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
            object.get(name).and_then(Value::as_str).ok_or_else(|| error(name, "a text"))
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
