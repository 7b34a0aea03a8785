//! OpenAI, Responses.

mod content;
mod read;
mod tools;
mod write;

pub(crate) use read::{read_item, read_items, read_part, read_request};
pub(crate) use write::Responses;
