//! The parser: strict JSON from bytes, without recursion, with exact error positions.
//!
//! - `reader`: the pull parser; `grammar`: its state machine, which produces one token at a time;
//! - `string`, `number`, `scan`: the tokens with inner structure, and the search through strings;
//! - `build`: events to [`Value`](crate::Value)s; `typed`: events to the types a caller asks for;
//! - `limits`, `error`: what is rejected, and the messages.

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
