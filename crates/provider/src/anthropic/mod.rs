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

/// Returns whether this is mid-conversation system text that was imported from an Anthropic
/// request.
fn is_native_system(part: &Part<'_>) -> bool {
    part.role == Role::System
        && part.view().is_from(ME)
        && part.node.attribute(names::ROLE).is_some()
}
