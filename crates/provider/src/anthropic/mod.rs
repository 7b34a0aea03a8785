//! Anthropic, Messages.

mod read;
mod write;

pub(crate) use read::{read_message, read_part, read_request, read_spoken};
pub(crate) use write::Anthropic;
