//! Sessions as plain data: the steps that are run on both the model and the engine.
//!
//! Does not depend on the engine. The rules are those of `docs/operations.md`.

use contextree_json::Value;

/// Where a node is placed.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Into a parent (an id, or `^sys`, `^ah`, …) at an offset.
    Into {
        /// The parent's id or region word.
        parent: String,
        /// The offset; if missing, 0 for `add` and the node's own for `move`.
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
        /// The parent's id or region word.
        parent: String,
        /// The position.
        cue: Cue,
    },
}

/// A zone of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// Offset −1.
    Pre,
    /// Offset 0.
    Core,
    /// Offset +1.
    Post,
}

/// A position among children, counted from 1 in canonical order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cue {
    /// Before all children.
    Start,
    /// After all children.
    End,
    /// Directly after child N.
    After(u32),
    /// Directly before child N.
    Before(u32),
}

/// A node to be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSpec {
    /// The id; `None` to have one generated.
    pub id: Option<String>,
    /// The node type; `None` for a plain block.
    pub node_type: Option<String>,
    /// Time to live; negative numbers test the refusal.
    pub ttl: Option<i64>,
    /// Pruning priority.
    pub priority: i64,
    /// Role header.
    pub role: Option<String>,
    /// Kind header.
    pub kind: Option<String>,
    /// Key header.
    pub key: Option<String>,
    /// Tags, in order.
    pub tags: Vec<String>,
    /// Provenance header.
    pub provenance: Option<String>,
    /// Content, text or JSON; missing is not the same as null.
    pub content: Option<Value>,
    /// Whether it is removed when empty.
    pub removable: bool,
    /// Whether it is protected from pruning.
    pub pinned: bool,
    /// Custom attributes.
    pub attributes: Vec<(String, Value)>,
}

/// A limit of a pruning policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// Remove blocks until at least this many are removed.
    Remove(u64),
    /// Limit the whole tree.
    Total(Measure, u64),
    /// Limit one region: `^sys`, `^seq` or `^ah`.
    Region(String, Measure, u64),
    /// Limit each turn and the head.
    Turn(Measure, u64),
    /// Remove whole turns, oldest first, until at most this many remain.
    Depth(u64),
    /// If the limits before removed anything, remove more until at least this much is removed.
    ClearAtLeast(Measure, u64),
}

/// What is never pruned.
#[derive(Clone, Debug, PartialEq)]
pub enum Exclude {
    /// Blocks of this kind.
    Kind(String),
    /// The node with this id, and its descendants.
    Id(String),
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Blocks.
    Nodes,
    /// Bytes of content.
    Bytes,
}

/// A pruning policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The number of newest turns that are protected.
    pub protect_turns: u64,
    /// Whether the newest user message is protected.
    pub protect_user: bool,
    /// The limits, applied in order.
    pub limits: Vec<Limit>,
    /// What the limits skip.
    pub exclude: Vec<Exclude>,
    /// The ids of containers that are removable although they are not marked.
    pub removable: Vec<String>,
    /// The number of newest results that are not cleared; `None` clears nothing.
    pub clear: Option<u64>,
    /// What a limit of the whole leaves free once it is exceeded.
    pub reserve: u64,
}

/// One step of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Add a node.
    Add {
        /// The place.
        place: Place,
        /// The node.
        node: NodeSpec,
    },
    /// Change an active node.
    Edit {
        /// The node.
        node: String,
        /// New content, if it changes.
        content: Option<Value>,
        /// Headers and attributes to set.
        set: Vec<(String, Value)>,
        /// Headers and attributes to unset.
        unset: Vec<String>,
    },
    /// Remove a node and its descendants.
    Remove {
        /// The node.
        node: String,
    },
    /// Move a node and its descendants.
    Move {
        /// The node.
        node: String,
        /// The new place.
        place: Place,
    },
    /// Change a priority on behalf of a policy.
    SetPriority {
        /// The node.
        node: String,
        /// The new value.
        priority: i64,
        /// The policy's name.
        policy: String,
    },
    /// Pin a node.
    Pin {
        /// The node.
        node: String,
    },
    /// Unpin a node.
    Unpin {
        /// The node.
        node: String,
    },
    /// Take a handle on a node.
    Retain {
        /// The node.
        node: String,
    },
    /// Drop the oldest handle on a node, if there is one.
    Release {
        /// The node.
        node: String,
    },
    /// All of these or none (only operations on nodes inside).
    Batch(
        /// The steps.
        Vec<Step>,
    ),
    /// Commit, optionally with a pruning policy.
    Commit {
        /// The policy.
        policy: Option<Policy>,
    },
    /// Begin a call, with a pruning policy or none.
    Begin {
        /// The policy.
        policy: Option<Policy>,
    },
    /// Complete the running call.
    Complete {
        /// The nodes of the answer.
        answer: Vec<NodeSpec>,
    },
    /// Cancel the running call.
    Cancel,
    /// End the running call with an error.
    Fail,
}

/// Why a step was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code, such as `E_SEALED`.
    pub code: String,
    /// The finer reason, such as `second_core`; empty if the code is enough.
    pub reason: String,
}
