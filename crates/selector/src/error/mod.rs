//! Errors that teach: what stood there, what was expected, and what was probably meant.
//!
//! One selector gives all its errors at once, in the order of the text. [`SelectorErrors::draw`] is the
//! form for terminals; the public fields of [`SelectorError`] are the form for programs.

mod caret;
mod kind;
mod selector_error;
mod suggest;

pub use caret::draw_caret;
pub use kind::{Code, ErrorKind};
pub use selector_error::{SelectorError, SelectorErrors};
pub use suggest::closest;
