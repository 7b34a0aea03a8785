//! Anthropic, Messages.

mod read;
mod write;

pub(crate) use read::{read_message, read_part, read_request};
pub(crate) use write::Anthropic;
