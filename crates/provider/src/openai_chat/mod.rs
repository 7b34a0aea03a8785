//! OpenAI, Chat Completions.

mod content;
mod read;
mod tools;
mod write;

pub(crate) use read::{read_message, read_part, read_request, set_role};
pub(crate) use write::Chat;
