//! Errors: what was found, what was expected, and what was probably meant.
//!
//! A selector reports all its errors at once, in text order. [`SelectorErrors::draw`] is the form
//! for terminals; the public fields of [`SelectorError`] are the form for programs.

mod caret;
mod kind;
mod selector_error;
mod suggest;

pub use caret::draw_caret;
pub use kind::{Code, ErrorKind};
pub use selector_error::{SelectorError, SelectorErrors};
pub use suggest::closest;
