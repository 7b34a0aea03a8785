//! Types that derive serde's traits, as values and back. Integers of any size stay exact.
//!
//! serde knows no integers beyond 128 bits. [`Value`] carries them past serde's data model: [`to_value`] and [`from_value`]
//! recognise the two names below, and every other format sees a string of digits instead.

mod de;
mod ser;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{ParseError, Value};

/// The newtype name under which a number beyond 128 bits is serialized: its digits.
const BIG_NUMBER: &str = "$contextree_json::Number";
/// The newtype name under which a [`Value`] asks for itself.
const ANY_VALUE: &str = "$contextree_json::Value";

/// Returns a value with the contents of `data`.
///
/// # Errors
///
/// If `data` has a map whose keys are not strings, a number that is NaN or infinite, or a `Serialize` that fails.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Point {
///     y: u64,
///     x: Option<bool>,
/// }
///
/// let value = contextree_json::to_value(&Point { y: u64::MAX, x: None })?;
/// assert_eq!(value.to_canonical(), br#"{"x":null,"y":18446744073709551615}"#);
/// # Ok::<(), contextree_json::ConvertError>(())
/// ```
pub fn to_value<T: Serialize + ?Sized>(data: &T) -> Result<Value, ConvertError> {
    data.serialize(ser::ToValue)
}

/// Returns the canonical text of `data`. Like [`to_value`], followed by [`Value::to_canonical`].
///
/// # Errors
///
/// Like [`to_value`].
pub fn to_canonical<T: Serialize + ?Sized>(data: &T) -> Result<Vec<u8>, ConvertError> {
    to_value(data).map(|value| value.to_canonical())
}

/// Returns the data that a value describes.
///
/// # Errors
///
/// If the value does not have the shape that `T` expects.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, ConvertError> {
    T::deserialize(de::FromValue(value))
}

/// Returns the data that a JSON text describes.
///
/// # Errors
///
/// If the text is not JSON, or does not have the shape that `T` expects.
pub fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T, ConvertError> {
    from_value(crate::parse(text).map_err(ConvertError::from)?)
}

/// Why data could not be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    code: &'static str,
    message: String,
}

impl ConvertError {
    /// Returns the stable code: that of the parser for a text that is not JSON, `E_JSON_SHAPE` otherwise.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConvertError {}

impl From<ParseError> for ConvertError {
    fn from(error: ParseError) -> Self {
        ConvertError { code: error.code(), message: error.to_string() }
    }
}

impl serde::ser::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ConvertError { code: "E_JSON_SHAPE", message: message.to_string() }
    }
}

impl serde::de::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ConvertError { code: "E_JSON_SHAPE", message: message.to_string() }
    }
}
