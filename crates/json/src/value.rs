//! The JSON value: six kinds, compared by what they would print.
//!
//! Two values are equal exactly when their canonical texts are equal. `1` and `1.0` are therefore
//! different values, and so are `0.0` and `-0.0`; ask [`Number::compare`] for the numeric order.

use std::borrow::Cow;

use crate::{Number, Object, write};

/// A JSON value.
///
/// Dropping, cloning and comparing a value are recursive. Parsed values never nest deeper than
/// [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH); code that builds values by hand must keep to a
/// similar bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An exact integer of any size, or a finite double.
    Number(Number),
    /// A string of Unicode scalar values; lone surrogates cannot be expressed.
    String(Box<str>),
    /// A list, in the order it was written.
    Array(Vec<Value>),
    /// Unique keys with their values, in code point order.
    Object(Object),
}

impl Value {
    /// Returns the string, or `None` for any other kind.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, or `None` for any other kind.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the integer if this is one and fits; `1.0` is not an integer.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// Returns the integer if this is one and fits; `1.0` is not an integer.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// Returns the double nearest to the number, or `None` for any other kind.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    /// Returns the truth value, or `None` for any other kind.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Returns the elements, or `None` for any other kind.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the object, or `None` for any other kind.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the value under `key`, or `None` if the key is missing or this is not an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// Returns the name of the kind as JSON Schema spells it: `null`, `boolean`, `number`,
    /// `string`, `array` or `object`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// Returns the canonical text, without recursion; see [`write::value`].
    pub fn to_canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::value(&mut out, self);
        out
    }

    /// Returns an upper bound on the length of the canonical text in bytes, without writing it.
    pub fn canonical_bound(&self) -> usize {
        // No byte has a longer escape than `\u007f`.
        let text = |text: &str| 6 * text.len() + 2;
        match self {
            Value::Null | Value::Bool(_) => 5,
            Value::Number(number) => number.canonical_bound(),
            Value::String(string) => text(string),
            Value::Array(elements) => {
                2 + elements.iter().map(|element| element.canonical_bound() + 1).sum::<usize>()
            }
            Value::Object(object) => {
                let entries = object.iter();
                2 + entries
                    .map(|(key, value)| text(key) + value.canonical_bound() + 2)
                    .sum::<usize>()
            }
        }
    }
}

/// The error for a NaN or infinite double, which JSON cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("number is not finite")]
pub struct NotFinite;

impl TryFrom<f64> for Value {
    type Error = NotFinite;

    fn try_from(float: f64) -> Result<Self, NotFinite> {
        Number::from_f64(float).map(Value::Number).ok_or(NotFinite)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<i32> for Value {
    fn from(integer: i32) -> Self {
        Value::Number(Number::from_i64(integer.into()))
    }
}

impl From<u32> for Value {
    fn from(integer: u32) -> Self {
        Value::Number(Number::from_i64(integer.into()))
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Value::Number(Number::from_i64(integer))
    }
}

impl From<u64> for Value {
    fn from(integer: u64) -> Self {
        Value::Number(Number::from_u64(integer))
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text.into_boxed_str())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Value::String(text.into())
    }
}

impl From<Box<str>> for Value {
    fn from(text: Box<str>) -> Self {
        Value::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Self {
        Value::Array(elements)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Value::Object(object)
    }
}
