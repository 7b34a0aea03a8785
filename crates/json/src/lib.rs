//! JSON values and their one canonical text.
//!
//! Content hashes are taken over JSON, and the reference is Python's `json.dumps(value,
//! sort_keys=True, separators=(',', ':'), ensure_ascii=True)`. This crate reads JSON into a [`Value`]
//! without losing anything that such a text shows, and writes exactly those bytes.
//!
//! ```
//! let value = contextree_json::parse(br#"{"b": [1, 1.0, 1e16, 12345678901234567890], "a": "\u00E9"}"#)?;
//! assert_eq!(
//!     value.to_canonical(),
//!     br#"{"a":"\u00e9","b":[1,1.0,1e+16,12345678901234567890]}"#
//! );
//!
//! let error = contextree_json::parse(b"{\n  \"a\": [1 2]\n}").unwrap_err();
//! assert_eq!(error.to_string(), "expected `,` or `]` at line 2, column 11");
//! # Ok::<(), contextree_json::ParseError>(())
//! ```
//!
//! # Why by hand
//!
//! The usual crate, serde_json, turns integers beyond `u64` into doubles and `-0` into −0.0, lets a
//! repeated key replace the earlier one, and prints doubles and text beyond ASCII in another way. Each
//! of these would change a hash without a word.
//!
//! # What is accepted
//!
//! JSON as in RFC 8259, in UTF-8 and without a byte order mark, within [`Limits`]. Refused, although
//! Python reads them: `NaN` and `Infinity`, doubles out of range (`1e400`), lone surrogates
//! (`"\ud800"`), repeated keys, and raw control characters in strings.
//!
//! # Reading order
//!
//! [`Value`], [`Object`] and [`Number`] are the data; [`mod@write`] turns them to text; [`Reader`]
//! turns text to events, and [`parse`](fn@parse) builds a value from these. [`lines`](fn@lines) cuts
//! JSON Lines. With the feature `serde`, `to_value` and `from_value` convert types that derive serde's traits.

#![forbid(unsafe_code)]

mod key;
mod lines;
mod number;
mod object;
mod parse;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "serde_json")]
mod serde_json;
mod value;
pub mod write;

#[cfg(feature = "serde")]
pub use crate::serde::{ConvertError, from_slice, from_value, to_canonical, to_value};
pub use lines::lines;
pub use number::Number;
pub use object::{IntoIter, Iter, Object};
pub use parse::{
    Event, Limits, MAX_VALUE_DEPTH, ParseError, ParseErrorKind, Reader, Scratch, parse, parse_with,
};
pub use value::{NotFinite, Value};
