//! Anthropic, Messages.

mod blocks;
mod preamble;
mod read;
mod write;

pub use read::read_spoken;
pub(crate) use read::{read_message, read_part, read_request};
pub(crate) use write::Anthropic;

use crate::parts::{Part, Role, names};

const ME: crate::Provider = crate::Provider::Anthropic;

/// True for system text in the middle of a conversation that came from a request of Anthropic's.
fn is_native_system(part: &Part<'_>) -> bool {
    part.role == Role::System
        && part.view().is_from(ME)
        && part.node.attribute(names::ROLE).is_some()
}
