//! The engine's sources of time and ids.

use contextree_tree::{Class, Cycle, Vocabulary};

/// The source of creation stamps.
///
/// Stamps never decrease: a stamp is the clock's time or one more than the last stamp, whichever is
/// later.
pub trait Clock: Send + Sync {
    /// Returns nanoseconds since 1970.
    fn now_ns(&self) -> i64;
}

/// The default clock: it always returns 0, so that stamps count 1, 2, 3 … and the same session
/// gives the same bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogicalClock;

impl Clock for LogicalClock {
    fn now_ns(&self) -> i64 {
        0
    }
}

/// The source of ids for nodes whose caller gives none.
///
/// Ids must depend only on the request. If an id is already used, the engine appends `~2`, `~3`, ….
pub trait IdSource: Send + Sync {
    /// Returns an id for a new node.
    fn id(&self, request: IdRequest) -> String;
}

/// The node for which an id is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRequest {
    /// The role of the node.
    pub role: IdRole,
    /// The number of the next commit.
    pub cycle: Cycle,
    /// The node's creation index.
    pub index: u32,
    /// The context's vocabulary.
    pub vocabulary: Vocabulary,
}

/// The role of a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdRole {
    /// The turn that a commit seals.
    Turn,
    /// The core of the head.
    Core,
    /// Any other container.
    Group,
    /// A block.
    Block,
}

impl IdRole {
    pub(crate) fn of(class: Class, is_core: bool) -> Self {
        match class {
            Class::Turn => IdRole::Turn,
            Class::Container if is_core => IdRole::Core,
            Class::Container => IdRole::Group,
            _ => IdRole::Block,
        }
    }
}

/// The default ids: `seg:12`, `cont:12`, `cont:12.4`, `block:12.3`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadableIds;

impl IdSource for ReadableIds {
    fn id(&self, request: IdRequest) -> String {
        let IdRequest { role, cycle, index, vocabulary } = request;
        match role {
            IdRole::Turn => format!("{}:{cycle}", vocabulary.turn()),
            IdRole::Core => format!("{}:{cycle}", vocabulary.container()),
            IdRole::Group => format!("{}:{cycle}.{index}", vocabulary.container()),
            IdRole::Block => format!("{}:{cycle}.{index}", vocabulary.block()),
        }
    }
}
