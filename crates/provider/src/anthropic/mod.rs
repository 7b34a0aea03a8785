//! Anthropic, Messages.

mod blocks;
mod preamble;
mod read;
mod write;

pub use read::read_spoken;
pub(crate) use read::{read_message, read_part, read_request};
pub(crate) use write::Anthropic;

use contextree_json::Value;

use crate::parts::{Part, Role, names};

const ME: crate::Provider = crate::Provider::Anthropic;

/// Returns whether this is mid-conversation system text that was imported from an Anthropic
/// request.
fn is_native_system(part: &Part<'_>) -> bool {
    part.role == Role::System
        && part.view().is_from(ME)
        && part.node.attribute(names::ROLE).is_some()
}

/// Returns whether the field `thread` of a request names a past that the provider keeps: only new messages are sent.
pub(crate) fn continues_thread(thread: Option<&Value>) -> bool {
    let named = thread.and_then(|thread| thread.get("previous_message_id"));
    named.is_some_and(|id| !id.is_null())
}
