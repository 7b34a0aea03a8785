//! Where a message ends.
//!
//! The blocks of a turn are one list. Where a message ends follows from the roles of its blocks,
//! with two exceptions. The blocks of a user or system message with several blocks carry the number
//! of their message. A message that follows one of the same side is marked as being apart from it.

use contextree_engine::NewNode;
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Role, set};

/// The side that sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Model,
    /// The user, and the tools that the user runs.
    User,
}

impl Side {
    /// Returns the side of a role, or `None` if consecutive messages of this role never merge.
    fn of(provider: Provider, role: Role) -> Option<Side> {
        match (provider, role) {
            (Provider::OpenAiResponses, _) => None,
            (_, Role::Assistant) => Some(Side::Model),
            (Provider::Anthropic | Provider::Gemini, Role::User | Role::Tool) => Some(Side::User),
            _ => None,
        }
    }
}

/// Returns whether two messages in a row would merge.
pub(super) fn merge(provider: Provider, before: Role, role: Role) -> bool {
    let side = Side::of(provider, role);
    side.is_some() && side == Side::of(provider, before)
}

/// Returns whether the blocks of a message need its number.
pub(super) fn needs_number(role: Role, blocks: usize) -> bool {
    matches!(role, Role::User | Role::System) && blocks > 1
}

/// Numbers the blocks of a system message, if there are several.
pub(crate) fn numbered(mut parts: Vec<NewNode>, number: u64) -> Vec<NewNode> {
    if parts.len() > 1 {
        parts.iter_mut().for_each(|part| set(part, names::MESSAGE, number));
    }
    parts
}
