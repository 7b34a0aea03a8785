//! OpenAI, Responses.

mod read;
mod write;

pub(crate) use read::{read_item, read_items, read_part, read_request};
pub(crate) use write::Responses;
