//! A node's side of a comparison.

use std::borrow::Cow;

use contextree_json::{Number, Value, write};
use contextree_tree::Scalar;

use super::Exact;

/// The value of an attribute, borrowed from the tree if possible.
#[derive(Clone, Debug)]
pub(crate) enum Datum<'t> {
    /// Absent or null.
    Null,
    /// An integer.
    Int(i64),
    /// Any other number.
    Number(Cow<'t, Number>),
    /// Text.
    Text(Cow<'t, str>),
    /// A boolean.
    Bool(bool),
    /// A list or an object.
    Compound(&'t Value),
}

impl<'t> Datum<'t> {
    pub(crate) fn from_json(value: &'t Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Int(integer),
                None => Self::Number(Cow::Borrowed(number)),
            },
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
            Value::Array(_) | Value::Object(_) => Self::Compound(value),
        }
    }

    pub(crate) fn from_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Int(integer) => Self::Int(integer),
            Scalar::Float(_) => Self::Number(Cow::Owned(scalar.to_number())),
        }
    }

    pub(crate) fn from_text(text: Option<&'t str>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(Cow::Borrowed(text)))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the value as a number; a text that is a number counts.
    pub(crate) fn exact(&self) -> Option<Exact> {
        match self {
            Self::Int(integer) => Some(Exact::Int(*integer)),
            Self::Number(number) => Some(Exact::from_json(number)),
            Self::Text(text) => Exact::from_text(text),
            Self::Null | Self::Bool(_) | Self::Compound(_) => None,
        }
    }

    /// Returns the value as text; `None` for lists and objects.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Bool(true) => Some(Cow::Borrowed("true")),
            Self::Bool(false) => Some(Cow::Borrowed("false")),
            Self::Int(integer) => Some(Cow::Owned(integer.to_string())),
            Self::Number(number) => {
                let mut text = Vec::new();
                write::number(&mut text, number);
                Some(Cow::Owned(text.into_iter().map(char::from).collect()))
            }
            Self::Null | Self::Compound(_) => None,
        }
    }
}
