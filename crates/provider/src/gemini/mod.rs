//! Gemini, `generateContent`.

mod read;
mod write;

pub(crate) use read::{read_content, read_part, read_request};
pub(crate) use write::Gemini;
