//! The writer: one value, one text.
//!
//! The bytes are those of Python's `json.dumps(value, sort_keys=True, separators=(',', ':'),
//! ensure_ascii=True)`. The functions append to a buffer, so typed structures can write their own
//! braces and keys and call these for the rest.

mod float;
mod string;
mod value;

pub use float::float;
pub use string::string;
pub use value::{integer, number, unsigned, value};
