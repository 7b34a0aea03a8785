//! Operations on the working tree, as plain values.

mod add;
mod apply;
mod edit;
mod moving;
mod names;

pub use contextree_canon::PreparedNode;
pub use contextree_tree::NewNode;

use contextree_json::Value;
use contextree_tree::Content;

/// Where a node is placed.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Into a parent (an id, or `^sys`, `^ah`) at an offset.
    Into {
        /// The parent.
        parent: String,
        /// The offset: below 0 pre-context, above 0 post-context of a turn. Absent: 0, or for a move the node's own.
        offset: Option<i64>,
    },
    /// Into a zone of a turn.
    Zone {
        /// The turn's id, or `^ah`.
        turn: String,
        /// The zone.
        zone: Zone,
    },
    /// At a position among the children of a parent.
    Cue {
        /// The parent.
        parent: String,
        /// The position.
        cue: Cue,
    },
}

impl Place {
    /// Into the turn in progress, at its core.
    #[must_use]
    pub fn head() -> Place {
        Place::Into { parent: "^ah".into(), offset: None }
    }

    /// Into the system header.
    #[must_use]
    pub fn system() -> Place {
        Place::Into { parent: "^sys".into(), offset: None }
    }

    /// Into a parent at offset 0.
    #[must_use]
    pub fn into(parent: impl Into<String>) -> Place {
        Place::Into { parent: parent.into(), offset: None }
    }

    /// Into a parent at an offset.
    #[must_use]
    pub fn at(parent: impl Into<String>, offset: i64) -> Place {
        Place::Into { parent: parent.into(), offset: Some(offset) }
    }

    /// Into a zone of a turn or of `^ah`.
    #[must_use]
    pub fn zone(turn: impl Into<String>, zone: Zone) -> Place {
        Place::Zone { turn: turn.into(), zone }
    }

    /// At a position among the children of a parent.
    #[must_use]
    pub fn cue(parent: impl Into<String>, cue: Cue) -> Place {
        Place::Cue { parent: parent.into(), cue }
    }
}

/// A zone of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Pre-context, offset −1.
    Pre,
    /// The core, offset 0.
    Core,
    /// Post-context, offset +1.
    Post,
}

/// A position among children, counted from 1 in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// Before all children.
    Start,
    /// After all children.
    End,
    /// Directly after a child.
    After(u32),
    /// Directly before a child.
    Before(u32),
}

/// A change of a node of the active turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// New content, if it changes.
    pub content: Option<Content>,
    /// `key`, `tags`, `provenance`, `mime`, `encoding` and custom attributes to set.
    pub set: Vec<(String, Value)>,
    /// The same, to take away.
    pub unset: Vec<String>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "most operations are additions")]
pub enum Op {
    /// Add a node.
    Add {
        /// Where.
        place: Place,
        /// What.
        node: NewNode,
    },
    /// Change a node of the active turn.
    Edit {
        /// The node.
        node: String,
        /// How.
        edit: Edit,
    },
    /// Remove a node and everything below it.
    Remove {
        /// The node.
        node: String,
    },
    /// Move a node and everything below it.
    Move {
        /// The node.
        node: String,
        /// Where to.
        place: Place,
    },
    /// Change a priority on behalf of a policy.
    SetPriority {
        /// The node.
        node: String,
        /// The new value.
        priority: i64,
        /// The policy's name; it is reported with the commit.
        policy: String,
    },
    /// Protect a node from pruning.
    Pin {
        /// The node.
        node: String,
    },
    /// Take the protection away.
    Unpin {
        /// The node.
        node: String,
    },
}

impl Op {
    /// Returns the operation's name, as it is reported.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Op::Add { .. } => "add",
            Op::Edit { .. } => "edit",
            Op::Remove { .. } => "remove",
            Op::Move { .. } => "move",
            Op::SetPriority { .. } => "set_priority",
            Op::Pin { .. } => "pin",
            Op::Unpin { .. } => "unpin",
        }
    }
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A node was added.
    Added {
        /// Its id.
        id: String,
        /// The id of the core that had to be created for it.
        core: Option<String>,
    },
    /// A node was moved.
    Moved {
        /// Nodes that were created again under new ids, because they were moved to another region: old and new, in document order.
        renamed: Vec<(String, String)>,
        /// The id of the core that had to be created for it.
        core: Option<String>,
    },
    /// Nodes were removed: their ids, in document order.
    Removed(Vec<String>),
    /// The node was changed.
    Changed,
}
