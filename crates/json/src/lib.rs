//! JSON values and their one canonical text.
//!
//! Content hashes are taken over JSON, and the reference is Python's `json.dumps(value,
//! sort_keys=True, separators=(',', ':'), ensure_ascii=True)`. This crate reads JSON into a
//! [`Value`] without losing anything that affects this text, and writes exactly the same bytes.
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
//! repeated key replace the earlier one, and formats doubles and non-ASCII text differently. Each
//! of these would silently change a hash.
//!
//! # What is accepted
//!
//! JSON as in RFC 8259, in UTF-8 without a byte order mark, within [`Limits`]. Rejected, although
//! Python reads them: `NaN` and `Infinity`, doubles out of range (`1e400`), lone surrogates
//! (`"\ud800"`), repeated keys, and raw control characters in strings.
//!
//! # Reading order
//!
//! [`Value`], [`Object`] and [`Number`] are the data; [`mod@write`] turns them into text;
//! [`Reader`] turns text into events, and [`parse`](fn@parse) builds a value from events.
//! [`lines`](fn@lines) splits JSON Lines. With the feature `serde`, `to_value` and
//! `from_value` convert types that derive serde's traits.

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
