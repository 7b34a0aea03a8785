//! A session as plain data: the steps that the model and the engine are both fed.
//!
//! Nothing here knows the engine. The rules are those of `docs/operations.md`.

use contextree_json::Value;

/// Where a node is placed.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Into a parent (an id, or `^sys`, `^ah`, …) at an offset.
    Into {
        /// The parent's id or region word.
        parent: String,
        /// The offset; for `add` absent means 0, for `move` absent means the node's own.
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
    /// The id, or none to have one made.
    pub id: Option<String>,
    /// The node type, or none for a plain block.
    pub node_type: Option<String>,
    /// Time to live; negative numbers are here to be refused.
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
    /// Content, text or JSON; absent is not the same as null.
    pub content: Option<Value>,
    /// Goes when empty.
    pub removable: bool,
    /// Protected from pruning.
    pub pinned: bool,
    /// Custom attributes.
    pub attributes: Vec<(String, Value)>,
}

/// A limit of a pruning policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// Take blocks until at least this many are gone.
    Remove(u64),
    /// Limit on the whole tree.
    Total(Measure, u64),
    /// Limit on one region: `^sys`, `^seq` or `^ah`.
    Region(String, Measure, u64),
    /// Limit on each turn and on the head.
    Turn(Measure, u64),
    /// Whole turns, oldest first, until at most this many remain.
    Depth(u64),
    /// If the limits before took anything, take more until at least this much is gone.
    ClearAtLeast(Measure, u64),
}

/// What is never pruned.
#[derive(Clone, Debug, PartialEq)]
pub enum Exclude {
    /// Blocks of this kind.
    Kind(String),
    /// The node with this id, and everything below it.
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
    /// The newest K turns are protected.
    pub protect_turns: u64,
    /// Applied in order.
    pub limits: Vec<Limit>,
    /// What they pass over.
    pub exclude: Vec<Exclude>,
}

/// One step of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Add a node.
    Add {
        /// Where.
        place: Place,
        /// What.
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
        /// Headers and attributes to take away.
        unset: Vec<String>,
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
    /// Commit, with a pruning policy or none.
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
    /// The finer reason, such as `second_core`; empty where the code says it all.
    pub reason: String,
}
