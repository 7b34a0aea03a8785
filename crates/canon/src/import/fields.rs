//! One node of a document and the parsing of its fields.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contextree_json::{Number, Object, Reader, Value};
use contextree_tree::{Content, Cycle, Header, Scalar};

use super::{Issues, Profile};
use crate::error::codes;

/// A node as it is in the document.
#[derive(Debug, Default)]
pub(crate) struct DocNode {
    /// The index of its parent in the document.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// The byte offset at which it begins.
    pub(crate) offset_in_text: usize,
    pub(crate) id: Option<Box<str>>,
    pub(crate) node_type: Option<Box<str>>,
    pub(crate) offset: Option<Scalar>,
    /// Outer: present; inner: not null.
    pub(crate) ttl: Option<Option<u32>>,
    pub(crate) priority: Option<Scalar>,
    pub(crate) cycle: Option<Cycle>,
    pub(crate) created_at_ns: Option<i64>,
    pub(crate) created_at_iso: Option<Box<str>>,
    pub(crate) creation_index: Option<u32>,
    pub(crate) role: Option<Box<str>>,
    pub(crate) kind: Option<Box<str>>,
    pub(crate) removable: bool,
    pub(crate) pinned: bool,
    pub(crate) content: Content,
    pub(crate) attributes: Object,
    pub(crate) has_children: bool,
    /// The parent's id, in a flat record.
    pub(crate) parent_id: Option<Box<str>>,
    /// Bits of the fields that were seen, to find repeated ones.
    pub(super) seen: u32,
}

/// Beyond this, no larger index or stamp could be given to later nodes.
const MAX_INDEX: u32 = 1 << 31;
const MAX_STAMP: i64 = 1 << 62;
/// The largest ttl; added to the highest cycle it still fits 32 bits.
const MAX_TTL: i64 = 1 << 30;

/// Names of the fields that are parsed separately, in the order of their bits.
const NAMES: [&str; 15] = [
    "id",
    "nodeType",
    "offset",
    "ttl",
    "priority",
    "cycle",
    "created_at_ns",
    "created_at_iso",
    "creation_index",
    "role",
    "kind",
    "removable",
    "pinned",
    "content",
    "children",
];

impl DocNode {
    /// Records that a field was seen; returns false if it was seen before.
    pub(crate) fn first_time(&mut self, name: &str) -> bool {
        match NAMES.iter().position(|known| *known == name) {
            Some(bit) => {
                let new = self.seen & 1 << bit == 0;
                self.seen |= 1 << bit;
                new
            }
            None => !self.attributes.contains_key(name),
        }
    }

    /// Returns whether the header is present, even if null.
    pub(crate) fn has(&self, header: Header) -> bool {
        NAMES
            .iter()
            .position(|known| *known == header.name())
            .is_some_and(|bit| self.seen & 1 << bit != 0)
    }

    /// Stores the value of a field other than `children`.
    pub(crate) fn take(&mut self, name: &str, value: Value, profile: Profile, issues: &mut Issues) {
        let lenient = profile == Profile::Lenient;
        let ok = match (name, value) {
            ("content", value) => {
                self.content = Content::from(value);
                true
            }
            // Null is the same as the default; the original is kept for the export.
            (
                "offset" | "priority" | "cycle" | "created_at_ns" | "created_at_iso"
                | "creation_index",
                Value::Null,
            ) if lenient => self.keep(name, Value::Null),
            ("role" | "kind", Value::Null) => self.keep(name, Value::Null),
            ("id", Value::String(text)) => set(&mut self.id, text),
            ("nodeType", Value::String(text)) => set(&mut self.node_type, text),
            ("role", Value::String(text)) => set(&mut self.role, text),
            ("kind", Value::String(text)) => set(&mut self.kind, text),
            ("created_at_iso", Value::String(text)) => set(&mut self.created_at_iso, text),
            ("offset", Value::Number(number)) => scalar(&mut self.offset, &number),
            ("priority", Value::Number(number)) => scalar(&mut self.priority, &number),
            ("ttl", Value::Null) => set(&mut self.ttl, None),
            ("ttl", Value::Number(number)) => return self.take_ttl(&number, issues),
            ("cycle", Value::Number(number)) => {
                let value = self.whole(name, &number, lenient);
                self.cycle = value.and_then(|value| u32::try_from(value).ok()).map(Cycle);
                self.cycle.is_some()
            }
            ("creation_index", Value::Number(number)) => {
                let value = self.whole(name, &number, lenient);
                self.creation_index = value
                    .and_then(|value| u32::try_from(value).ok())
                    .filter(|index| *index <= MAX_INDEX);
                self.creation_index.is_some()
            }
            ("created_at_ns", Value::Number(number)) => {
                self.created_at_ns = self
                    .whole(name, &number, lenient)
                    .filter(|stamp| (-MAX_STAMP..=MAX_STAMP).contains(stamp));
                self.created_at_ns.is_some()
            }
            ("removable", Value::Bool(true)) => {
                self.removable = true;
                true
            }
            ("pinned", Value::Bool(true)) => {
                self.pinned = true;
                true
            }
            ("removable" | "pinned", value @ Value::Bool(false)) => self.keep(name, value),
            ("removable" | "pinned", value) if lenient => self.keep(name, value),
            (name, value) if !NAMES.contains(&name) => self.keep(name, value),
            _ => false,
        };
        if !ok {
            let message = format!("invalid value for `{name}`");
            issues.add(self, codes::DOCUMENT, "invalid_header", message);
        }
    }

    fn take_ttl(&mut self, number: &Number, issues: &mut Issues) {
        match number.as_i64() {
            Some(value) if value < 0 => {
                let message = format!("`ttl` is {value}, but must not be negative");
                issues.add(self, codes::PLACEMENT, "negative_ttl", message);
            }
            Some(value) if value <= MAX_TTL => {
                self.ttl = Some(u32::try_from(value).ok());
            }
            _ => {
                let message = "`ttl` is not a whole number in range".to_owned();
                issues.add(self, codes::DOCUMENT, "invalid_header", message);
            }
        }
    }

    /// Returns a whole number. The lenient profile also accepts one written as a fraction, which is
    /// kept for the export.
    fn whole(&mut self, name: &str, number: &Number, lenient: bool) -> Option<i64> {
        if let Some(value) = number.as_i64() {
            return Some(value);
        }
        let float = number.as_f64();
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
        if lenient && float.fract() == 0.0 && float.abs() < 9e15 && !number.is_integer() {
            self.keep(name, Value::Number(number.clone()));
            return Some(float as i64);
        }
        None
    }

    fn keep(&mut self, name: &str, value: Value) -> bool {
        self.attributes.insert(name, value);
        true
    }

    /// Reads a value and stores it.
    pub(crate) fn read(
        &mut self,
        name: &str,
        reader: &mut Reader<'_>,
        profile: Profile,
        issues: &mut Issues,
    ) -> Result<(), contextree_json::ParseError> {
        let value = reader.read_value()?;
        self.take(name, value, profile, issues);
        Ok(())
    }
}

fn set<T>(slot: &mut Option<T>, value: T) -> bool {
    *slot = Some(value);
    true
}

fn scalar(slot: &mut Option<Scalar>, number: &Number) -> bool {
    let scalar = match (number.as_i64(), number.is_integer()) {
        (Some(value), true) => Scalar::Int(value),
        (_, false) => Scalar::Float(number.as_f64()),
        (None, true) => return false,
    };
    set(slot, scalar)
}
