//! The parser: strict JSON from bytes, without recursion, with the exact place of what is wrong.
//!
//! - `reader`: the pull parser; `grammar`: the machine in it, which gives one token at a time;
//! - `string`, `number`, `scan`: the two tokens that have an inside, and the search through strings;
//! - `build`: events to [`Value`](crate::Value)s; `typed`: events to what a caller asked for;
//! - `limits`, `error`: what is refused, and how it is said.

mod build;
mod error;
mod grammar;
mod limits;
pub(crate) mod number;
mod reader;
mod scan;
mod string;
mod typed;

pub use build::{Scratch, parse, parse_with};
pub use error::{ParseError, ParseErrorKind};
pub use limits::{Limits, MAX_VALUE_DEPTH};
pub use reader::{Event, Reader};
