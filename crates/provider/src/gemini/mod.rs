//! Gemini, `generateContent`.

mod read;
mod schema;
mod spelling;
mod tools;
mod write;
mod write_part;

pub(crate) use read::{read_content, read_part, read_request};
pub(crate) use spelling::get;
pub(crate) use write::Gemini;

const ME: crate::Provider = crate::Provider::Gemini;
