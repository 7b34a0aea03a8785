//! Finds the user message that a call serves, so that the calls of a tool loop can be shown together.

use contextree_tree::{Class, NodeRef, Region};

use super::CallStart;
use crate::context::Context;
use crate::place::core_of;
use crate::snapshot::Snapshot;

impl Context {
    /// Completes a start with the user message that the call serves, unless the caller named one.
    ///
    /// That is the newest one of the cycle that is sent; without one, that of the attempt before. Only a context without attempts,
    /// such as a fork, is searched further back.
    pub(super) fn with_served(&self, mut start: CallStart, sent: &Snapshot) -> CallStart {
        if start.serves.is_some() {
            return start;
        }
        let mut turns = sent.view().region(Region::Seq).children_rev();
        let newest = turns.next().and_then(user_message);
        start.serves = match newest {
            Some(message) => Some(message.id().to_owned()),
            None => match self.attempts.last_served() {
                Some(served) => Some(served.to_owned()),
                None => turns.find_map(user_message).map(|message| message.id().to_owned()),
            },
        };
        start
    }
}

/// Returns the first block of the newest user message in the core of a turn.
fn user_message(turn: NodeRef<'_>) -> Option<NodeRef<'_>> {
    newest_user_blocks(turn).last()
}

/// Returns the blocks of the newest user message in the core of a turn, or of the head, from last to
/// first.
pub(crate) fn newest_user_blocks(turn: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    let core = core_of(turn).unwrap_or(turn);
    let is_user = |node: &NodeRef<'_>| {
        node.class() == Class::Block
            && node.role() == Some("user")
            && !matches!(node.kind(), Some("result" | "tool_result"))
    };
    core.children_rev().skip_while(move |node| !is_user(node)).take_while(is_user)
}
